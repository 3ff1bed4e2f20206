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
/* A plug with a bad contact has stopped by then. */
#define STEADY_USEC (10ULL * 1000 * 1000)

/* ---- after a visit ---- */

static void watched_expect_health(Watched *w) {
        w->guard.healthy_at = monotonic_usec() + HEALTHY_USEC;
        w->env->wake(w->env->userdata, w);
}

void watched_guard_look(Watched *w) {
        int r;

        /* The end of the visit sets another time. */
        w->guard.healthy_at = 0;
        if (w->guard.visiting)
                return;

        r = health_read(w->drive->syspath);
        if (r < 0)
                guarded_lost(w->guard.drive);
        /* Whether the visit to another path to it does it harm shows when that is over. */
        else if (r == 0 || !guarded_clear(w->guard.drive))
                watched_expect_health(w);
}

static void watch_health(Watched *w) {
        const GuardRecord *record = guarded_record(w->guard.drive);

        if (guard_record_intends(record) || guard_record_suspects(record))
                watched_expect_health(w);
}

int watched_guard_attach(Watched *w) {
        GuardedDrive *before = w->guard.drive;
        int r;

        r = guard_attach(w->env->guard, w->drive, &w->guard.drive);
        if (r < 0)
                return r;

        /* It is known by another name now, and its notes by the old one are nobody's: up to here it has survived. */
        if (before && before != w->guard.drive)
                (void) guarded_clear(before);
        if (before)
                guarded_detach(before);

        /* udev tells of a drive each time somebody has written to it: its ten seconds do not begin anew. One that was
         * lost a moment ago shows that it is sound after it has been written to once more, not by being there till then. */
        if (!(before == w->guard.drive && w->guard.healthy_at > 0) &&
            !guard_record_suspects(guarded_record(w->guard.drive)))
                watch_health(w);
        return 0;
}

void watched_guard_done(Watched *w) {
        w->guard.healthy_at = w->guard.steady_until = 0;
        if (!w->guard.drive)
                return;

        guarded_forget_call(w->guard.drive, w);
        guarded_detach(w->guard.drive);
        w->guard.drive = NULL;
}

/* ---- before a visit ---- */

static const char *wish_value(const Watched *w, size_t wish, char buf[static VALUE_TEXT_MAX]) {
        const Wish *i = w->visit.selected.items + wish;
        const Setting *s = setting_for_backends(w->env->settings, i->name, drive_backends(w->drive));

        return s ? value_format(&s->range, &i->value, buf) : NULL;
}

static bool is_dangerous(const Watched *w, size_t wish) {
        const Wish *i = w->visit.selected.items + wish;
        const Setting *s = setting_for_backends(w->env->settings, i->name, drive_backends(w->drive));

        return s && setting_is_dangerous(s, &i->value);
}

void watched_guard_remember(Watched *w) {
        for (size_t i = 0; i < w->visit.selected.n_items; i++) {
                char buf[VALUE_TEXT_MAX];
                const char *value = wish_value(w, i, buf), *why = NULL;

                if (value && !w->visit.selected.items[i].withheld)
                        why = guarded_quarantined(w->guard.drive, w->visit.selected.items[i].name, value);
                (void) snprintf(w->visit.memories[i].quarantined, sizeof w->visit.memories[i].quarantined, "%s",
                                why ?: "");
        }
}

void watched_guard_hesitates(Watched *w) {
        bool attached = pending_has(&w->pending, VISIT_ATTACH) || pending_has(&w->pending, VISIT_BOOT);

        if (!attached || w->guard.steady_until > 0 || !guard_record_suspects(guarded_record(w->guard.drive)))
                return;

        w->guard.steady_until = monotonic_usec() + STEADY_USEC;
        if (pending_is_request(&w->pending))
                return;
        journal_waiting(w->drive, (Wait){ WAIT_CONNECTION }, false);
        (void) drive_record_wait(w->record, (Wait){ WAIT_CONNECTION });
        watched_save(w);
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

bool watched_guard_holds(Watched *w) {
        bool forbidden = w->env->forbidden_by;
        char why[STEP_REASON_MAX];
        int r;

        if (forbidden)
                (void) snprintf(why, sizeof why, "nothing is written in this boot: the kernel's command line says %s",
                                w->env->forbidden_by);
        else if (guarded_alone(w->guard.drive))
                (void) snprintf(why, sizeof why, "%s",
                                GUARD_ALONE_WHY ", so it is left alone; 'drivekeep release' has it visited again");
        else
                return false;

        drive_record_drop_unwanted(w->record, &w->wishes);
        r = record_all(w, forbidden ? VERDICT_FORBIDDEN : VERDICT_QUARANTINED, why);
        if (r < 0)
                journal_log(LOG_ERR, "No record of %s: %s", w->drive->name, strerror(-r));
        watched_save(w);
        return true;
}

void watched_guard_begins(Watched *w) {
        w->guard.visiting = true;
        guarded_visit(w->guard.drive, true);
}

void watched_guard_ended(Watched *w) {
        if (!w->guard.visiting)
                return;

        w->guard.visiting = false;
        guarded_underway(w->guard.drive, NULL, NULL);
        guarded_forget_call(w->guard.drive, w);
        guarded_visit(w->guard.drive, false);
        watch_health(w);
}

/* ---- within a visit ---- */

static void on_guarded(void *userdata, int error) {
        Watched *w = userdata;

        if (w->visit.visitor)
                visitor_intended(w->visit.visitor, error);
}

void watched_guard_intends(void *userdata, const WorkerMessage *m) {
        _cleanup_free_ char(*values)[VALUE_TEXT_MAX] = NULL;
        _cleanup_free_ Intent *intents = NULL;
        Watched *w = userdata;
        size_t n = 0;
        int r;

        /* Its worker has not heard of it yet. What would be noted now nobody would take back. */
        if (w->gone) {
                visitor_intended(w->visit.visitor, -ENODEV);
                return;
        }

        values = calloc(w->visit.selected.n_items, sizeof *values);
        intents = calloc(w->visit.selected.n_items, sizeof *intents);
        if (!values || !intents) {
                visitor_intended(w->visit.visitor, -ENOMEM);
                return;
        }

        for (size_t i = 0; i < w->visit.selected.n_items && i < RECORD_MAX_SETTINGS; i++) {
                const char *value = worker_message_has(m, i) && is_dangerous(w, i) ? wish_value(w, i, values[n]) : NULL;

                if (value)
                        intents[n++] = (Intent){ .setting = w->visit.selected.items[i].name, .value = value };
        }

        r = guarded_intend(w->guard.drive, w->drive->diskseq, intents, n, on_guarded, w);
        if (r < 0)
                visitor_intended(w->visit.visitor, r);
}

void watched_guard_writing(void *userdata, size_t wish) {
        Watched *w = userdata;
        char buf[VALUE_TEXT_MAX];
        const char *value = wish == WORKER_READS ? NULL : wish_value(w, wish, buf);

        /* What is under way now may be another visit's, as the drive may be back. */
        if (w->gone)
                return;
        guarded_underway(w->guard.drive, value ? w->visit.selected.items[wish].name : NULL, value);
}

/* ---- the end ---- */

unsigned watched_release(Watched *w, const char *setting) {
        unsigned n = guarded_release(w->guard.drive, setting);

        if (n > 0)
                watched_visit(w, VISIT_REQUEST);
        return n;
}

static Watched *other_path(Watched *w) {
        Watched *other = NULL;

        while ((other = w->env->next(w->env->userdata, other)))
                if (other != w && other->guard.drive == w->guard.drive)
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
                guarded_underway(w->guard.drive, NULL, NULL);
        else if (!other)
                guarded_lost(w->guard.drive);
        else if (other->guard.healthy_at == 0)
                watch_health(other); /* the drive is still there, and its ten seconds are that path's now */
}

void watched_guard_leaves(Watched *w) {
        watched_guard_lost(w);
        if (w->guard.visiting)
                guarded_visit(w->guard.drive, false);
        w->guard.visiting = false;
        /* Its worker may be stuck for ever, and the drive may be back before. */
        watched_guard_done(w);
}

void watched_guard_rest(Watched *w) {
        /* A worker that is stuck may be stuck in just what the guard is there for: its note stays. */
        if (!w->guard.visiting)
                (void) guarded_clear(w->guard.drive);
}
