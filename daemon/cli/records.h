/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The state files that the daemon leaves in /run/drivekeep/drives, all of them, in the order people count drives. */

#include "inventory.h"
#include "drive-record.h"
#include "verb.h"

typedef struct Records {
        DriveRecord **items;
        size_t n_items;
        size_t n_damaged; /* files that could not be read or understood; said on stderr */
        bool served;      /* the service runs, and keeps them up to date */
        uint64_t changed; /* when it wrote one of them last: CLOCK_REALTIME, µs */
} Records;

/* -ENOENT: there is no such directory, so the service has not run in this boot. */
int records_read(const char *dir, Records *ret);
void records_done(Records *r);

/* Reads the drives that are here, too. udev describes a USB bridge and not the drive behind it: that is as the service has found it. Returns
 * 0, also where records cannot be read, which is said, or a negative errno. */
int records_read_drives(const char *dir, Inventory *ret_inventory, Records *ret);

/* NULL: there is none. */
DriveRecord *records_find(const Records *r, const char *name);

/* The same, of this attach of the drive. The directory does not outlive a boot. */
const DriveRecord *records_of(const Records *r, const Drive *drive);

/* What spins the drive down, and when; NULL: nothing does now, or nobody knows it (record: NULL). */
const char *records_spindown(const Records *r, const DriveRecord *record);
