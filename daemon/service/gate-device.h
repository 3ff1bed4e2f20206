/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the gate knows of the block devices that a survey is about: what udev said of each when the survey began, and what
 * PID 1 says of it in the survey. */

#include "inventory.h"
#include "pid1.h"

typedef struct GateDevice {
        char *name;
        char *unit; /* its device unit; NULL: PID 1 makes none of it */
        Readiness ready;
        int error; /* < 0: udev could not be asked; -ENODEV: there is no such device any more */
} GateDevice;

typedef struct GateDevices {
        GateDevice *items;
        size_t n_items;
} GateDevices;

/* The disk and all that lies on it. */
int gate_devices_add(GateDevices *d, const char *disk);
void gate_devices_done(GateDevices *d);

/* The units, for pid1_survey(): the array is the caller's, the names are not. */
int gate_devices_units(const GateDevices *d, char ***ret);

/* Are the disk and all its parts known to udev and PID 1? Jobs for checks come only then. `above`: stack_above(). */
bool disk_is_settled(const GateDevices *d, const Survey *s, const char *disk, char *const *above);

/* Does this check lie on the disk, or may it, for all that is known? */
bool unit_covers(const GateDevices *d, const Survey *s, const FsckUnit *u, const char *disk, char *const *above);
