/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>
#include <time.h>

#include "clock.h"
#include "state.h"
#include "watched.h"

/* Whoever has filled /run up is at it for a while. */
#define UNSAVED_USEC (60ULL * 1000 * 1000)

static int on_unsaved(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        watched_save(userdata);
        return 0;
}

void watched_save(Watched *w) {
        int r;

        if (w->gone)
                return;

        w->record->state = w->record->waiting_kind != WAIT_NOTHING ? DRIVE_WAITING
                           : !w->visitor                           ? DRIVE_IDLE
                           : visitor_has_worker(w->visitor)        ? DRIVE_VISITING
                                                                   : DRIVE_QUEUED;

        w->record->slept = slept_usec();
        w->saved = true;
        r = state_write(w->env->state_dir, w->record);
        if (r < 0 && !w->unsaved)
                journal_log(LOG_WARNING,
                            "%s is looked after, but 'drivekeep status' does not know of it until %s can be written: %s",
                            w->drive->name, w->env->state_dir, strerror(-r));

        w->unsaved = sd_event_source_disable_unref(w->unsaved);
        if (r < 0)
                (void) sd_event_add_time_relative(w->env->event, &w->unsaved, CLOCK_MONOTONIC, UNSAVED_USEC, 0,
                                                  on_unsaved, w);
}
