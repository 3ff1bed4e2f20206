/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the stack of block devices from sysfs (holders/ and slaves/): partitions, md, LVM, dm-crypt, bcache. Names are kernel names;
 * `classdir` is /sys/class/block or a test directory. Results are not cached, because the stack changes during boot. */

#include <sys/types.h>

#include "macro.h"

/* A NULL-terminated array of unique kernel names. */
char **names_free(char **names);
DEFINE_CLEANUP(char **, names_free);
bool names_contain(char *const *names, const char *name);
int names_add(char ***names, const char *name); /* returns 0 or -ENOMEM */

/* Reads the device number of a block device. The name "PARTITION/.." stands for the partition's disk. -ENODEV: no such device. */
int stack_number(const char *classdir, const char *name, unsigned *ret_major, unsigned *ret_minor);

/* Returns the block device that has this device number, such as st_dev of a file. -ENODEV: no such device, or the file system has no known
 * device (btrfs, ZFS). The caller frees *ret. */
int stack_name(dev_t number, char **ret);

/* Lists all devices stacked on a disk: partitions, their holders, and so on, without the disk itself. */
int stack_above(const char *classdir, const char *name, char ***ret);

/* Lists only the partitions of a disk. */
int stack_partitions(const char *classdir, const char *name, char ***ret);

/* Lists the whole disks below a block device. For a disk, lists the disk itself. */
int stack_disks_below(const char *classdir, const char *name, char ***ret);

/* Lists the whole disks that share an array, a volume or a mounted btrfs with this disk, including this disk. sysfs does not list the
 * members of ZFS pools. `btrfsdir` is /sys/fs/btrfs. */
int stack_group(const char *classdir, const char *btrfsdir, const char *name, char ***ret);

/* Reads the number N of "btrfs-N", the kernel's name for the writeback device of the mounted btrfs on this device (fs/btrfs/super.c).
 * -ENOENT: no such btrfs. */
int stack_btrfs(const char *btrfsdir, const char *name, unsigned *ret);

/* Returns true if the block device belongs to the parent device (a partition's disk, a SCSI device, an NVMe controller). `syspath` and
 * `device_syspath` are paths below /sys/devices. With NVMe multipath, a disk belongs to an NVMe subsystem, which links to each
 * controller. */
bool stack_belongs_to(const char *syspath, const char *device_syspath);

/* Finds the lowest SCSI host in a path below /sys/devices: *ret points to its name ("host3") in the path. Returns the length of the
 * name; 0: no host. */
size_t stack_scsi_host(const char *syspath, const char **ret);

/* Finds the lowest SCSI host in the path, and reads the host's attribute `name` as attribute_read() does. -ENOENT: no host. */
int stack_scsi_host_read(const char *syspath, const char *name, char *buf, size_t size);

/* Finds the bay of a disk: the component of an enclosure with SCSI Enclosure Services (drivers/scsi/ses.c). *ret is the component's
 * directory below /sys/class/enclosure, such as "0:0:24:0/Slot 04". -ENOENT: no known bay. `syspath` is the disk's directory. */
int stack_bay(const char *syspath, char **ret);

/* Returns true if the device has holders, and all of them are among `known`. Partitions do not count as holders. */
bool stack_has_holders(const char *classdir, const char *name, char *const *known);

/* Returns true if the device is an array that survives the loss of a member (md, LVM), or a member of such an array (btrfs, ZFS). Reads
 * sysfs. `fs_type` is udev's ID_FS_TYPE, or NULL. `btrfsdir` is /sys/fs/btrfs. To check a whole disk, the caller must call the function
 * for the disk and for each device stacked on the disk. */
bool stack_is_raid_member(const char *classdir, const char *btrfsdir, const char *name, const char *fs_type);
