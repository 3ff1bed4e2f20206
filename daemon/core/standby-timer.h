/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Determines what spins a drive down after a time without I/O: the drive's own timer, the service or the kernel. Uses
 * the verdicts in the drive's record, because the drive may have refused or adjusted the value in the configuration. */

#include "drive-record.h"

#define SETTING_SPINDOWN_TIME "spindown_time"

typedef enum SpinDownActor {
        SPIN_DOWN_BY_DRIVE,
        SPIN_DOWN_BY_SERVICE,
        SPIN_DOWN_BY_KERNEL, /* runtime PM */
} SpinDownActor;

typedef struct SpinDown {
        uint64_t usec;    /* time without I/O; UINT64_MAX: nothing spins the drive down */
        const Wish *wish; /* NULL: nothing or the kernel spins the drive down */
        const Setting *setting;
        Value value; /* the value in force, which may differ from the wish */
        SpinDownActor by;
        bool pending; /* no verdict shows yet whether the value is in force */
} SpinDown;

/* Returns true if the drive, with these backends (mask of 1 << Backend), is rotational and can report its power mode. */
bool drive_has_standby(const Drive *d, unsigned backends);

/* Returns the shortest timer of the drive or the service. A timer in force has precedence over a pending timer. */
SpinDown spin_down_timer(const DriveRecord *r, const Wishes *w, const SettingTable *t, const Drive *d,
                         unsigned backends);

/* Returns the shortest timer in force: a timer of the drive, of the service or of the kernel. `kernel_usec`: the idle time after which
 * runtime PM spins the drive down, whichever program has set it; UINT64_MAX: never. */
SpinDown spin_down_in_force(const DriveRecord *r, const Wishes *w, const SettingTable *t, const Drive *d,
                            unsigned backends, uint64_t kernel_usec);

/* Returns the timer of runtime PM, which needs no wish. */
SpinDown spin_down_by_kernel(const SettingTable *t, uint64_t usec);

#define SPIN_DOWN_TEXT_MAX (VALUE_TEXT_MAX + 64U)

/* Formats the timer for people: "20 min", "20 min, by the service", "15 min, by standby_z", "15 min, by autosuspend_delay". NULL: nothing
 * spins the drive down. */
const char *spin_down_format(const SpinDown *s, char buf[static SPIN_DOWN_TEXT_MAX]);

/* Formats the timer for comparison in state files: "service spindown_time 1200000000". NULL: nothing spins the drive
 * down. */
const char *spin_down_key(const SpinDown *s, char buf[static SPIN_DOWN_TEXT_MAX]);
