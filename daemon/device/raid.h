/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "macro.h"

/* Is this block device, by its kernel name, a member of an array that can do without it? From sysfs, and from what udev
 * found on the device: `fs_type`, its ID_FS_TYPE, or NULL. A disk is one where itself is, a partition of it, or what is
 * stacked on both. The answer changes while a machine boots: nothing is remembered. classdir is /sys/class/block, btrfsdir
 * /sys/fs/btrfs, or a test's own trees. */
bool raid_is_member(const char *classdir, const char *btrfsdir, const char *name, const char *fs_type);
