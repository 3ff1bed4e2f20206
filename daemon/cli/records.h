/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads all state files of the daemon in /run/drivekeep/drives, in the order of drive names. */

#include "inventory.h"
#include "drive-record.h"
#include "standby-timer.h"
#include "verb.h"

typedef struct Records {
        DriveRecord **items;
        size_t n_items;
        size_t n_damaged; /* number of unreadable files; each is reported on stderr */
        bool served;      /* the service runs and updates the files */
        uint64_t changed; /* when the service last wrote or removed a state file; CLOCK_REALTIME, µs */
} Records;

/* Reads all records in the directory. Returns -ENOENT if the directory does not exist, which means that the service has not run since
 * boot. */
int records_read(const char *dir, Records *ret);
void records_done(Records *r);

/* Returns an inotify(7) descriptor that is readable after the service has changed or removed a record, or has ended. */
int records_watch(const char *dir, int *ret_fd);

/* Reads the attached drives and the records. For a drive behind a USB bridge, udev has only the properties of the bridge, so the drive's
 * properties are taken from the drive's record. Returns 0, also after it has reported unreadable records, or a negative errno. */
int records_read_drives(const char *dir, Inventory *ret_inventory, Records *ret);

/* Takes the properties of each drive behind a USB bridge from the drive's record. */
void records_reveal_drives(const Records *r, Inventory *inventory);

/* Returns the record of this name, or NULL. */
DriveRecord *records_find(const Records *r, const char *name);

/* Returns the drive's record, or NULL if the service has written no record since the drive was attached. The record is of this boot, since
 * /run does not survive a reboot. */
const DriveRecord *records_of(const Records *r, const Drive *drive);

/* The power mode of a drive, without a command to the drive. */
typedef struct KnownPower {
        PowerMode mode;
        uint64_t since; /* time at which the drive was first found in this mode; CLOCK_REALTIME, µs; 0: not known */
        uint64_t as_of; /* time at which the drive was last found in this mode; CLOCK_REALTIME, µs; 0: never */
} KnownPower;

/* Returns the power mode of drive `name` from its record and from sysfs, where the kernel shows whether the drive is runtime-suspended.
 * `served`: the service runs and updates the record. `record` is NULL if the drive has none. */
KnownPower records_power(bool served, const char *name, const DriveRecord *record, uint64_t now);

/* Returns what spins the drive down, and when. Returns NULL if nothing spins the drive down. The service's own timer counts only while the
 * service runs. Runtime PM is read from sysfs, since any program can set it. `record` is NULL if the drive has none. */
const char *records_spindown(const Records *r, const Drive *d, const DriveRecord *record,
                             char buf[static SPIN_DOWN_TEXT_MAX]);
