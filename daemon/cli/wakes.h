/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep wakes` says of the records beside what stands in them. */

#include "wake-records.h"

/* wake-summary.c. One sentence, without a capital and a full stop: what the user can do about it. NULL: nothing is known of who did
 * it. */
const char *wake_advice(const WakeRecord *w);

/* One row for each who woke drives, as often as they did, the worst first. */
void wake_summary_print(const WakeRecords *records, uint64_t now, bool json);

/* Only a search of the file systems finds the files of recorded inodes, and the search wakes the drive. So its command is shown, and
 * never run: the find(1) command for these inodes, on the drive's mounted file systems. `drive`: kernel name; NULL: the drive is not
 * present. `mountinfo`: as /proc/self/mountinfo; `classdir`: as in stack.h. */
char *wake_find_command(const char *mountinfo, const char *classdir, const char *drive, const uint64_t *inodes,
                        size_t n_inodes);
