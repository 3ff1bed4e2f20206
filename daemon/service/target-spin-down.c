/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "clock.h"
#include "inventory.h"
#include "kernel-view.h"
#include "stack.h"
#include "target-power.h"
#include "target-spin-down.h"

/* After SHORT_MAX spin-ups in a row, each within SHORT_USEC of its spin-down, the drive stays active for STAY_ACTIVE_USEC. */
#define SHORT_USEC (10ULL * 60 * 1000 * 1000)
#define SHORT_MAX 3U
#define STAY_ACTIVE_USEC (60ULL * 60 * 1000 * 1000)

#define UNCOUNTED "the kernel does not count the drive's reads and writes (queue/iostats is 0)"

typedef struct TargetSpindown {
        bool is_uncounted;     /* no spin-down, since the kernel does not count the drive's I/O; this has been logged */
        bool on_request;       /* a user requested the last spin-down */
        unsigned n_short;      /* how many times in a row the drive was in standby for less than SHORT_USEC */
        uint64_t active_until; /* no spin-down before this time, since n_short reached SHORT_MAX; CLOCK_MONOTONIC, µs */
        Verdict failed;        /* the verdict of the last spin-down; VERDICT_APPLIED if it succeeded */
        int failed_error;      /* Step.error of the last spin-down */
} TargetSpindown;

static TargetSpindown *spindown_of(const Target *t) {
        return target_part(t, &spindown_part);
}

/* ---- why the drive is active ---- */

static void note_reason(Target *t, const char *reason) {
        TargetSpindown *d = spindown_of(t);

        d->failed = VERDICT_APPLIED;
        d->failed_error = 0;
        target_note_text(t, &t->record->active_reason, reason);
}

/* Clears `is_uncounted` and the reason for it. Returns true if `is_uncounted` was set. */
static bool forget_uncounted(Target *t) {
        TargetSpindown *d = spindown_of(t);
        bool was = d->is_uncounted;

        d->is_uncounted = false;
        if (was)
                note_reason(t, NULL);
        return was;
}

/* Records whether the drive's own timer, the service, the kernel or nothing spins the drive down. */
static bool spindown_settled(Target *t) {
        SpinDown d = spin_down_in_force(t->record, &t->wishes, t->env->settings, t->drive, drive_backends(t->drive),
                                        activity_spin_down_usec(t->drive->syspath));
        char text[SPIN_DOWN_TEXT_MAX], key_buf[SPIN_DOWN_TEXT_MAX];
        const char *key = spin_down_key(&d, key_buf);
        /* A record that an older version of the program wrote has no spindown_key. */
        bool changed = !streq_ptr(key, t->record->spindown_key) || !key != !t->record->spindown;

        if (!target_spins_down(t))
                (void) forget_uncounted(t);
        t->record->spindown_served = d.wish && d.by == SPIN_DOWN_BY_SERVICE;
        if (changed) {
                target_note_text(t, &t->record->spindown, spin_down_format(&d, text));
                target_note_text(t, &t->record->spindown_key, key);
        }
        return changed;
}

/* ---- the time without I/O has ended ---- */

static uint64_t ready_at(const Target *t) {
        return MAX(target_idle_at(t), spindown_of(t)->active_until);
}

/* Returns true if the service spins the drive down together with the other drives in `group`. The service does not spin
 * down a drive that has a timer of its own. */
static bool spins_down_with(const Target *t, char *const *group) {
        return names_contain(group, t->drive->name) && power_watch_may_spin_down(target_power(t)) &&
               target_spins_down(t);
}

static void spin_down(Target *t) {
        target_visit_for(t, VISIT_SPIN_DOWN, visit_reason_work(VISIT_SPIN_DOWN) & ~WORK_DESPITE_IO);
}

static void spindown_idle(Target *t) {
        _cleanup_(names_freep) char **group = NULL;
        uint64_t ready = ready_at(t);
        int r;

        r = stack_group(INVENTORY_CLASSDIR, INVENTORY_BTRFSDIR, t->drive->name, &group);
        if (r < 0)
                journal_spindown(
                                t->drive, LOG_WARNING,
                                "failed to find the other drives of the same array or file system: %s; this drive is spun down "
                                "alone.",
                                strerror(-r));
        for (const Target *other = t->env->drives; other; other = other->next)
                if (other != t && spins_down_with(other, group))
                        ready = MAX(ready, ready_at(other));
        if (ready > monotonic_usec()) {
                target_power_delay(t, ready);
                return;
        }

        spin_down(t);
        for (Target *other = t->env->drives; other; other = other->next)
                if (other != t && spins_down_with(other, group))
                        spin_down(other);
}

/* Drops the spin-down from the visit if there was I/O while the visit waited, for example for a file system check. */
static void spindown_visit_begins(Target *t) {
        CurrentVisit *v = &t->visit;

        if ((v->pending.work & (WORK_SPIN_DOWN | WORK_DESPITE_IO)) != WORK_SPIN_DOWN || ready_at(t) <= monotonic_usec())
                return;
        v->selected.n_items--;
        pending_drop(&v->pending, WORK_SPIN_DOWN);
}

static void spindown_wishes_changed(Target *t) {
        if (!target_spins_down(t) && !(t->pending.work & WORK_DESPITE_IO))
                pending_drop(&t->pending, WORK_SPIN_DOWN);
}

/* ---- results ---- */

static void spindown_failed(Target *t, const Step *s) {
        TargetSpindown *d = spindown_of(t);
        bool changed = s->verdict != d->failed || s->error != d->failed_error;

        target_power_give_up(t);
        note_reason(t, s->reason);
        d->failed = s->verdict;
        d->failed_error = s->error;
        if (changed)
                journal_spindown(t->drive, LOG_WARNING, "the drive cannot be put into standby: %s.", s->reason);
}

void target_spindown_step(Target *t, const Step *s) {
        spindown_of(t)->on_request = t->visit.pending.work & WORK_DESPITE_IO;

        switch (s->verdict) {
        case VERDICT_UNVERIFIABLE:
                target_power_stopped(t, true);
                note_reason(t, s->reason);
                break;
        case VERDICT_APPLIED:
                target_power_stopped(t, false);
                _fallthrough_;
        case VERDICT_UNCHANGED:
                note_reason(t, NULL);
                target_power_probed(t, POWER_STANDBY);
                break;
        case VERDICT_VANISHED:
                break;
        case VERDICT_DEFERRED:
                /* I/O, a file system check or an imminent suspend prevented the spin-down. The next poll tries again. */
                note_reason(t, s->reason);
                target_power_retry(t);
                break;
        default:
                spindown_failed(t, s);
        }
}

/* Counts the spin-ups that follow soon after a spin-down by the service. */
static void spindown_woken(Target *t, const PowerNews *n) {
        TargetSpindown *d = spindown_of(t);
        uint64_t now = monotonic_usec();

        if (n->stopped_at > 0 && now - n->stopped_at >= SHORT_USEC)
                d->n_short = 0;
        else if (n->stopped_at > 0 && n->by_io && !d->on_request)
                d->n_short++;
        if (d->n_short < SHORT_MAX || !target_spins_down(t))
                return;

        d->n_short = 0;
        d->active_until = now + STAY_ACTIVE_USEC;
        journal_no_spin_down(t->drive, n->has_waker ? &n->waker : NULL);
        note_reason(t,
                    "the drive spun up within ten minutes after each of three consecutive spin-downs, so it stays active for an hour");
}

/* Called when a drive that accepted a timer is still active after the timer should have expired. Programs that probe
 * the drive may restart the timer. */
static void spindown_still_active(Target *t) {
        SpinDown d = target_spin_down(t);
        char time[VALUE_TEXT_MAX];

        if (!d.wish || d.pending || d.wish->spindown_by != SPINDOWN_BY_AUTO || target_spins_down(t))
                return;

        t->record->ignores_timer = true;
        journal_spindown(
                        t->drive, LOG_NOTICE,
                        "the drive accepted %s = %s (%s:%u), but stayed active without I/O beyond that time; from now on the service "
                        "spins the drive down.",
                        d.wish->name, value_format(&d.setting->range, &d.value, time), d.wish->file, d.wish->line);
}

static void spindown_uncounted(Target *t) {
        TargetSpindown *d = spindown_of(t);

        if (!target_spins_down(t) || d->is_uncounted)
                return;
        d->is_uncounted = true;
        note_reason(t, UNCOUNTED);
        journal_spindown(t->drive, LOG_WARNING,
                         "the service does not spin the drive down: " UNCOUNTED
                         "; set iostats = true in the configuration.");
        target_save(t);
}

static void spindown_power(Target *t, const PowerNews *n) {
        if (n->events & POWER_NEWS_LEFT_STANDBY)
                spindown_woken(t, n);
        if ((n->events & POWER_NEWS_COUNTED) && forget_uncounted(t))
                journal_spindown(
                                t->drive, LOG_NOTICE,
                                "spin-down by the service resumes: the kernel counts the drive's reads and writes again.");
        if (n->events & POWER_NEWS_UNCOUNTED)
                spindown_uncounted(t);
        if (n->events & POWER_NEWS_STILL_ACTIVE)
                spindown_still_active(t);
        if (n->events & POWER_NEWS_IDLE)
                spindown_idle(t);
}

const TargetPart spindown_part = {
        .size = sizeof(TargetSpindown),
        .wishes_changed = spindown_wishes_changed,
        .visit_begins = spindown_visit_begins,
        .settled = spindown_settled,
        .power = spindown_power,
};
