/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Spins up all drives of an array or file system when I/O spins up one of them (wake_together). Otherwise programs would wait for the
 * drives one after another. spin_up_at_once limits the number of drives that spin up at the same time. */

#include "target.h"

extern const TargetPart together_part;

/* Removes a spin-up that will not happen from `p`, and gives the drive's turn to spin up to the next drive. */
void target_together_drop(Target *t, Pending *p);
