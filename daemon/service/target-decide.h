/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* When a visit begins: the one place that decides it, for requests, for new wishes, and for work that a visit left undone. */

#include "target.h"

/* When something has to be done without an event, on CLOCK_MONOTONIC; UINT64_MAX: never. */
uint64_t target_due(const Target *t);
void target_tick(Target *t);

/* udev reports the same drive again (takes over `drive`): visits it if that changes its wishes. */
void target_update(Target *t, Drive *drive);

/* What TargetEvents calls. */
void target_requested(Target *t, VisitWork work);
void target_visited(Target *t, bool identified);
