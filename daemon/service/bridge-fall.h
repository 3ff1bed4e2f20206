/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* USB bridges that crash at their first ATA command: they fall off the bus, and are back a moment later. */

#include "target.h"

/* Where a bridge fell off the bus last, at its first ATA command. */
typedef struct BridgeFall {
        char *port;    /* its USB port, a syspath; owned. NULL: nowhere yet */
        uint64_t usec; /* CLOCK_MONOTONIC */
} BridgeFall;

/* The drive goes away. Just being sent its first ATA command, it may have a bridge that cannot stand that … */
void bridge_fall_note(BridgeFall *fall, const Target *t);
/* … and when the drive is back soon at the same port, its bridge is sent no more of them. */
void bridge_fall_spare(const BridgeFall *fall, Target *t);
