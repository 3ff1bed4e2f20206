/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Spins up all drives of an array or file system when I/O spins up one of them (wake_together). Otherwise programs would wait for the
 * drives one after another. spin_up_at_once limits the number of drives that spin up at the same time. */

#include "target.h"

extern const TargetPart together_part;

/* Drops a spin-up from `p` that will not happen, and gives its turn to the next drive. */
void target_together_drop(Target *t, Pending *p);
