/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One visit to one drive: read → plan → write → read → judge. Blocks for as long as the drive does, so it runs in a worker
 * process; the wait for fsck is the gate of `io`. */

#include "device.h"
#include "plan.h"
#include "use.h"
#include "visit-reason.h"

typedef struct Visit {
        const Drive *drive;
        const Wishes *wishes;
        const Memory *memories; /* one per wish, in the order of wishes->items; NULL: nothing is remembered */
        const SettingTable *settings;
        const DeviceIO *io;
        bool dry; /* reads and decides only (of steps whose row has `unless`: as if those others could not be had). Of this struct
                   * drive, wishes, memories and settings are needed */
        VisitWork work; /* WORK_WRITE_KERNEL, _WRITE, _WAKE, _PERMANENT, _POWER, _SPIN_UP, _SPIN_DOWN and _WEAR count here; the wishes are chosen already */
        bool active;    /* the drive was in use just now: one that does not say whether it sleeps is awake */
        bool ata_sleep; /* the drive is in ATA's Sleep mode, which any command would end by a reset */

        /* What earlier visits to this attach know of the USB bridge; NULL: nothing. */
        const Bridge *bridge;
        /* Called when more is known; `identity`: of the drive behind it, which names itself now, and then the visit ends without a
         * look at anything else, because the files may want something else of that drive. NULL: not asked, or no answer. May be
         * NULL. */
        void (*bridged)(void *userdata, const Bridge *bridge, const DriveIdentity *identity);

        /* Called once, at the end, when the drive has told whether it sleeps, or is known to be awake, and the visit has not woken it:
         * never POWER_UNKNOWN or POWER_UNCLEAR. May be NULL. */
        void (*power)(void *userdata, PowerMode power);

        /* Called at the end, when the drive has told how worn it is (WORK_WEAR). May be NULL. */
        void (*wear)(void *userdata, const Wear *w);

        /* Called once per step, as soon as its verdict is there. May be NULL. */
        void (*ended)(void *userdata, const Step *s);

        /* The crash guard: this step, which is dangerous, is about to be written; or (NULL) what is harmless, once, at once before the
         * first of that. Not called for what only the kernel holds and is harmless. Negative: there is no note of that, and what is
         * dangerous is not written. May be NULL. */
        int (*intend)(void *userdata, const Step *s);
        /* What is sent from now on is for this step; NULL: nothing is being written. May be NULL. */
        void (*writing)(void *userdata, const Step *s);
        void *userdata;
} Visit;

/* Does the visit begin with the question which drive is behind the USB bridge? */
bool visit_needs_identity(const Visit *v);

/* The plan with a verdict in every step; of a dry run, steps that would be written have none (_VERDICT_INVALID), and `write` set. */
int visit_run(const Visit *v, Plan *ret);
