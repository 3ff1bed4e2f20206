/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <stdio.h>
#include <syslog.h>
#include <time.h>

#include "clock.h"
#include "device.h"
#include "kernel-view.h"
#include "target-guard.h"

/* A drive that survives a setting for so long survives it. */
#define HEALTHY_USEC (10ULL * 1000 * 1000)
/* A plug with a bad contact has stopped by then. */
#define STEADY_USEC (10ULL * 1000 * 1000)

/* ---- after a visit ---- */

static void target_expect_health(Target *t) {
        t->guard.healthy_at = monotonic_usec() + HEALTHY_USEC;
        t->env->changed(t->env->userdata, t);
}

void target_guard_look(Target *t) {
        int r;

        /* The end of the visit sets another time. */
        t->guard.healthy_at = 0;
        if (t->guard.visiting)
                return;

        r = health_read(t->drive->syspath);
        if (r < 0)
                guarded_lost(t->guard.drive);
        /* Whether the visit to another path to it does it harm shows when that is over. */
        else if (r == 0 || !guarded_clear(t->guard.drive))
                target_expect_health(t);
}

static void watch_health(Target *t) {
        const GuardRecord *record = guarded_record(t->guard.drive);

        if (guard_record_intends(record) || guard_record_suspects(record))
                target_expect_health(t);
}

int target_guard_attach(Target *t) {
        GuardedDrive *before = t->guard.drive;
        bool known = false;
        int r;

        assert(!t->guard.visiting);

        r = guard_attach(t->env->guard, t->drive, t, &t->guard.drive);
        if (r < 0)
                return r;

        if (before) {
                known = guarded_record(before) == guarded_record(t->guard.drive);
                /* The drive has another name now, and the notes by the old one are nobody's: up to here it has survived. */
                if (!known)
                        (void) guarded_clear(before);
                guarded_detach(before);
        }

        /* udev tells of a drive each time somebody has written to it: its ten seconds do not begin anew. One that was
         * lost a moment ago shows that it is sound after it has been written to once more, not by being there till then. */
        if (!(known && t->guard.healthy_at > 0) && !guard_record_suspects(guarded_record(t->guard.drive)))
                watch_health(t);
        return 0;
}

void target_guard_done(Target *t) {
        t->guard.healthy_at = t->guard.steady_until = 0;
        if (!t->guard.drive)
                return;

        guarded_detach(t->guard.drive);
        t->guard.drive = NULL;
}

/* ---- before a visit ---- */

static const Setting *wish_setting(const Target *t, const Wish *wish) {
        return setting_for_backends(t->env->settings, wish->name, drive_backends(t->drive));
}

static const char *wish_value(const Target *t, const Wish *wish, char buf[static VALUE_TEXT_MAX]) {
        const Setting *s = wish_setting(t, wish);

        return s ? value_format(&s->range, &wish->value, buf) : NULL;
}

void target_guard_remember(Target *t) {
        for (size_t i = 0; i < t->visit.selected.n_items; i++) {
                const Wish *wish = t->visit.selected.items + i;
                Memory *memory = t->visit.memories + i;
                char buf[VALUE_TEXT_MAX];
                const char *value = wish_value(t, wish, buf), *why = NULL;

                if (value && !wish->withheld)
                        why = guarded_quarantined(t->guard.drive, wish->name, value);
                (void) snprintf(memory->quarantined, sizeof memory->quarantined, "%s", why ?: "");
        }
}

void target_guard_hesitates(Target *t) {
        if (!(t->pending.work & WORK_ATTACHED) || t->guard.steady_until > 0 ||
            !guard_record_suspects(guarded_record(t->guard.drive)))
                return;

        t->guard.steady_until = monotonic_usec() + STEADY_USEC;
        if (t->pending.work & WORK_NOW)
                return;
        journal_waiting(t->drive, (Wait){ WAIT_CONNECTION }, false);
        (void) drive_record_wait(t->record, (Wait){ WAIT_CONNECTION });
        target_save(t);
}

/* Nothing is even asked: a machine that does not survive a command should come up. */
bool target_guard_holds(Target *t) {
        const char *word = t->env->forbidden_by;
        int r = 0;

        if (!word && !guard_record_alone(guarded_record(t->guard.drive)))
                return false;

        drive_record_drop_unwanted(t->record, &t->wishes);
        for (size_t i = 0; i < t->wishes.n_items && r >= 0; i++) {
                const Wish *wish = t->wishes.items + i;
                Step s = {
                        .wish = wish,
                        .setting = wish_setting(t, wish),
                        .verdict = word ? VERDICT_FORBIDDEN : VERDICT_QUARANTINED,
                };

                (void) snprintf(s.reason, sizeof s.reason, "%s%s",
                                word ? "nothing is written in this boot: the kernel's command line says "
                                     : GUARD_ALONE_WHY
                                                ", so it is left alone; 'drivekeep release' has it visited again",
                                word ?: "");
                r = target_note_step(t, &s);
        }
        if (r < 0)
                journal_log(LOG_ERR, "No record of %s: %s", t->drive->name, strerror(-r));
        target_save(t);
        return true;
}

void target_guard_begins(Target *t) {
        t->guard.visiting = true;
        guarded_visit(t->guard.drive, true);
}

void target_guard_ended(Target *t) {
        assert(t->guard.visiting);

        t->guard.visiting = false;
        guarded_underway(t->guard.drive, NULL, NULL);
        guarded_visit(t->guard.drive, false);
        watch_health(t);
}

/* ---- within a visit ---- */

void target_guard_stored(void *userdata, int error) {
        Target *t = userdata;

        if (t->visit.job)
                visit_job_intended(t->visit.job, error);
}

void target_guard_intends(void *userdata, size_t wish) {
        Target *t = userdata;
        const Wish *w = wish == NO_WISH ? NULL : t->visit.selected.items + wish;
        const Setting *s = w ? wish_setting(t, w) : NULL;
        char buf[VALUE_TEXT_MAX];
        int r;

        /* Its note may lie on this drive, and would wake it when it is removed. To be in standby harms no drive. */
        if (pending_only_spins_down(&t->visit.pending)) {
                visit_job_intended(t->visit.job, 0);
                return;
        }
        if (s && setting_is_dangerous(s, &w->value))
                r = guarded_intend(t->guard.drive, w->name, value_format(&s->range, &w->value, buf));
        else
                r = guarded_intend(t->guard.drive, NULL, NULL);
        if (r != 0)
                visit_job_intended(t->visit.job, r);
}

void target_guard_writing(void *userdata, size_t wish) {
        Target *t = userdata;
        const Wish *w = wish == NO_WISH ? NULL : t->visit.selected.items + wish;
        char buf[VALUE_TEXT_MAX];
        const char *value = w ? wish_value(t, w, buf) : NULL;

        guarded_underway(t->guard.drive, value ? w->name : NULL, value);
}

/* ---- the end ---- */

void target_guard_lost(Target *t) {
        Target *other = guarded_other_path(t->guard.drive);

        /* No harm that was done to it: its next visit, which is to come, shows whether it is well. */
        if (drive_medium_changed(t->drive))
                guarded_underway(t->guard.drive, NULL, NULL);
        else if (!other)
                guarded_lost(t->guard.drive);
        else if (other->guard.healthy_at == 0)
                watch_health(other); /* the drive is still there, and its ten seconds are that path's now */
}

void target_guard_leaves(Target *t) {
        target_guard_lost(t);
        if (t->guard.visiting)
                guarded_visit(t->guard.drive, false);
        t->guard.visiting = false;
        /* Its worker may be stuck for ever, and the drive may be back before. */
        target_guard_done(t);
}

void target_guard_keep(Target *t, char *text) {
        guarded_keep(t->guard.drive, text);
}

char *target_guard_kept(const Target *t) {
        return guarded_kept(t->guard.drive);
}

void target_guard_rest(Target *t) {
        /* A worker that is stuck may be stuck in just what the guard is there for: then its note stays. */
        (void) guarded_clear(t->guard.drive);
}
