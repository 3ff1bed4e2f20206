/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What one attach of a USB drive has shown of the bridge before it, so that nothing is tried twice, and which drive is behind.
 * Plain data, which crosses the worker's socket and lives in the drive's record. */

#include "macro.h"

typedef struct Bridge {
        bool asked;             /* it was asked which drive is behind it … */
        bool identified;        /* … and that one answered */
        bool without_sat;       /* it passes no ATA commands */
        bool without_registers; /* it takes them and hands no registers back */
        bool repeats_identify;  /* as far as can be told it answers IDENTIFY from its memory */
        bool fragile;           /* it fell off the bus when it got one */
        uint64_t cdb;           /* the ATA PASS-THROUGH command that it knows: 16 or 12; 0: not found out yet */
} Bridge;

/* What IDENTIFY DEVICE says of the drive; empty: nothing. */
typedef struct DriveIdentity {
        char model[41], serial[21], firmware[9], wwn[19];
} DriveIdentity;
