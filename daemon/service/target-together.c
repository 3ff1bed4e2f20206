/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clock.h"
#include "inventory.h"
#include "stack.h"
#include "target-power.h"
#include "target-together.h"

/* Delay between two spin-ups. A program that waited for the first drive may itself spin up the second drive during this time. */
#define TURN_USEC (1000ULL * 1000)

typedef struct TargetTogether {
        bool waits;          /* the drive waits for its turn to spin up */
        uint64_t turn_until; /* when the drive's turn to spin up ends; set at the end of the visit that spun the drive
                              * up; CLOCK_MONOTONIC, µs; 0: not set */
} TargetTogether;

static TargetTogether *together_of(const Target *t) {
        return target_part(t, &together_part);
}

/* ---- turns ---- */

static bool has_its_turn(const Target *t) {
        return target_is_about(t, WORK_SPIN_UP) || together_of(t)->turn_until > 0;
}

static void spin_up(Target *t) {
        together_of(t)->waits = false;
        target_visit(t, VISIT_SPIN_UP);
}

static void spin_up_next(const Target *t) {
        uint64_t n = 0, limit = t->env->files->config->spin_up_at_once;

        for (const Target *other = t->env->drives; other; other = other->next)
                n += has_its_turn(other);
        for (Target *other = t->env->drives; other && (limit == 0 || n < limit); other = other->next)
                if (together_of(other)->waits) {
                        spin_up(other);
                        n++;
                }
}

static bool any_waits(const Target *t) {
        for (const Target *other = t->env->drives; other; other = other->next)
                if (together_of(other)->waits)
                        return true;
        return false;
}

/* Ends the drive's turn to spin up, and gives the turn to the next drive. */
static void together_detach(Target *t) {
        *together_of(t) = (TargetTogether){};
        spin_up_next(t);
}

void target_together_drop(Target *t, Pending *p) {
        if (!(p->work & WORK_SPIN_UP))
                return;
        pending_drop(p, WORK_SPIN_UP);
        together_detach(t);
}

static uint64_t together_due(const Target *t) {
        return together_of(t)->turn_until > 0 ? together_of(t)->turn_until : UINT64_MAX;
}

static void together_tick(Target *t) {
        if (monotonic_usec() < together_due(t))
                return;
        together_of(t)->turn_until = 0;
        spin_up_next(t);
}

static void together_visit_ends(Target *t) {
        if (!(t->visit.pending.work & WORK_SPIN_UP) || !any_waits(t))
                return;
        together_of(t)->turn_until = monotonic_usec() + TURN_USEC;
        target_changed(t);
}

static void together_wishes_changed(Target *t) {
        const Wish *w = target_spin_down(t).wish;

        if (w && w->wake_together)
                return;
        together_of(t)->waits = false;
        target_together_drop(t, &t->pending);
}

/* ---- a drive spun up ---- */

/* Returns true if I/O of a process, of swap or of the md driver woke the drive. Returns false for other wakers, such as
 * udev or a single command. */
static bool is_io(const Wake *w) {
        return w->kind <= WAKE_MD;
}

static bool spins_up_with(const Target *t, char *const *group) {
        const Wish *w = target_spin_down(t).wish;

        return power_watch_is_traced(target_power(t)) && names_contain(group, t->drive->name) && w && w->wake_together;
}

static void together_spun_up(Target *t, const Wake *w) {
        _cleanup_(names_freep) char **group = NULL;
        bool any = false;

        if (!is_io(w) || stack_group(INVENTORY_CLASSDIR, INVENTORY_BTRFSDIR, t->drive->name, &group) < 0)
                return;

        for (Target *other = t->env->drives; other; other = other->next)
                if (other != t && !target_is_about(other, WORK_SPIN_UP) && spins_up_with(other, group)) {
                        target_power_suspect(other, &(Wake){ .kind = WAKE_TOGETHER, .process = w->process });
                        together_of(other)->waits = any = true;
                }
        if (!any)
                return;

        /* This drive is already spinning up, but counts towards spin_up_at_once until its visit ends. The visit ends
         * when the drive is active. */
        if (t->env->files->config->spin_up_at_once > 0)
                spin_up(t);
        spin_up_next(t);
}

static void together_power(Target *t, const PowerNews *n) {
        if ((n->events & POWER_NEWS_SPUN_UP) && n->has_waker)
                together_spun_up(t, &n->waker);
        if (n->events & POWER_NEWS_LEFT_STANDBY)
                together_of(t)->waits = false;
}

const TargetPart together_part = {
        .size = sizeof(TargetTogether),
        .detach = together_detach,
        .due = together_due,
        .tick = together_tick,
        .wishes_changed = together_wishes_changed,
        .visit_ends = together_visit_ends,
        .power = together_power,
};
