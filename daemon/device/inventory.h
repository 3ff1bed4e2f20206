/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The machine's drives, as udev knows them. inventory.c and the service's monitor are the only users of libudev. */

#include "drive.h"

struct udev_device;

#define INVENTORY_CLASSDIR "/sys/class/block"
#define INVENTORY_BTRFSDIR "/sys/fs/btrfs"

typedef struct Inventory {
        GROWING_ARRAY(Drive *, drives);
} Inventory;

/* All drives that udev has processed, sorted by name in the order people count (sda, sdb, …, sdaa). */
int inventory_read(Inventory *ret);
void inventory_done(Inventory *i);

/* Is this device one that drivekeep looks after? */
bool inventory_is_drive(struct udev_device *device);

/* Its identity as of now, with all links: its own, its partitions' and those of what is stacked on it. */
int inventory_drive(struct udev_device *device, Drive **ret);
int inventory_drive_by_name(const char *name, Drive **ret); /* -ENODEV: udev has processed none of that name */

/* How far udev and the file systems' tools are with one block device (a disk, partition, md or dm). */
typedef struct Readiness {
        bool initialized; /* udev has processed it */
        bool ready;       /* nobody says that it is not to be used yet (SYSTEMD_READY=0) */
        bool plugged;     /* PID 1 makes a device unit of it */
        bool container;   /* holds LUKS, LVM or RAID: more may come to lie on it */
} Readiness;

int inventory_readiness(const char *name, Readiness *ret); /* -ENODEV: there is no such device any more */
