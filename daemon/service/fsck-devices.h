/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is known of a disk and of all that lies on it, for a question to PID 1: what udev said of each device when PID 1 was asked,
 * and what PID 1 answered. */

#include "inventory.h"
#include "pid1.h"

typedef struct FsckDevice {
        char *name;
        char *unit; /* its device unit; NULL: PID 1 makes none of it */
        Readiness ready;
        bool held; /* a container: something lies on it, and is one of these devices */
        bool gone; /* there is no such device any more */
} FsckDevice;

typedef struct FsckDevices {
        GROWING_ARRAY(FsckDevice, items); /* the disk itself is the first */
} FsckDevices;

/* `known`: of the disk itself, which udev need not be asked for then; enough to see whether it is settled. NULL: udev is asked. */
int fsck_devices_read(FsckDevices *d, const char *disk, const Readiness *known);
void fsck_devices_done(FsckDevices *d);

/* Are all of them known to udev and PID 1? Jobs for checks come only then. */
bool fsck_devices_settled(const FsckDevices *d, const FsckStatus *s);

/* Does this check lie on one of them, or may it, for all that is known? */
bool fsck_devices_covered(const FsckDevices *d, const FsckStatus *s, const FsckUnit *u);
