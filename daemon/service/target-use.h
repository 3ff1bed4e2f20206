/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Statistics of the I/O and the wear of drives with a spin-down timer (core/use.h). The statistics cause no polls and
 * no spin-ups of their own. The wear counters are read once a day, when the drive has just had I/O. */

#include "target.h"

extern const TargetPart use_part;

/* Called when a visit read the wear counters (VisitJobEvents.wear). */
void target_use_wear(void *target, const Wear *w);

/* Stores the statistics across boots, without waiting for the storage. */
void target_use_keep(Target *t);
