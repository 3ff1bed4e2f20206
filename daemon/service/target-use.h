/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Statistics of the I/O and the wear of a drive that should spin down (core/use.h), from polls and spin-ups that there are anyway. The
 * wear counters are read once a day, when the drive has just had I/O. */

#include "target.h"

extern const TargetPart use_part;

/* A visit has read the wear counters (VisitJobEvents.wear). */
void target_use_wear(void *target, const Wear *w);

/* Has the statistics written to stable storage, and does not wait for that. */
void target_use_keep(Target *t);
