/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Drives that spin up together (wake_together): when one of an array or of a file system is used, the others of it would be waited for
 * one after the other. They are spun up at once, or so many at a time (spin_up_at_once). */

#include "target.h"

extern const TargetPart together_part;

/* Drops a spin-up from `p`, which comes to nothing, and gives the turn to the next drive. */
void target_together_drop(Target *t, Pending *p);
