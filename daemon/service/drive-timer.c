/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>
#include <time.h>

#include "drive-timer.h"
#include "journal.h"

struct DriveTimer {
        sd_event_source *source;
        uint64_t due; /* UINT64_MAX: the timer does not run */
        DriveTimerFn fn;
        void *userdata;
};

static int on_time(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        DriveTimer *t = userdata;

        t->due = UINT64_MAX;
        drive_timer_wake(t, t->fn(t->userdata));
        return 0;
}

int drive_timer_new(sd_event *event, DriveTimerFn fn, void *userdata, DriveTimer **ret) {
        DriveTimer *t;
        int r;

        t = malloc(sizeof *t);
        if (!t)
                return -ENOMEM;

        *t = (DriveTimer){ .due = UINT64_MAX, .fn = fn, .userdata = userdata };
        r = sd_event_add_time(event, &t->source, CLOCK_MONOTONIC, 0, 0, on_time, t);
        if (r >= 0)
                r = sd_event_source_set_enabled(t->source, SD_EVENT_OFF);
        if (r < 0) {
                (void) drive_timer_free(t);
                return r;
        }

        *ret = t;
        return 0;
}

DriveTimer *drive_timer_free(DriveTimer *t) {
        if (!t)
                return NULL;

        sd_event_source_disable_unref(t->source);
        free(t);
        return NULL;
}

void drive_timer_wake(DriveTimer *t, uint64_t due) {
        int r;

        if (due >= t->due)
                return;

        t->due = due;
        r = sd_event_source_set_time(t->source, due);
        if (r >= 0)
                r = sd_event_source_set_enabled(t->source, SD_EVENT_ONESHOT);
        if (r < 0)
                journal_log(LOG_ERR, "No timer: what is put off waits for the next event: %s", strerror(-r));
}
