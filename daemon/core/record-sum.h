/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Summarizes the verdicts of several drives in one line: "6 drives, 10 settings kept, 1 refused". The service sends the
 * line to systemd; the command computes the line from the state files. */

#include "drive-record.h"

typedef struct RecordSum {
        size_t n_drives;
        size_t n_kept; /* settings with the wanted value; `standby` is not counted once the drive is active again */
        size_t n_missed[_VERDICT_MAX +
                        1]; /* settings without the wanted value, by verdict; last element: no verdict yet */
        size_t n_absent;    /* optional settings that the drives do not support */
        size_t n_visits;    /* drives with a visit under way or queued */
        size_t n_waiting;   /* drives whose visit is delayed (WaitKind) */
} RecordSum;

void record_sum_add(RecordSum *s, const DriveRecord *r);

/* Returns the number of settings that do not have the wanted value. */
size_t record_sum_missed(const RecordSum *s);

#define RECORD_SUM_MAX 768U /* each number has 20 digits at most */

/* Formats the summary line. */
const char *record_sum_format(const RecordSum *s, char buf[static RECORD_SUM_MAX]);

/* Formats only the numbers of settings: "4 kept, 1 ignored", or "none". */
const char *record_sum_format_settings(const RecordSum *s, char buf[static RECORD_SUM_MAX]);
