/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a value that was measured depends on, as it stands in 60-tuned.conf: a comment above the setting,
 * "// measured 2026-11-22, firmware CC32: …", with ", schedulers mq-deadline none" where the setting is one of them. */

#include "config.h"
#include "inventory.h"

/* Warns of values in that file that were measured with another firmware or other schedulers than the drive has now. */
void evidence_check(Config *c, const Inventory *inventory);
