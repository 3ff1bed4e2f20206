/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads and prints the programs that keep a drive from its spin-down, and the remedies. */

#include "changed-file.h"
#include "output.h"
#include "records.h"
#include "wake-records.h"

/* Reads the programs that now keep the drive active from the journal, most uses first. Returns none if the drive was in standby
 * after the count, if the service does not run, or if this user may not read the journal. `r`: NULL if the drive is not attached. */
void kept_read(const Records *records, const DriveRecord *r, WakeRecords *ret);

/* Formats a program: "smartctl (smartd.service) sent SMART READ DATA, every 15 s". */
char *kept_format(const WakeRecord *w);

/* Returns a remedy, as a clause, or NULL if none is known. */
const char *kept_advice(const DriveRecord *r, const WakeRecord *w);

/* Adds the object "kept_active" to JSON; null if there are no such programs. */
void kept_print_json(Output *o, const DriveRecord *r, const WakeRecords *kept, const Records *records,
                     const ChangedFiles *files);
