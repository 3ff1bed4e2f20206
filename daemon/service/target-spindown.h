/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Drives that the service spins down, since they do not by themselves (SpindownBy): when they were without use for so long, by the
 * kernel's counters, they are put into standby by a visit that does nothing else. Nothing of a success is told to the journal: it may
 * lie on this very drive. */

#include "target-standby.h"

/* Nobody means a shorter time. */
#define SPINDOWN_SOONEST_USEC (60ULL * 1000 * 1000)

/* To be woken so soon and so often costs more than it saves: then the drive is left awake for so long. */
#define SPINDOWN_SHORT_USEC (10ULL * 60 * 1000 * 1000)
#define SPINDOWN_SHORT_MAX 3U
#define SPINDOWN_AWAKE_USEC (60ULL * 60 * 1000 * 1000)

/* Whoever waited for a drive goes on to the next one, and wakes that: so long the service leaves its turn to it. */
#define SPINDOWN_TURN_USEC (1000ULL * 1000)

/* Is it the service that spins it down, as far as is known now? */
bool target_spins_down(const Target *t);

/* Its time without use is over: puts it into standby, with all drives that it has an array or a file system in common with. Returns
 * when to look again, on CLOCK_MONOTONIC, where something keeps it awake until then; else 0. */
uint64_t target_spindown_try(Target *t);

/* The worker is about to begin: drops a spin-down that is no longer due. Commands count as the service's own until
 * target_own_commands_end(). */
void target_spindown_begins(Target *t);
/* What came of it. */
void target_spindown_told(Target *t, const Step *s);

/* The kernel does not count the drive's reads and writes, so that it must not be spun down; and it counts them again. */
void target_spindown_uncounted(Target *t);
void target_spindown_counted(Target *t);

/* Any visit has found out whether it sleeps; POWER_UNKNOWN: it is not known any more. */
void target_spindown_told_power(Target *t, PowerMode power);

/* It was woken, by this or (NULL) nobody knows by whom. `used`: by somebody who wanted something of it. */
void target_spindown_woken(Target *t, const Wake *w, bool used);

/* Others that have an array or a file system in common with it, and sleep, are to spin up at once: each would be waited for else, one
 * after the other. */
void target_spin_up_others(Target *t, const Wake *w);
/* It has: soon another may. */
void target_spun_up(Target *t);
/* It is gone: another may. */
void target_spindown_leaves(Target *t);
/* Drops a pending spin-up from `p`, and gives the turn to the next drive. */
void target_spindown_passes(Target *t, Pending *p);

/* The drive's wishes changed, and it has no visit: drops pending work that no rule asks for any more. */
void target_spindown_resolved(Target *t);

/* When target_spindown_tick() is to be called; UINT64_MAX: never. */
uint64_t target_spindown_due(const Target *t);
void target_spindown_tick(Target *t);

/* Notes for the state file who spins the drive down. */
void target_spindown_note(Target *t);
