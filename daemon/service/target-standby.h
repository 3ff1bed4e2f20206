/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Does the drive sleep, and who woke it? Nobody tells when a drive falls asleep by its own timer: it is asked once, by a command
 * that resets no timer, when the time without use must have let it run out. From then on the tracer watches it, and until it is
 * used nothing more is done. */

#include "device.h"
#include "spin-down.h"
#include "target.h"

/* All else that leads to a look: drives without a timer that is known are asked after this time without use, and, like those that do
 * not act on theirs, after twice, four and eight times as long; then no more until they are used. */
#define STANDBY_LOOK_USEC (5ULL * 60 * 1000 * 1000)
#define STANDBY_LOOKS_MAX 4U

/* The last visit is over, or what is wanted of the drive is other now: is there something to look out for? */
void target_standby_rested(Target *t);

/* When it is to be looked at, on CLOCK_MONOTONIC; UINT64_MAX: never. */
uint64_t target_standby_due(const Target *t);
void target_standby_tick(Target *t);

/* A visit has found out whether the drive sleeps (VisitJobEvents.power). */
void target_standby_told(void *target, PowerMode power);

/* Should it be found awake, then this has woken it. */
void target_standby_suspect(Target *t, const Wake *w);

/* What the tracer tells. */
void target_standby_watched(Target *t);
void target_standby_woken(Target *t, const Wake *w);
void target_standby_lost(Target *t);

/* It is not looked after any more. */
void target_standby_done(Target *t);

/* Somebody has used it up to now, as far as is known. */
void target_standby_begin(Target *t);

/* The kernel's count of what the drive was used for: reads and writes, and where the files say so (commands_are_use) commands of
 * programs. It does not change by what the service itself sends. -ENODATA: the kernel does not count reads and writes, and commands
 * are not counted either, or do not count as use. */
int target_used(const Target *t, uint64_t *ret);

/* A worker begins, and has ended: what the drive is sent meanwhile is the service's own. */
void target_own_commands_begin(Target *t);
void target_own_commands_end(Target *t);

/* Is it a drive that can sleep, and be asked whether it does? */
bool target_can_sleep(const Target *t);

/* Is it known at any time whether it sleeps, as well as that can be known? */
bool target_looks_out(const Target *t);

/* What spins it down after a time without use, or is to; the kernel aside. */
static inline SpinDown target_spin_down(const Target *t) {
        return spin_down_timer(t->record, &t->wishes, t->env->settings, t->drive, drive_backends(t->drive));
}
