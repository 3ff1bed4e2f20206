/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <syslog.h>
#include <time.h>

#include "clock.h"
#include "device.h"
#include "health.h"
#include "watched-guard.h"

/* A drive that survives a setting for so long survives it. */
#define HEALTHY_USEC (10ULL * 1000 * 1000)
/* Nobody waits for it: it may come together with another wake-up. */
#define HEALTHY_SLACK_USEC (2ULL * 1000 * 1000)
/* A plug with a bad contact has stopped by then. */
#define STEADY_USEC (10ULL * 1000 * 1000)

/* ---- after a visit ---- */

static int on_healthy(sd_event_source *source, uint64_t usec _unused_, void *userdata) {
        Watched *w = userdata;
        int r;

        if (w->guard_visit)
                return 0;

        r = health_read(w->drive->syspath);
        /* Whether the visit to another path to it does it harm shows when that is over. */
        if (r > 0 && !guarded_clear(w->guarded))
                r = 0;
        if (r == 0) {
                if (sd_event_source_set_time_relative(source, HEALTHY_USEC) >= 0)
                        (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
                return 0;
        }

        if (r < 0)
                guarded_lost(w->guarded);
        w->healthy = sd_event_source_disable_unref(w->healthy);
        return 0;
}

static bool proves_itself(const Watched *w) {
        return w->healthy && sd_event_source_get_enabled(w->healthy, NULL) > 0;
}

static void watch_health(Watched *w) {
        int r;

        if (!guard_record_intends(guarded_record(w->guarded)) && !guard_record_suspects(guarded_record(w->guarded)))
                return;

        w->healthy = sd_event_source_disable_unref(w->healthy);
        r = sd_event_add_time_relative(w->env->event, &w->healthy, CLOCK_MONOTONIC, HEALTHY_USEC, HEALTHY_SLACK_USEC,
                                       on_healthy, w);
        if (r < 0)
                journal_log(LOG_ERR, "The crash guard keeps its note of %s: %s", w->drive->name, strerror(-r));
}

int watched_guard_attach(Watched *w) {
        GuardedDrive *before = w->guarded;
        int r;

        r = guard_attach(w->env->guard, w->drive, &w->guarded);
        if (r < 0)
                return r;

        /* It is known by another name now, and its notes by the old one are nobody's: up to here it has survived. */
        if (before && before != w->guarded)
                (void) guarded_clear(before);
        if (before)
                guarded_detach(before);

        /* udev tells of a drive each time somebody has written to it: its ten seconds do not begin anew. One that was
         * lost a moment ago shows that it is sound after it has been written to once more, not by being there till then. */
        if (!(before == w->guarded && proves_itself(w)) && !guard_record_suspects(guarded_record(w->guarded)))
                watch_health(w);
        return 0;
}

void watched_guard_done(Watched *w) {
        w->healthy = sd_event_source_disable_unref(w->healthy);
        w->steady = sd_event_source_disable_unref(w->steady);
        if (!w->guarded)
                return;

        guarded_forget_call(w->guarded, w);
        guarded_detach(w->guarded);
        w->guarded = NULL;
}

/* ---- before a visit ---- */

static const char *wish_value(const Watched *w, size_t wish, char buf[static VALUE_TEXT_MAX]) {
        const Wish *i = w->selected.items + wish;
        const Setting *s = setting_for_backends(w->env->settings, i->name, drive_backends(w->drive));

        return s ? value_format(&s->range, &i->value, buf) : NULL;
}

static bool is_dangerous(const Watched *w, size_t wish) {
        const Wish *i = w->selected.items + wish;
        const Setting *s = setting_for_backends(w->env->settings, i->name, drive_backends(w->drive));

        return s && setting_is_dangerous(s, &i->value);
}

void watched_guard_remember(Watched *w) {
        for (size_t i = 0; i < w->selected.n_items; i++) {
                char buf[VALUE_TEXT_MAX];
                const char *value = wish_value(w, i, buf), *why = NULL;

                if (value && !w->selected.items[i].withheld)
                        why = guarded_quarantined(w->guarded, w->selected.items[i].name, value);
                (void) snprintf(w->memories[i].quarantined, sizeof w->memories[i].quarantined, "%s", why ?: "");
        }
}

static int on_steady(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Watched *w = userdata;

        (void) drive_record_wait(w->record, (Wait){ WAIT_NOTHING });
        (void) watched_visit(w, w->steady_reason);
        return 0;
}

static bool hesitates(Watched *w, VisitReason reason) {
        /* Whoever asks for it wants it now. */
        if (reason == VISIT_REQUEST || reason == VISIT_PERMANENT)
                return false;
        if (w->steady) {
                /* The visit that waits makes up for all that come up until then. */
                if (visit_reason_forgets(reason))
                        w->steady_reason = reason;
                return sd_event_source_get_enabled(w->steady, NULL) > 0;
        }
        if ((reason != VISIT_ATTACH && reason != VISIT_BOOT) || !guard_record_suspects(guarded_record(w->guarded)))
                return false;

        w->steady_reason = reason;
        if (sd_event_add_time_relative(w->env->event, &w->steady, CLOCK_MONOTONIC, STEADY_USEC, HEALTHY_SLACK_USEC,
                                       on_steady, w) < 0)
                return false;

        journal_waiting(w->drive, (Wait){ WAIT_CONNECTION }, false);
        (void) drive_record_wait(w->record, (Wait){ WAIT_CONNECTION });
        return true;
}

/* Nothing is even asked: a machine that does not survive a command should come up. */
static int record_all(Watched *w, Verdict verdict, const char *reason) {
        for (size_t i = 0; i < w->wishes.n_items; i++) {
                const Wish *wish = w->wishes.items + i;
                Step s = {
                        .wish = wish,
                        .setting = setting_for_backends(w->env->settings, wish->name, drive_backends(w->drive)),
                        .verdict = verdict,
                };
                int r;

                (void) snprintf(s.reason, sizeof s.reason, "%s", reason);
                r = drive_record_step(w->record, &s, now_usec());
                if (r < 0)
                        return r;
        }

        return 0;
}

bool watched_guard_holds(Watched *w, VisitReason reason) {
        bool forbidden = w->env->forbidden_by;
        char why[STEP_REASON_MAX];

        if (forbidden)
                (void) snprintf(why, sizeof why, "nothing is written in this boot: the kernel's command line says %s",
                                w->env->forbidden_by);
        else if (guarded_alone(w->guarded))
                (void) snprintf(why, sizeof why, "%s",
                                GUARD_ALONE_WHY ", so it is left alone; 'drivekeep release' has it visited again");
        else if (!hesitates(w, reason))
                return false;

        if (forbidden || guarded_alone(w->guarded)) {
                int r;

                drive_record_drop_unwanted(w->record, &w->wishes);
                r = record_all(w, forbidden ? VERDICT_FORBIDDEN : VERDICT_QUARANTINED, why);
                if (r < 0)
                        journal_log(LOG_ERR, "No record of %s: %s", w->drive->name, strerror(-r));
        }

        watched_save(w);
        return true;
}

void watched_guard_begins(Watched *w) {
        w->guard_visit = true;
        guarded_visit(w->guarded, true);
}

void watched_guard_ended(Watched *w) {
        if (!w->guard_visit)
                return;

        w->guard_visit = false;
        guarded_underway(w->guarded, NULL, NULL);
        guarded_forget_call(w->guarded, w);
        guarded_visit(w->guarded, false);
        watch_health(w);
}

/* ---- within a visit ---- */

static void on_guarded(void *userdata, int error) {
        Watched *w = userdata;

        if (w->visitor)
                visitor_intended(w->visitor, error);
}

void watched_guard_intends(void *userdata, const WorkerMessage *m) {
        _cleanup_free_ char(*values)[VALUE_TEXT_MAX] = NULL;
        _cleanup_free_ Intent *intents = NULL;
        Watched *w = userdata;
        size_t n = 0;
        int r;

        /* Its worker has not heard of it yet. What would be noted now nobody would take back. */
        if (w->gone) {
                visitor_intended(w->visitor, -ENODEV);
                return;
        }

        values = calloc(w->selected.n_items, sizeof *values);
        intents = calloc(w->selected.n_items, sizeof *intents);
        if (!values || !intents) {
                visitor_intended(w->visitor, -ENOMEM);
                return;
        }

        for (size_t i = 0; i < w->selected.n_items && i < RECORD_MAX_SETTINGS; i++) {
                const char *value = worker_message_has(m, i) && is_dangerous(w, i) ? wish_value(w, i, values[n]) : NULL;

                if (value)
                        intents[n++] = (Intent){ .setting = w->selected.items[i].name, .value = value };
        }

        r = guarded_intend(w->guarded, w->drive->diskseq, intents, n, on_guarded, w);
        if (r < 0)
                visitor_intended(w->visitor, r);
}

void watched_guard_writing(void *userdata, size_t wish) {
        Watched *w = userdata;
        char buf[VALUE_TEXT_MAX];
        const char *value = wish == WORKER_READS ? NULL : wish_value(w, wish, buf);

        /* What is under way now may be another visit's, as the drive may be back. */
        if (w->gone)
                return;
        guarded_underway(w->guarded, value ? w->selected.items[wish].name : NULL, value);
}

/* ---- the end ---- */

unsigned watched_release(Watched *w, const char *setting) {
        unsigned n = guarded_release(w->guarded, setting);

        if (n > 0)
                (void) watched_visit(w, VISIT_REQUEST);
        return n;
}

static Watched *other_path(Watched *w) {
        Watched *other = NULL;

        while ((other = w->env->next(w->env->userdata, other)))
                if (other != w && other->guarded == w->guarded)
                        return other;
        return NULL;
}

void watched_guard_lost(Watched *w) {
        Watched *other;

        if (w->gone)
                return;
        other = other_path(w);
        /* No harm that was done to it: its next visit, which is to come, shows whether it is well. */
        if (drive_medium_changed(w->drive))
                guarded_underway(w->guarded, NULL, NULL);
        else if (!other)
                guarded_lost(w->guarded);
        else if (!proves_itself(other))
                watch_health(other); /* the drive is still there, and its ten seconds are that path's now */
}

void watched_guard_leaves(Watched *w) {
        watched_guard_lost(w);
        if (w->guard_visit)
                guarded_visit(w->guarded, false);
        w->guard_visit = false;
        /* Its worker may be stuck for ever, and the drive may be back before. */
        watched_guard_done(w);
}

void watched_guard_rest(Watched *w) {
        /* A worker that is stuck may be stuck in just what the guard is there for: its note stays. */
        if (!w->guard_visit)
                (void) guarded_clear(w->guarded);
}
