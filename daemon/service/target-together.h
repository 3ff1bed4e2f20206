/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Spins up all drives of an array or file system when I/O spins up one of them (wake_together). Otherwise programs would wait for the
 * drives one after another. spin_up_at_once limits the number of drives that spin up at the same time. */

#include "target.h"

extern const TargetPart together_part;

/* Removes a spin-up from `p`, since the spin-up will not happen, and gives the drive's turn to the next drive. */
void target_together_drop(Target *t, Pending *p);
