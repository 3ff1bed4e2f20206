/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Is a disk a member of an array that can do without it? From sysfs, and what udev found on the disk and its partitions.
 * The answer changes while a machine boots: nothing is remembered. */

#include "macro.h"

/* Where to look: classdir is /sys/class/block, btrfsdir /sys/fs/btrfs, or a test's own trees. */
typedef struct RaidLookup {
        const char *classdir, *btrfsdir;

        /* A udev property of a block device, by its kernel name; NULL: it has none. Valid until the next call. */
        const char *(*property)(void *userdata, const char *name, const char *key);
        void *userdata;
} RaidLookup;

/* `name`: of a whole disk; `above`: its partitions, and what is stacked on both (stack_above()). */
bool raid_has_member(const RaidLookup *l, const char *name, char *const *above);
