/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One visit to one drive: read → plan → write → read → judge. The visit may block until the drive answers, so it runs in a worker process.
 * The gate of `io` delays commands during a file system check. */

#include "device.h"
#include "plan.h"
#include "use.h"
#include "visit-reason.h"

typedef struct Visit {
        const Drive *drive;
        const Wishes *wishes;
        const Memory *memories; /* results of earlier visits, one per wish, in the order of wishes->items; NULL: none */
        const SettingTable *settings;
        const DeviceIO *io;
        /* A dry run only reads and decides. If a setting has `unless`, its step is decided as if the drive did not support the setting that
         * `unless` names. A dry run needs only the members `drive`, `wishes`, `memories` and `settings`. */
        bool dry;
        /* The visit obeys WORK_WRITE_KERNEL, _WRITE, _WAKE, _PERMANENT, _POWER, _SPIN_UP, _SPIN_DOWN and _WEAR. The other flags have no
         * effect here: the caller has already used the other flags to select the wishes. */
        VisitWork work;
        bool active;    /* recent I/O was seen, so a drive that does not report its power mode counts as active */
        bool ata_sleep; /* the drive is in ATA Sleep mode, and any command would make the kernel reset it */

        /* What earlier visits since the attach learned about the USB bridge; NULL: nothing is known yet. */
        const Bridge *bridge;
        /* Called with new facts about the bridge. If `identity` is not NULL, the drive behind the bridge was identified for the first time,
         * and the visit ends, because other rules may match that drive. The function may be NULL. */
        void (*bridge_learned)(void *userdata, const Bridge *bridge, const DriveIdentity *identity);

        /* Called with the drive's power mode at the end of the visit. Not called if the power mode is not known, or if the visit may have
         * changed it. The function may be NULL. */
        void (*power)(void *userdata, PowerMode power);

        /* Called at the end with the drive's wear counters (WORK_WEAR). The function may be NULL. */
        void (*wear)(void *userdata, const Wear *w);

        /* Called once per step, as soon as the step's verdict is known. The function may be NULL. */
        void (*ended)(void *userdata, const Step *s);

        /* Stores a crash guard note. Called with step `s` before the write of each dangerous step, and with NULL before the first write of
         * a harmless step. Harmless kernel settings need no note. If the function returns an error, a dangerous step is not written. The
         * function may be NULL. */
        int (*intend)(void *userdata, const Step *s);
        /* Called before the commands of step `s` are sent, and with NULL when writing has ended. The function may be NULL. */
        void (*writing)(void *userdata, const Step *s);
        void *userdata;
} Visit;

/* Returns true if the visit must first identify the drive behind the USB bridge. */
bool visit_needs_identity(const Visit *v);

/* Runs the visit. *ret is the plan, with a verdict in each step. After a dry run, steps that would be written have `write` set and no
 * verdict (_VERDICT_INVALID). */
int visit_run(const Visit *v, Plan *ret);
