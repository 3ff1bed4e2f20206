/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What became of some drives, in one line: "6 drives, 10 settings kept, 1 refused". The service sends it to systemd, and the command
 * prints the same of the state files. Pure. */

#include "record.h"

typedef struct RecordSum {
        size_t n_drives;
        size_t n_kept;                     /* settings that are as wanted */
        size_t n_missed[_VERDICT_MAX + 1]; /* those that did not come true; the last one: no verdict yet */
        size_t n_absent;                   /* what the drives do not have, and need not have */
        size_t n_visits;                   /* drives that are being visited, or about to be … */
        size_t n_waiting;                  /* … or that wait for something */
} RecordSum;

void record_sum_add(RecordSum *s, const DriveRecord *r);

/* How many did not come true. */
size_t record_sum_missed(const RecordSum *s);

/* The line. The caller frees it. -ENOMEM. */
int record_sum_format(const RecordSum *s, char **ret);

/* Of the settings alone: "4 kept, 1 ignored", or "none". The caller frees it. -ENOMEM. */
int record_sum_format_settings(const RecordSum *s, char **ret);
