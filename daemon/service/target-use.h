/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is learnt of the use and the wear of a drive that is to spin down (core/use.h), at looks and wakes that there are anyway. The
 * drive is asked how worn it is once a day, when it has just been used. */

#include "target.h"

/* The drive is there. What was kept of it is taken over, unless this boot knows more. */
void target_use_attach(Target *t);

/* The timer may be another one now. */
void target_use_note(Target *t);

/* It is used again: the first use since it was found without was between these (CLOCK_MONOTONIC, µs). */
void target_use_seen(Target *t, uint64_t from, uint64_t to);

/* The drive has spun up. `slept_from`: when it fell asleep (CLOCK_MONOTONIC, µs). The caller logs the wake. */
void target_use_spun_up(Target *t, uint64_t slept_from);

/* It was used just now, so that a command more does not wake it: it is asked how worn it is, if that is due. */
void target_use_ask(Target *t);
/* It has told how worn it is (VisitJobEvents.wear). */
void target_use_wear(void *target, const Wear *w);

/* Brings what is known to stable storage, without a wait. */
void target_use_keep(Target *t);
