/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How block devices lie on each other: partitions, md, LVM, dm-crypt, bcache, from sysfs (holders/ and slaves/). Names are
 * kernel names; `classdir` is /sys/class/block, or a test's own tree. The stack changes while a machine boots: nothing is
 * remembered. */

#include <sys/types.h>

#include "macro.h"

/* A NULL-terminated array of kernel names, each once. */
char **names_free(char **names);
DEFINE_CLEANUP(char **, names_free);
bool names_contain(char *const *names, const char *name);
int names_add(char ***names, const char *name); /* returns 1 when it is new */

/* The number of a block device; a partition's disk has the name "PARTITION/..". -ENODEV: there is no such device. */
int stack_number(const char *classdir, const char *name, unsigned *ret_major, unsigned *ret_minor);

/* The block device of that number, as st_dev has it of what is on a file system. -ENODEV: there is none, or the file system is on some
 * that nobody can tell (btrfs, ZFS). The caller frees *ret. */
int stack_name(dev_t number, char **ret);

/* Everything on top of a disk: its partitions, their holders, and so on. The disk itself is not in it. */
int stack_above(const char *classdir, const char *name, char ***ret);

/* The partitions of a disk alone. */
int stack_partitions(const char *classdir, const char *name, char ***ret);

/* The whole disks below a block device: itself when it is one. */
int stack_disks_below(const char *classdir, const char *name, char ***ret);

/* The whole disks that have something in common with this one: an array, a volume, or a btrfs that is mounted. Itself is among them.
 * What the members of a pool of ZFS are sysfs does not tell. `btrfsdir` is /sys/fs/btrfs. */
int stack_group(const char *classdir, const char *btrfsdir, const char *name, char ***ret);

/* Of a mounted btrfs that this very device is part of: the number by which the kernel names it where files are written out, N of
 * "btrfs-N" (fs/btrfs/super.c). -ENOENT: there is none. */
int stack_btrfs(const char *btrfsdir, const char *name, unsigned *ret);

/* Does this block device hang on that device (a partition's disk, a SCSI device, an NVMe controller)? Both are paths below
 * /sys/devices. With NVMe multipath a disk hangs on its subsystem, which has a link to each controller. */
bool stack_hangs_on(const char *syspath, const char *device_syspath);

/* The SCSI host in a path below /sys/devices, the lowest one: its name ("host3"), at *ret in the path. Returns its length; 0:
 * the path has none. */
size_t stack_scsi_host(const char *syspath, const char **ret);

/* The first line of an attribute of that host, as attribute_read() reads one; without a host -ENOENT. */
int stack_scsi_host_read(const char *syspath, const char *name, char *buf, size_t size);

/* Is anything stacked on this very device (a holder; partitions do not count), and only what is among `known`? */
bool stack_has_holders(const char *classdir, const char *name, char *const *known);

/* Is this very device an array that can do without one of its members (md, LVM), or a member of one (btrfs, ZFS)? From sysfs, and
 * from what udev found on it: `fs_type`, its ID_FS_TYPE, or NULL. A disk is a member where this holds for itself, or for anything
 * above it. `btrfsdir` is /sys/fs/btrfs. */
bool stack_is_raid_member(const char *classdir, const char *btrfsdir, const char *name, const char *fs_type);
