/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One visit to one drive: read → plan → write → read → judge. Blocks for as long as the drive does, so it runs in a worker
 * process; the wait for fsck is the gate of `io`. */

#include "device.h"
#include "plan.h"

typedef struct Visit {
        const Drive *drive;
        const Wishes *wishes;
        const Memory *memories; /* one per wish, in the order of wishes->items; NULL: nothing is remembered */
        const SettingTable *settings;
        const DeviceIO *io;

        /* Called once per step, as soon as its verdict is there. May be NULL. */
        void (*ended)(void *userdata, const Step *s);
        void *userdata;
} Visit;

/* The plan with a verdict in every step. */
int visit_run(const Visit *v, Plan *ret);

/* Reads and decides only: steps that would be written have no verdict (_VERDICT_INVALID) and `write` set. Of the visit it
 * needs drive, wishes, memories and settings. */
int visit_dry_run(const Visit *v, Plan *ret);
