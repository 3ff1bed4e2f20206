/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The results of some drives in one line: "6 drives, 10 settings kept, 1 refused". The service sends the line to systemd; the command
 * computes it from the state files. Pure. */

#include "drive-record.h"

typedef struct RecordSum {
        size_t n_drives;
        size_t n_kept;                     /* settings that are as wanted */
        size_t n_missed[_VERDICT_MAX + 1]; /* those that did not come true; the last one: no verdict yet */
        size_t n_absent;                   /* what the drives do not have, and need not have */
        size_t n_visits;                   /* drives with a visit under way or queued */
        size_t n_waiting;                  /* drives that wait for something (WaitKind) */
} RecordSum;

void record_sum_add(RecordSum *s, const DriveRecord *r);

/* The number of settings that did not come true. */
size_t record_sum_missed(const RecordSum *s);

#define RECORD_SUM_MAX 768U /* each number has 20 digits at most */

/* The line. */
const char *record_sum_format(const RecordSum *s, char buf[static RECORD_SUM_MAX]);

/* The part about settings alone: "4 kept, 1 ignored", or "none". */
const char *record_sum_format_settings(const RecordSum *s, char buf[static RECORD_SUM_MAX]);
