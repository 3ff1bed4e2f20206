/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Lists the machine's drives from udev's database. Only inventory.c and the service's monitor use libudev. */

#include "drive.h"

struct udev_device;

#define INVENTORY_CLASSDIR "/sys/class/block"
#define INVENTORY_BTRFSDIR "/sys/fs/btrfs"

typedef struct Inventory {
        GROWING_ARRAY(Drive *, drives);
} Inventory;

/* Reads all drives that udev has processed, in natural order of their names (sda, sdb, …, sdaa). */
int inventory_read(Inventory *ret);
void inventory_done(Inventory *i);

/* Returns true if drivekeep manages this kind of device. */
bool inventory_is_drive(struct udev_device *device);

/* Reads the drive's current identity, and all links to the drive, to its partitions and to the devices stacked on the drive. */
int inventory_drive(struct udev_device *device, Drive **ret);
int inventory_drive_by_name(const char *name, Drive **ret); /* -ENODEV: udev has processed no drive of that name */

/* State of one block device (disk, partition, md or dm) in udev and systemd. */
typedef struct Readiness {
        bool initialized; /* udev has processed the device */
        bool ready;       /* the device may be used (SYSTEMD_READY is not 0) */
        bool plugged;     /* PID 1 has a device unit for the device */
        bool container;   /* holds LUKS, LVM or RAID: further devices may be stacked on the device later */
} Readiness;

int inventory_readiness(const char *name, Readiness *ret); /* -ENODEV: no such device */
