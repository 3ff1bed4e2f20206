/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds the programs that keep a drive from its spin-down: lets the tracer watch the drive while it is active (core/active-watch.h decides
 * when), logs new programs, and stores the time of these records in DriveRecord.kept_when. */

#include "target.h"

extern const TargetPart active_part;

/* Returns true while the tracer watches the drive as an active drive. */
bool target_active_is_traced(const Target *t);

/* Called for each program that the tracer has counted. `w` is NULL: the tracer no longer watches the drive. */
void target_active_counted(Target *t, const Wake *w, unsigned times);

/* Called when the tracer has ended: the programs of an earlier count stay, and the drive is traced again after a pause. */
void target_active_lost(Target *t);
