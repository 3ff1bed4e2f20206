/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the conditions under which a value in 60-tuned.conf was measured. `drivekeep tune` writes the conditions as a comment above the
 * setting: "// measured 2026-11-22, firmware CC32: …". For the setting `scheduler`, the firmware is followed by ", schedulers
 * mq-deadline none". */

#include "config.h"
#include "inventory.h"

/* Adds a warning for each value in 60-tuned.conf that was measured with another firmware or other schedulers than the drive has now. */
void evidence_check(Config *c, const Inventory *inventory);
