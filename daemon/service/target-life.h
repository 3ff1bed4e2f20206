/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A drive comes, is described anew, has other wishes, and goes; and the one place that decides when its visit begins. */

#include "target.h"

/* Takes over `drive`. What an earlier run of the service knew of this attach of the drive is taken from its state file. */
int target_new(const TargetEnv *env, Drive *drive, Target **ret);
Target *target_free(Target *t);

/* When something has to be done without an event, on CLOCK_MONOTONIC; UINT64_MAX: never. */
uint64_t target_due(const Target *t);
void target_tick(Target *t);

/* udev reports the same drive again (takes over `drive`): visits it if that changes its wishes. */
void target_update(Target *t, Drive *drive);

/* The drive was unplugged: reports so of what was under way. */
void target_leave(Target *t);

/* What TargetEvents calls. */
void target_requested(Target *t, VisitWork work);
void target_visited(Target *t, bool identified);
