/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <syslog.h>
#include <time.h>

#include "device.h"
#include "state.h"
#include "watched.h"

static const VisitorEvents visitor_events;

static uint64_t now_usec(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_REALTIME, &ts);
        return (uint64_t) ts.tv_sec * 1000000 + (uint64_t) ts.tv_nsec / 1000;
}

/* ---- the record ---- */

static void watched_save(Watched *w) {
        int r;

        if (w->gone)
                return;

        w->record->state = !w->visitor              ? DRIVE_IDLE
                           : w->ready               ? DRIVE_QUEUED
                           : w->record->waiting_for ? DRIVE_WAITING
                                                    : DRIVE_VISITING;

        r = state_write(w->env->state_dir, w->record);
        if (r < 0)
                journal_log(LOG_WARNING, "The state file of %s cannot be written, ignoring: %s", w->drive->name,
                            strerror(-r));
}

int watched_new(const WatchedEnv *env, Drive *drive, Watched **ret) {
        _cleanup_(drive_record_freep) DriveRecord *record = NULL;
        Watched *w;
        int r;

        if (state_read(env->state_dir, drive->name, &record) < 0 ||
            !drive_record_continues(record, drive, env->boot_id)) {
                (void) drive_record_free(TAKE_PTR(record));
                record = calloc(1, sizeof *record);
                if (!record)
                        return -ENOMEM;
        }

        r = drive_record_set_identity(record, drive, env->boot_id);
        if (r < 0)
                return r;

        w = calloc(1, sizeof *w);
        if (!w)
                return -ENOMEM;

        *w = (Watched){ .env = env, .drive = drive, .files = files_ref(env->files), .record = TAKE_PTR(record) };
        r = config_resolve(env->files->config, drive, env->on_battery, &w->wishes);
        if (r < 0) {
                w->drive = NULL;
                (void) watched_free(w);
                return r;
        }

        *ret = w;
        return 0;
}

Watched *watched_free(Watched *w) {
        if (!w)
                return NULL;

        (void) visitor_free(w->visitor);
        free(w->memories);
        free(w->told_waiting);
        wishes_done(&w->wishes);
        (void) files_unref(w->files);
        (void) drive_record_free(w->record);
        (void) drive_free(w->drive);
        (void) drive_free(w->successor);
        free(w);
        return NULL;
}

/* ---- the visit ---- */

/* Ends a visit that has no worker yet. */
static void watched_withdraw(Watched *w) {
        w->visitor = visitor_free(w->visitor);
        w->ready = false;
        (void) string_replace(&w->record->waiting_for, NULL);
}

/* Sleep took what was thought to be known, and a reason that came later does not give it back. */
static void watched_again(Watched *w, VisitReason reason) {
        if (!w->again || w->again_reason != VISIT_RESUME)
                w->again_reason = reason;
        w->again = true;
}

/* A rule for an array or a volume is a rule for every drive below: that should surprise nobody. */
static void tell_stacked(const Watched *w) {
        for (size_t i = 0; i < w->wishes.n_items; i++)
                if (w->wishes.items[i].via_stacked)
                        journal_log(LOG_NOTICE, "%s:%u names %s, which lies on %s: %s is for that drive too.",
                                    w->wishes.items[i].file, w->wishes.items[i].line, w->wishes.items[i].via_stacked,
                                    w->drive->name, w->wishes.items[i].name);
}

int watched_visit(Watched *w, VisitReason reason) {
        uint64_t patience = w->files->config->fsck_wait_ms * 1000;
        int r;

        if (w->visitor && visitor_has_worker(w->visitor)) {
                watched_again(w, reason);
                return 0;
        }
        if (w->visitor) {
                /* It has not begun: it does as well, unless the drive has lost what it was thought to have. */
                if (reason != VISIT_RESUME)
                        return 0;
                watched_withdraw(w);
        }

        w->again = false;
        w->reason = reason;
        w->summary = (VisitSummary){};
        drive_record_drop_unwanted(w->record, &w->wishes);

        if (reason == VISIT_RESUME)
                for (size_t i = 0; i < w->record->n_settings; i++)
                        w->record->settings[i].sent = w->record->settings[i].settled = false;

        if (w->wishes.n_items == 0) {
                watched_save(w);
                return 0;
        }

        r = string_replace(&w->record->visit_reason, visit_reason_to_string(reason));
        if (r < 0)
                return r;

        tell_stacked(w);
        free(TAKE_PTR(w->memories));
        r = drive_record_memories(w->record, &w->wishes, &w->memories);
        if (r < 0)
                return r;

        /* What has been reported as deferred waits for its check as long as that takes. */
        return visitor_new(w->env->event, w->env->gate, w->drive, &w->wishes, w->memories, w->env->settings,
                           reason == VISIT_RETRY ? UINT64_MAX : patience, &visitor_events, w, &w->visitor);
}

int watched_work(Watched *w) {
        int r;

        r = visitor_work(w->visitor);
        if (r < 0)
                return r;
        w->ready = false;

        watched_save(w);
        return 0;
}

static void on_waiting(void *userdata, const char *unit, bool deferred) {
        Watched *w = userdata;
        bool told = unit && streq_ptr(w->told_waiting, unit);

        (void) string_replace(&w->record->waiting_for, unit);
        /* A moment's wait for udev at every hotplug is no news, nor is the same wait after a visit began anew. */
        if (unit && (deferred || (!told && strncmp(unit, "systemd-fsck", 12) == 0 && w->reason != VISIT_RETRY))) {
                journal_waiting(w->drive, unit, deferred);
                (void) string_replace(&w->told_waiting, unit);
        }
        if (deferred)
                w->reason = VISIT_RETRY;
        watched_save(w);
}

static void on_ready(void *userdata) {
        Watched *w = userdata;

        (void) string_replace(&w->record->waiting_for, NULL);
        w->summary = (VisitSummary){};
        w->ready = true;
        w->env->wants_worker(w->env->userdata, w);
}

static void on_step(void *userdata, const Step *s) {
        Watched *w = userdata;

        w->summary.n_settings++;
        w->summary.n_written += s->written;
        w->summary.n_verdicts[s->verdict]++;

        journal_step(w->drive, w->reason, s);
        if (drive_record_step(w->record, s, now_usec()) < 0)
                journal_log(LOG_ERR, "Out of memory for the record of %s", w->drive->name);

        /* Told while it still waits at the gate: the whole visit is deferred, and nobody should wait for its end. */
        if (s->verdict == VERDICT_DEFERRED && w->record->waiting_for && w->summary.n_settings == w->wishes.n_items) {
                watched_save(w);
                w->env->rested(w->env->userdata, w);
        }
}

static void on_silent(void *userdata, unsigned seconds) {
        Watched *w = userdata;

        if (!w->gone)
                journal_worker(w->drive,
                               "no answer for %u s; the kernel goes on trying, and other drives do not wait for it.",
                               seconds);
        w->env->rested(w->env->userdata, w);
}

/* What came up while the visit was under way. */
static void watched_next(Watched *w, bool deferred) {
        if (w->stale)
                (void) watched_reconfigure(w, w->stale_reason);
        else if (w->successor)
                (void) watched_update(w, TAKE_PTR(w->successor));
        if (w->visitor)
                return;

        if (w->again)
                (void) watched_visit(w, w->again_reason);
        else if (deferred)
                (void) watched_visit(w, VISIT_RETRY);
}

static void on_ended(void *userdata, bool deferred, const char *lost) {
        Watched *w = userdata;

        if (lost)
                journal_worker(w->drive, "the worker process %s.", lost);
        journal_visit(w->drive, w->reason, &w->summary);

        w->visitor = visitor_free(w->visitor);
        (void) string_replace(&w->record->waiting_for, NULL);
        (void) string_replace(&w->told_waiting, NULL);
        watched_save(w);

        if (!w->gone)
                watched_next(w, deferred);
        w->env->rested(w->env->userdata, w);
}

static const VisitorEvents visitor_events = {
        .waiting = on_waiting,
        .ready = on_ready,
        .step = on_step,
        .silent = on_silent,
        .ended = on_ended,
};

/* ---- what is wanted changes ---- */

/* Returns 1 when the wishes are others now. */
static int watched_resolve(Watched *w) {
        Wishes wishes = {};
        bool same;
        int r;

        r = config_resolve(w->env->files->config, w->drive, w->env->on_battery, &wishes);
        if (r < 0)
                return r;

        same = wishes_equal(&w->wishes, &wishes);
        wishes_done(&w->wishes);
        w->wishes = wishes;
        (void) files_unref(w->files);
        w->files = files_ref(w->env->files);
        return !same;
}

static int watched_adopt(Watched *w, Drive *drive) {
        (void) drive_free(w->drive);
        w->drive = drive;
        return drive_record_set_identity(w->record, drive, w->env->boot_id);
}

int watched_update(Watched *w, Drive *drive) {
        bool interrupted = w->visitor;
        VisitReason reason = interrupted ? w->reason : VISIT_CHANGE;
        int r;

        if (w->visitor && visitor_has_worker(w->visitor)) {
                (void) drive_free(w->successor);
                w->successor = drive;
                return 0;
        }

        /* A visit that has not begun yet begins anew: the links of partitions, which it waited for, may say that this drive
         * is to be left alone. */
        if (w->visitor)
                watched_withdraw(w);

        r = watched_adopt(w, drive);
        if (r >= 0)
                r = watched_resolve(w);
        return r > 0 || (r == 0 && interrupted) ? watched_visit(w, reason) : r;
}

/* A key that was taken out leaves the drive as it is, which may not be what is expected: it is said, once. */
static void tell_released(const Watched *w) {
        for (size_t i = 0; i < w->record->n_settings; i++) {
                const SettingRecord *s = w->record->settings + i;

                if (!wishes_find(&w->wishes, s->name))
                        journal_log(LOG_NOTICE,
                                    "%s: nothing asks for %s any more; the drive keeps %s until it loses it.",
                                    w->drive->name, s->name, s->actual ?: strna(s->wanted));
        }
}

int watched_reconfigure(Watched *w, VisitReason reason) {
        bool interrupted = w->visitor;
        int r;

        if (w->visitor && visitor_has_worker(w->visitor)) {
                w->stale = true;
                w->stale_reason = reason;
                return 0;
        }

        w->stale = false;
        if (w->visitor)
                watched_withdraw(w);
        if (w->successor) {
                r = watched_adopt(w, TAKE_PTR(w->successor));
                if (r < 0)
                        return r;
        }

        r = watched_resolve(w);
        if (r < 0)
                return r;
        if (r == 0 && !interrupted)
                return 0;

        tell_released(w);
        return watched_visit(w, reason);
}

bool watched_leave(Watched *w) {
        w->gone = true;
        if (!w->visitor || !visitor_has_worker(w->visitor))
                return false;

        visitor_vanish(w->visitor);
        return true;
}
