/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The state files that the daemon leaves in /run/drivekeep/drives, all of them, in the order people count drives. */

#include "record.h"

typedef struct Records {
        DriveRecord **items;
        size_t n_items;
        size_t n_damaged; /* files that could not be read or understood; said on stderr */
        bool served;      /* the service runs, and keeps them up to date */
} Records;

/* -ENOENT: there is no such directory, so the service has not run in this boot. */
int records_read(const char *dir, Records *ret);
void records_done(Records *r);

/* What the service has found out about drives behind USB bridges, which udev knows by their bridges only. */
void records_reveal(const Records *r, Drive *const *drives, size_t n);

/* NULL: there is none. */
DriveRecord *records_find(const Records *r, const char *name);

/* The same, of this attach of the drive. The directory does not outlive a boot. */
const DriveRecord *records_of(const Records *r, const Drive *drive);
