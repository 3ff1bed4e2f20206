/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is known of the block devices that a question to PID 1 is about: what udev said of each when PID 1 was asked, and what PID 1
 * answered. */

#include "inventory.h"
#include "pid1.h"

typedef struct FsckDevice {
        char *name;
        char *unit; /* its device unit; NULL: PID 1 makes none of it */
        Readiness ready;
        bool gone; /* there is no such device any more */
} FsckDevice;

typedef struct FsckDevices {
        FsckDevice *items;
        size_t n_items;
} FsckDevices;

/* The disk and all that lies on it. */
int fsck_devices_add(FsckDevices *d, const char *disk);
void fsck_devices_done(FsckDevices *d);

/* The units, for pid1_ask_fsck_status(): the array is the caller's, the names are not. */
int fsck_devices_units(const FsckDevices *d, char ***ret);

/* Are the disk and all its parts known to udev and PID 1? Jobs for checks come only then. `above`: stack_above(). */
bool disk_is_settled(const FsckDevices *d, const FsckStatus *s, const char *disk, char *const *above);

/* Does this check lie on the disk, or may it, for all that is known? */
bool unit_covers(const FsckDevices *d, const FsckStatus *s, const FsckUnit *u, const char *disk, char *const *above);
