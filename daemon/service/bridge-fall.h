/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Detects USB bridges that crash at their first ATA command: they disconnect from the bus, and reconnect after a moment. */

#include "target.h"

/* The last bridge that disconnected at its first ATA command. */
typedef struct BridgeFall {
        char *port;    /* the syspath of the bridge's USB port; owned; NULL if no bridge has disconnected yet */
        uint64_t usec; /* when the bridge disconnected; CLOCK_MONOTONIC, µs */
} BridgeFall;

/* Called when a drive was unplugged. Notes the drive's port if the drive was just getting its first ATA command through a USB bridge. */
void bridge_fall_note(BridgeFall *fall, const Target *t);
/* Called when a drive was attached. If the drive is at the noted port and reconnected quickly, its bridge gets no more ATA commands. */
void bridge_fall_restore(const BridgeFall *fall, Target *t);
