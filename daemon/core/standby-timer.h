/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What spins a drive down after a time without use: the drive's own timer, the service or the kernel. Follows from the verdicts of the
 * drive's record, since what the files want may have been refused, forbidden or made another value. Pure. */

#include "drive-record.h"

#define SETTING_SPINDOWN_TIME "spindown_time"

typedef enum SpinDownActor {
        SPIN_DOWN_BY_DRIVE,
        SPIN_DOWN_BY_SERVICE,
        SPIN_DOWN_BY_KERNEL, /* runtime PM */
} SpinDownActor;

typedef struct SpinDown {
        uint64_t usec; /* UINT64_MAX: nothing does, and there is no `wish` */
        const Wish *wish;
        const Setting *setting;
        Value value; /* what is in force, which need not be what is wished for */
        SpinDownActor by;
        bool pending; /* wished for, and no verdict tells yet whether it is in force */
} SpinDown;

/* Does a drive with these backends (mask of 1 << Backend) spin, and tell whether it does? */
bool drive_can_sleep(const Drive *d, unsigned backends);

/* The shortest timer of the drive or the service; one in force goes before one that is pending. */
SpinDown spin_down_timer(const DriveRecord *r, const Wishes *w, const SettingTable *t, const Drive *d,
                         unsigned backends);

/* The same or the kernel's, if that is shorter; nothing that is pending. */
SpinDown spin_down_in_force(const DriveRecord *r, const Wishes *w, const SettingTable *t, const Drive *d,
                            unsigned backends);

#define SPIN_DOWN_TEXT_MAX (VALUE_TEXT_MAX + 64U)

/* For people: "20 min", "20 min, by the service", "15 min, by standby_z"; NULL: nothing spins it down. */
const char *spin_down_format(const SpinDown *s, char buf[static SPIN_DOWN_TEXT_MAX]);

/* For state files, to compare by: "service spindown_time 1200000000"; NULL: nothing spins it down. */
const char *spin_down_key(const SpinDown *s, char buf[static SPIN_DOWN_TEXT_MAX]);
