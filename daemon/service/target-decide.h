/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Decides when a visit begins. A visit begins because of a request, changed wishes, or work that an earlier visit did not finish. */

#include "target.h"

/* Returns when to call target_tick(); CLOCK_MONOTONIC, µs; UINT64_MAX: never. */
uint64_t target_due(const Target *t);
/* Does everything that is due by now. */
void target_tick(Target *t);

/* Called when udev reports the same drive again. Visits the drive if its wishes changed or the kernel reset settings.
 * Takes ownership of `drive`. */
void target_update(Target *t, Drive *drive);

/* Implement TargetEvents.requested and TargetEvents.visited. */
void target_requested(Target *t, VisitWork work);
void target_visited(Target *t, bool identified);
