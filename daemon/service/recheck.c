/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "kernel-view.h"
#include "recheck.h"
#include "target-power.h"
#include "target-trigger.h"
#include "timer.h"

/* Interval at which drives with deferred settings are polled. The timer's accuracy is coarse, so that its expiry coincides with other
 * wake-ups of the system. */
#define ACTIVE_POLL_USEC (30ULL * 1000 * 1000)
/* Shortest interval at which drives with deferred settings are polled. A drive that runtime PM has resumed must be
 * polled twice before its autosuspend delay ends and the kernel suspends it again. */
#define RESUMED_USEC (1ULL * 1000 * 1000)
/* A recheck sends commands to a drive only if there is I/O during this time. The commands then hardly postpone the
 * drive's standby. */
#define SAMPLE_USEC (10ULL * 1000 * 1000)

struct Recheck {
        sd_event *event; /* borrowed */
        Manager *manager;
        sd_event_source *active_poll, *recheck, *sample;
        uint64_t active_poll_usec; /* the interval that `active_poll` was started with */
        uint64_t recheck_usec;
        bool kernel_logs; /* the service reads the kernel log (link-watch.h) */
};

static void recheck_start(Recheck *p, sd_event_source **timer, uint64_t usec, uint64_t accuracy_usec,
                          sd_event_time_handler_t handler) {
        int r = timer_start(p->event, timer, usec, accuracy_usec, handler, p);

        if (r < 0)
                journal_log(LOG_WARNING,
                            "Failed to start a timer: %s; until the next visit, drift is not detected and deferred settings are not written.",
                            strerror(-r));
}

/* ---- drives with deferred settings ---- */

static int on_active_poll(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Recheck *p = userdata;

        for (Target *t = manager_first(p->manager); t; t = t->next) {
                if (!target_has_deferred(t))
                        continue;
                if (target_poll_active(t))
                        target_visit(t, VISIT_WAKE);
                recheck_visit_finished(p, t);
        }
        return 0;
}

/* Returns UINT64_MAX if the drive need not be polled: the kernel logs the resume (target_poll_runtime()). */
static uint64_t active_poll_interval(const Recheck *p, const Target *t) {
        if (!target_was_suspended(t))
                return ACTIVE_POLL_USEC;
        if (p->kernel_logs && activity_is_suspended(t->drive->syspath) &&
            activity_is_stopped_by_suspend(t->drive->syspath))
                return UINT64_MAX;
        return MIN(MAX(activity_autosuspend_usec(t->drive->syspath) / 2, RESUMED_USEC), ACTIVE_POLL_USEC);
}

void recheck_visit_finished(Recheck *p, const Target *t) {
        uint64_t usec = active_poll_interval(p, t);

        if (!target_has_deferred(t) || usec == UINT64_MAX ||
            (timer_runs(p->active_poll) && usec >= p->active_poll_usec))
                return;
        p->active_poll_usec = usec;
        recheck_start(p, &p->active_poll, usec, usec / 2, on_active_poll);
}

/* ---- rechecks ---- */

static int on_sample(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Recheck *p = userdata;

        /* Does not poll drives with deferred settings: on_active_poll() must see all I/O of these drives. */
        for (Target *t = manager_first(p->manager); t; t = t->next)
                target_recheck(t, !target_has_deferred(t) && target_poll_active(t));
        return 0;
}

static int on_recheck(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Recheck *p = userdata;

        for (Target *t = manager_first(p->manager); t; t = t->next)
                if (!t->visit.job && !target_has_deferred(t))
                        (void) target_poll_active(t);

        recheck_start(p, &p->sample, SAMPLE_USEC, SAMPLE_USEC / 10, on_sample);
        recheck_start(p, &p->recheck, p->recheck_usec, p->recheck_usec / 10, on_recheck);
        return 0;
}

void recheck_every(Recheck *p, uint64_t usec) {
        if (usec == p->recheck_usec)
                return;

        p->recheck_usec = usec;
        p->recheck = sd_event_source_disable_unref(p->recheck);
        p->sample = sd_event_source_disable_unref(p->sample);
        if (usec > 0)
                recheck_start(p, &p->recheck, usec, usec / 10, on_recheck);
}

int recheck_new(sd_event *event, Manager *m, bool kernel_logs, Recheck **ret) {
        Recheck *p;

        p = calloc(1, sizeof *p);
        if (!p)
                return -ENOMEM;

        *p = (Recheck){ .event = event, .manager = m, .kernel_logs = kernel_logs };
        *ret = p;
        return 0;
}

Recheck *recheck_free(Recheck *p) {
        if (!p)
                return NULL;

        sd_event_source_disable_unref(p->active_poll);
        sd_event_source_disable_unref(p->recheck);
        sd_event_source_disable_unref(p->sample);
        free(p);
        return NULL;
}
