/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <syslog.h>

#include "clock.h"
#include "inventory.h"
#include "kernel-view.h"
#include "stack.h"
#include "target-spindown.h"
#include "target-use.h"

#define UNCOUNTED "the kernel does not count its reads and writes (queue/iostats is 0)"

/* ---- who does it ---- */

bool target_spins_down(const Target *t) {
        SpinDown d = target_spin_down(t);

        return d.wish && d.by == SPIN_DOWN_BY_SERVICE;
}

/* In the record: for the state file. */
static void note_text(Target *t, char **field, const char *text) {
        if (string_replace(field, text) < 0)
                journal_log(LOG_ERR, "Out of memory for the record of %s", t->drive->name);
}

static void note_reason(Target *t, const char *reason) {
        t->spindown.failed = VERDICT_APPLIED;
        t->spindown.failed_error = 0;
        note_text(t, &t->record->awake_reason, reason);
}

/* True: the drive was left awake for this reason until now. */
static bool forget_uncounted(Target *t) {
        bool was = t->spindown.is_uncounted;

        t->spindown.is_uncounted = false;
        if (was)
                note_reason(t, NULL);
        return was;
}

void target_spindown_note(Target *t) {
        SpinDown d = spin_down_in_force(t->record, &t->wishes, t->env->settings, t->drive, drive_backends(t->drive));
        char text[SPIN_DOWN_TEXT_MAX], key_buf[SPIN_DOWN_TEXT_MAX];
        const char *key = spin_down_key(&d, key_buf);
        /* The record may be of a version of this program without keys. */
        bool news = !streq_ptr(key, t->record->spindown_key) || !key != !t->record->spindown;

        if (!target_spins_down(t))
                forget_uncounted(t);
        t->record->spindown_served = d.wish && d.by == SPIN_DOWN_BY_SERVICE;
        if (news) {
                note_text(t, &t->record->spindown, spin_down_format(&d, text));
                note_text(t, &t->record->spindown_key, key);
        }
        target_use_note(t);
        if (news)
                target_save(t);
}

/* ---- it is time ---- */

/* When this drive may be stopped; now or before: it may. */
static uint64_t ready_at(const Target *t) {
        uint64_t used, now = monotonic_usec();
        const TargetStandby *s = &t->standby;

        /* A drive whose I/O is not seen stays awake, with all drives that spin down together with it. */
        if (s->uncounted || target_used(t, &used) < 0)
                return now + s->patience / 4;
        /* One that has a command to answer is in use, however long that takes. */
        if (used != s->used || activity_in_flight(t->drive->syspath))
                return now + s->patience / 4;
        return MAX(s->quiet_since + s->patience, t->spindown.awake_until);
}

/* Does this drive spin down with those? Its members that the files do not leave to the service do as they like. */
static bool spins_down_with(const Target *t, char *const *group) {
        return names_contain(group, t->drive->name) && !t->standby.asleep && t->standby.look_at > 0 &&
               !t->spindown.spent && target_spins_down(t);
}

static void spin_down(Target *t) {
        target_visit_for(t, VISIT_SLEEP, visit_reason_work(VISIT_SLEEP) & ~WORK_EVEN_IN_USE);
}

uint64_t target_spindown_try(Target *t) {
        _cleanup_(names_freep) char **group = NULL;
        uint64_t now = monotonic_usec(), ready;
        int r;

        if (t->spindown.spent)
                return 0;

        ready = ready_at(t);
        r = stack_group(INVENTORY_CLASSDIR, INVENTORY_BTRFSDIR, t->drive->name, &group);
        if (r < 0)
                journal_spindown(t->drive, LOG_WARNING, "which drives belong to it cannot be found out: %s",
                                 strerror(-r));
        for (Target *other = t->env->drives; other; other = other->next)
                if (other != t && spins_down_with(other, group))
                        ready = MAX(ready, ready_at(other));
        if (ready > now)
                return ready;

        spin_down(t);
        for (Target *other = t->env->drives; other; other = other->next)
                if (other != t && spins_down_with(other, group))
                        spin_down(other);
        return 0;
}

void target_spindown_begins(Target *t) {
        CurrentVisit *v = &t->visit;

        /* There was I/O while the visit waited, for a file system check, say. */
        if (v->sleeps && !(v->pending.work & WORK_EVEN_IN_USE) && ready_at(t) > monotonic_usec()) {
                v->sleeps = false;
                v->selected.n_items--;
                pending_drop(&v->pending, WORK_SPIN_DOWN);
        }
        target_own_commands_begin(t);
}

/* ---- what came of it ---- */

static void note_power(Target *t, PowerMode power) {
        uint64_t now = power != POWER_UNKNOWN ? now_usec() : 0;

        t->record->power_seen = now;
        if (t->record->power != power)
                t->record->power_when = now;
        t->record->power = power;
}

void target_spindown_told(Target *t, const Step *s) {
        TargetSpindown *d = &t->spindown;
        bool news = s->verdict != d->failed || s->error != d->failed_error;

        d->asked = t->visit.pending.work & WORK_EVEN_IN_USE;
        switch (s->verdict) {
        case VERDICT_UNVERIFIABLE:
                /* Until it is used there is nothing to be found out, nor to be done. */
                d->spent = true;
                d->stopped_at = monotonic_usec();
                note_power(t, POWER_UNKNOWN);
                note_reason(t, s->reason);
                break;
        case VERDICT_APPLIED:
                d->stopped_at = monotonic_usec();
                _fallthrough_;
        case VERDICT_UNCHANGED:
                note_reason(t, NULL);
                target_standby_told(t, POWER_STANDBY);
                break;
        case VERDICT_VANISHED:
                break;
        case VERDICT_DEFERRED:
                /* Busy, or a file system check, or the machine is about to sleep: the next look may find it otherwise. */
                note_reason(t, s->reason);
                if (t->standby.look_at > 0)
                        t->standby.look_at = MIN(t->standby.look_at, monotonic_usec() + t->standby.patience / 4);
                break;
        default:
                d->spent = true;
                note_reason(t, s->reason);
                d->failed = s->verdict;
                d->failed_error = s->error;
                if (news)
                        journal_spindown(t->drive, LOG_WARNING, "it cannot be put into standby: %s.", s->reason);
        }
}

void target_spindown_uncounted(Target *t) {
        /* A wake since then was not seen either. */
        t->spindown.stopped_at = 0;
        if (drive_record_sleeps(t->record))
                note_power(t, POWER_UNKNOWN);
        if (!target_spins_down(t) || t->spindown.is_uncounted)
                return;
        t->spindown.is_uncounted = true;
        note_reason(t, UNCOUNTED);
        journal_spindown(t->drive, LOG_WARNING,
                         UNCOUNTED ": the service does not spin it down; iostats = true has them counted.");
        target_save(t);
}

void target_spindown_counted(Target *t) {
        if (forget_uncounted(t))
                journal_spindown(t->drive, LOG_NOTICE,
                                 "the kernel counts its reads and writes again: the service spins it down as set.");
}

/* It took the timer, and its time is over. Others that ask it for its state may have begun that anew each time: whoever leaves it to
 * the service does not mind why. */
static void found_awake(Target *t) {
        SpinDown d = target_spin_down(t);
        char time[VALUE_TEXT_MAX];
        uint64_t used;

        if (t->standby.asleep || !(t->visit.pending.work & WORK_POWER) || !d.wish || d.pending ||
            d.wish->spindown_by != SPINDOWN_BY_AUTO || target_spins_down(t) || t->standby.uncounted ||
            target_used(t, &used) < 0 || used != t->standby.used)
                return;

        t->record->ignores_timer = true;
        journal_spindown(
                        t->drive, LOG_NOTICE,
                        "it took %s = %s (%s:%u), and is awake after a longer time without a read or write: from now on the "
                        "service spins it down.",
                        d.wish->name, value_format(&d.setting->range, &d.value, time), d.wish->file, d.wish->line);
}

void target_spindown_told_power(Target *t, PowerMode power) {
        /* Who has asked for a drive to be put into standby is told what it is then, if not later. */
        bool known = power != POWER_UNKNOWN && (target_looks_out(t) || t->visit.sleeps);

        if (power == POWER_AWAKE)
                found_awake(t);
        /* `list` and `sleep` show ATA's Sleep mode as standby. */
        note_power(t, !known ? POWER_UNKNOWN : power == POWER_ASLEEP ? POWER_STANDBY : power);
}

void target_spindown_woken(Target *t, const Wake *w, bool used) {
        TargetSpindown *d = &t->spindown;
        uint64_t now = monotonic_usec();

        if (d->stopped_at > 0 && now - d->stopped_at >= SPINDOWN_SHORT_USEC)
                d->n_short = 0;
        else if (d->stopped_at > 0 && used && !d->asked)
                d->n_short++;
        d->stopped_at = 0;
        d->spins_up = false;
        note_power(t, target_looks_out(t) ? POWER_AWAKE : POWER_UNKNOWN);
        if (d->n_short < SPINDOWN_SHORT_MAX || !target_spins_down(t))
                return;

        d->n_short = 0;
        d->awake_until = now + SPINDOWN_AWAKE_USEC;
        journal_left_awake(t->drive, w);
        note_reason(t, "it was woken three times in a row within ten minutes, and is left awake for an hour");
}

/* ---- others are woken with it ---- */

/* What an array or a file system is used by. */
static bool is_use(const Wake *w) {
        return w->kind <= WAKE_MD;
}

static bool wakes_together(const Target *t, char *const *group) {
        const Wish *w = target_spin_down(t).wish;

        return t->standby.asleep && names_contain(group, t->drive->name) && w && w->wake_together;
}

static bool spins_up(const Target *t) {
        return (t->pending.work | (t->visit.job ? t->visit.pending.work : 0)) & WORK_SPIN_UP;
}

static bool has_its_turn(const Target *t) {
        return spins_up(t) || t->spindown.turn_until > 0;
}

static void spindown_spin_up(Target *t) {
        t->spindown.spins_up = false;
        target_visit(t, VISIT_SPIN_UP);
}

static void spin_up_next(const Target *t) {
        uint64_t n = 0, limit = t->env->files->config->spin_up_at_once;

        for (const Target *other = t->env->drives; other; other = other->next)
                n += has_its_turn(other);
        for (Target *other = t->env->drives; other && (limit == 0 || n < limit); other = other->next)
                if (other->spindown.spins_up) {
                        spindown_spin_up(other);
                        n++;
                }
}

static bool any_waits(const Target *t) {
        for (const Target *other = t->env->drives; other; other = other->next)
                if (other->spindown.spins_up)
                        return true;
        return false;
}

void target_spun_up(Target *t) {
        if (!any_waits(t))
                return;
        t->spindown.turn_until = monotonic_usec() + SPINDOWN_TURN_USEC;
        t->env->changed(t->env->userdata, t);
}

void target_spindown_leaves(Target *t) {
        t->spindown.spins_up = false;
        t->spindown.turn_until = 0;
        spin_up_next(t);
}

void target_spindown_passes(Target *t, Pending *p) {
        if (!(p->work & WORK_SPIN_UP))
                return;
        pending_drop(p, WORK_SPIN_UP);
        target_spindown_leaves(t);
}

void target_spindown_resolved(Target *t) {
        const Wish *w = target_spin_down(t).wish;

        if (!target_spins_down(t) && !(t->pending.work & WORK_EVEN_IN_USE))
                pending_drop(&t->pending, WORK_SPIN_DOWN);
        if (!w || !w->wake_together) {
                t->spindown.spins_up = false;
                target_spindown_passes(t, &t->pending);
        }
}

uint64_t target_spindown_due(const Target *t) {
        return t->spindown.turn_until > 0 ? t->spindown.turn_until : UINT64_MAX;
}

void target_spindown_tick(Target *t) {
        if (monotonic_usec() < target_spindown_due(t))
                return;
        t->spindown.turn_until = 0;
        spin_up_next(t);
}

void target_spin_up_others(Target *t, const Wake *w) {
        _cleanup_(names_freep) char **group = NULL;
        bool any = false;

        if (!is_use(w) || stack_group(INVENTORY_CLASSDIR, INVENTORY_BTRFSDIR, t->drive->name, &group) < 0)
                return;

        for (Target *other = t->env->drives; other; other = other->next)
                if (other != t && !spins_up(other) && wakes_together(other, group)) {
                        target_standby_suspect(other, &(Wake){ .kind = WAKE_TOGETHER, .process = w->process });
                        other->spindown.spins_up = any = true;
                }
        if (!any)
                return;

        /* It spins up already, and when it has shows by this: until then it is one of those that may. */
        if (t->env->files->config->spin_up_at_once > 0)
                spindown_spin_up(t);
        spin_up_next(t);
}
