/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Drives that the service spins down, since they do not by themselves (SpindownBy): when they had no I/O for so long, by the kernel's
 * counters, a visit that does nothing else puts them into standby, with all drives of the same arrays and file systems. A success is
 * not logged: the journal may lie on this very drive. */

#include "target.h"

extern const TargetPart spindown_part;

/* The standby command has its verdict. */
void target_spindown_step(Target *t, const Step *s);
