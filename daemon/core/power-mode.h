/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The power mode of a drive. The words are the same in the state files, tables, JSON and the manual pages. Pure. */

typedef enum PowerMode {
        POWER_UNKNOWN, /* not asked yet, or no usable answer */
        POWER_AWAKE,
        POWER_STANDBY,   /* spun down: nothing that would wake it is sent */
        POWER_SUSPENDED, /* runtime-suspended by the kernel, which resumes it for any command */
        POWER_ASLEEP,    /* in ATA's Sleep mode, which the kernel ends by a reset for any command */
        POWER_UNCLEAR,   /* asked, no usable answer, and nothing says that it is awake */
        _POWER_MODE_MAX,
        _POWER_MODE_INVALID = -1,
} PowerMode;

/* As hdparm -C says it: "active/idle", "standby", "sleep"; or "suspended". NULL: not known. */
const char *power_mode_to_string(PowerMode m);
