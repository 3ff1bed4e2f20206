/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <stdio.h>
#include <syslog.h>
#include <time.h>

#include "clock.h"
#include "device.h"
#include "kernel-view.h"
#include "target-guard.h"

typedef struct TargetGuard {
        GuardedDrive *drive;
        bool visiting;         /* a visit under way was reported to the guard */
        uint64_t healthy_at;   /* when to check whether the drive survived the last write; CLOCK_MONOTONIC, µs; 0: no
                                * check is due */
        uint64_t steady_until; /* until this time, only a user's request leads to a visit, since the drive was lost
                                * during a write; CLOCK_MONOTONIC, µs; 0: no delay */
} TargetGuard;

static TargetGuard *guard_of(const Target *t) {
        return target_part(t, &guard_part);
}

/* A drive that works for this time after a write has survived the write. */
#define HEALTHY_USEC (10ULL * 1000 * 1000)
/* A drive that stays attached for this time has a stable connection. */
#define STEADY_USEC (10ULL * 1000 * 1000)

/* ---- after a visit ---- */

static void start_health_timer(Target *t) {
        guard_of(t)->healthy_at = monotonic_usec() + HEALTHY_USEC;
        target_changed(t);
}

static uint64_t guard_due(const Target *t) {
        return guard_of(t)->healthy_at > 0 ? guard_of(t)->healthy_at : UINT64_MAX;
}

static void guard_tick(Target *t) {
        int r;

        if (monotonic_usec() < guard_due(t))
                return;

        /* The health timer stays off during a visit. At the end of the visit, watch_health() starts it again. */
        guard_of(t)->healthy_at = 0;
        if (guard_of(t)->visiting)
                return;

        r = health_read(t->drive->syspath);
        if (r < 0)
                guarded_lost(guard_of(t)->drive);
        /* guarded_clear() returns false while the drive is visited by another path: the health timer then starts
         * again. */
        else if (r == 0 || !guarded_clear(guard_of(t)->drive))
                start_health_timer(t);
}

static void watch_health(Target *t) {
        const GuardRecord *record = guarded_record(guard_of(t)->drive);

        if (guard_record_intends(record) || guard_record_suspects(record))
                start_health_timer(t);
}

static int guard_attach_drive(Target *t, bool again _unused_) {
        GuardedDrive *before = guard_of(t)->drive;
        bool known = false;
        int r;

        assert(!guard_of(t)->visiting);

        r = guard_attach(t->env->guard, t->drive, t, &guard_of(t)->drive);
        if (r < 0)
                return r;

        if (before) {
                known = guarded_record(before) == guarded_record(guard_of(t)->drive);
                /* The drive has a new identity. The notes of intended writes under the old identity are cleared, since
                 * the drive has survived until now. */
                if (!known)
                        (void) guarded_clear(before);
                guarded_detach(before);
        }

        /* udev reports a drive each time a program closes the drive's node after writing. These reports must not
         * restart a running health timer. A drive that was lost during a write may stay attached and still not work, so
         * its health timer starts only after the next visit. */
        if (!(known && guard_of(t)->healthy_at > 0) && !guard_record_suspects(guarded_record(guard_of(t)->drive)))
                watch_health(t);
        return 0;
}

static void guard_done(Target *t) {
        guard_of(t)->healthy_at = guard_of(t)->steady_until = 0;
        if (!guard_of(t)->drive)
                return;

        guarded_detach(guard_of(t)->drive);
        guard_of(t)->drive = NULL;
}

/* ---- before a visit ---- */

static const Setting *wish_setting(const Target *t, const Wish *wish) {
        return setting_for_backends(t->env->settings, wish->name, drive_backends(t->drive));
}

static const char *wish_value(const Target *t, const Wish *wish, char buf[static VALUE_TEXT_MAX]) {
        const Setting *s = wish_setting(t, wish);

        return s ? value_format(&s->range, &wish->value, buf) : NULL;
}

/* Stores in visit.memories, for the worker, which wishes are quarantined and why. */
static void guard_visit_begins(Target *t) {
        for (size_t i = 0; i < t->visit.selected.n_items; i++) {
                const Wish *wish = t->visit.selected.items + i;
                Memory *memory = t->visit.memories + i;
                char buf[VALUE_TEXT_MAX];
                const char *value = wish_value(t, wish, buf), *why = NULL;

                if (value && !wish->withheld)
                        why = guarded_quarantined(guard_of(t)->drive, wish->name, value);
                (void) snprintf(memory->quarantined, sizeof memory->quarantined, "%s", why ?: "");
        }
}

void target_guard_delay(Target *t) {
        if (!(t->pending.work & WORK_ATTACHED) || guard_of(t)->steady_until > 0 ||
            !guard_record_suspects(guarded_record(guard_of(t)->drive)))
                return;

        guard_of(t)->steady_until = monotonic_usec() + STEADY_USEC;
        if (t->pending.work & WORK_NOW)
                return;
        journal_waiting(t->drive, (Wait){ WAIT_CONNECTION }, false);
        (void) drive_record_wait(t->record, (Wait){ WAIT_CONNECTION });
        target_save(t);
}

bool target_guard_is_same_drive(const Target *a, const Target *b) {
        return guarded_record(guard_of(a)->drive) == guarded_record(guard_of(b)->drive);
}

bool target_guard_excludes(const Target *t) {
        return guard_record_excludes(guarded_record(guard_of(t)->drive));
}

uint64_t target_guard_steady_at(const Target *t) {
        return guard_of(t)->steady_until;
}

Verdict target_guard_verdict(const Target *t, char reason[static STEP_REASON_MAX]) {
        const char *word = t->env->forbidden_by;

        if (!word && !target_guard_excludes(t))
                return _VERDICT_INVALID;
        (void) snprintf(reason, STEP_REASON_MAX, "%s%s",
                        word ? "no setting is written in this boot: the kernel command line has "
                             : GUARD_EXCLUDED_REASON "; 'drivekeep release' permits visits again",
                        word ?: "");
        return word ? VERDICT_FORBIDDEN : VERDICT_QUARANTINED;
}

/* The drive gets no command at all, not even reads: a machine that crashes at a command must be able to boot. */
bool target_guard_blocks(Target *t) {
        Step s = {};
        int r = 0;

        s.verdict = target_guard_verdict(t, s.reason);
        if (s.verdict == _VERDICT_INVALID)
                return false;

        drive_record_drop_unwanted(t->record, &t->wishes);
        for (size_t i = 0; i < t->wishes.n_items && r >= 0; i++) {
                s.wish = t->wishes.items + i;
                s.setting = wish_setting(t, s.wish);
                r = target_note_step(t, &s);
        }
        if (r < 0)
                journal_log(LOG_ERR, "%s: verdicts cannot be recorded: %s", t->drive->name, strerror(-r));
        target_save(t);
        return true;
}

void target_guard_begins(Target *t) {
        guard_of(t)->visiting = true;
        guarded_visit(guard_of(t)->drive, true);
}

static void guard_visit_ends(Target *t) {
        assert(guard_of(t)->visiting);

        guard_of(t)->visiting = false;
        guarded_underway(guard_of(t)->drive, NULL, NULL);
        guarded_visit(guard_of(t)->drive, false);
        watch_health(t);
}

/* ---- during a visit ---- */

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

        /* A spin-down needs no note: standby harms no drive, and removing a note that is stored on this drive would
         * spin the drive up. */
        if (pending_only_spins_down(&t->visit.pending)) {
                visit_job_intended(t->visit.job, 0);
                return;
        }
        if (s && setting_is_dangerous(s, &w->value))
                r = guarded_intend(guard_of(t)->drive, w->name, value_format(&s->range, &w->value, buf));
        else
                r = guarded_intend(guard_of(t)->drive, NULL, NULL);
        if (r != 0)
                visit_job_intended(t->visit.job, r);
}

void target_guard_writing(void *userdata, size_t wish) {
        Target *t = userdata;
        const Wish *w = wish == NO_WISH ? NULL : t->visit.selected.items + wish;
        char buf[VALUE_TEXT_MAX];
        const char *value = w ? wish_value(t, w, buf) : NULL;

        guarded_underway(guard_of(t)->drive, value ? w->name : NULL, value);
}

/* ---- the end ---- */

void target_guard_lost(Target *t) {
        Target *other = guarded_other_path(guard_of(t)->drive);

        /* A change of the medium is not a failure. The next visit shows whether the drive works. */
        if (drive_medium_changed(t->drive))
                guarded_underway(guard_of(t)->drive, NULL, NULL);
        else if (!other)
                guarded_lost(guard_of(t)->drive);
        else if (guard_of(other)->healthy_at == 0)
                watch_health(other); /* the drive is still attached by another path, whose health timer now checks it */
}

static void guard_detach(Target *t) {
        target_guard_lost(t);
        if (guard_of(t)->visiting)
                guarded_visit(guard_of(t)->drive, false);
        guard_of(t)->visiting = false;
        /* Frees this part's data now: a worker may hang forever, and the drive may be attached again before the worker
         * ends. */
        guard_done(t);
}

void target_guard_keep(Target *t, char *text) {
        guarded_keep(guard_of(t)->drive, text);
}

char *target_guard_kept(const Target *t) {
        return guarded_kept(guard_of(t)->drive);
}

void target_guard_finish(Target *t) {
        /* guarded_clear() keeps the note while a worker still runs: the worker may hang in the command for which the note was written. */
        (void) guarded_clear(guard_of(t)->drive);
}

unsigned target_release(Target *t, const char *setting) {
        unsigned n = guarded_release(guard_of(t)->drive, setting);

        if (n > 0)
                target_visit(t, VISIT_REQUEST);
        return n;
}

const TargetPart guard_part = {
        .size = sizeof(TargetGuard),
        .attach = guard_attach_drive,
        .detach = guard_detach,
        .done = guard_done,
        .due = guard_due,
        .tick = guard_tick,
        .visit_begins = guard_visit_begins,
        .visit_ends = guard_visit_ends,
};
