/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Conditions of a measured value in 60-tuned.conf. `drivekeep tune` writes them as a comment above the setting: "// measured 2026-11-22,
 * firmware CC32: …", with ", schedulers mq-deadline none" for the setting scheduler. */

#include "config.h"
#include "inventory.h"

/* Adds a warning for each value in 60-tuned.conf that was measured with another firmware or other schedulers than the drive has now. */
void evidence_check(Config *c, const Inventory *inventory);
