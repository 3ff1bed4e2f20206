/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Spin-down by the service, for drives that do not act on a standby timer of their own (SpindownBy). When the kernel's counters show no I/O
 * for the configured time, a visit puts the drive into standby, together with all drives of the same arrays and file systems. Success is
 * not logged: the journal may be stored on this drive, and writing to it would spin the drive up. */

#include "target.h"

extern const TargetPart spindown_part;

/* Handles the verdict of the standby command. */
void target_spindown_step(Target *t, const Step *s);
