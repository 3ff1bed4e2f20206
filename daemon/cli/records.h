/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* All state files of the daemon in /run/drivekeep/drives, in the order of drive names. */

#include "inventory.h"
#include "drive-record.h"
#include "verb.h"

typedef struct Records {
        DriveRecord **items;
        size_t n_items;
        size_t n_damaged; /* number of unreadable files; each is reported on stderr */
        bool served;      /* the service runs and updates the files */
        uint64_t changed; /* time of the last change: CLOCK_REALTIME, µs */
} Records;

/* Returns -ENOENT if the directory does not exist: the service has not run since boot. */
int records_read(const char *dir, Records *ret);
void records_done(Records *r);

/* Reads the attached drives and the records. For a drive behind a USB bridge, udev has the properties of the bridge: the properties of
 * the drive come from its record. Returns 0, also after it has reported unreadable records, or a negative errno. */
int records_read_drives(const char *dir, Inventory *ret_inventory, Records *ret);

/* Returns the record of this name, or NULL. */
DriveRecord *records_find(const Records *r, const char *name);

/* Returns the record of the drive since the drive was attached, or NULL. The record is of this boot, since /run does not survive a
 * reboot. */
const DriveRecord *records_of(const Records *r, const Drive *drive);

/* Returns what spins the drive down, and when. Returns NULL if nothing does, if `record` is NULL, or if the service spins the drive down
 * and does not run. */
const char *records_spindown(const Records *r, const DriveRecord *record);
