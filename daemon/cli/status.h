/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep status` shows, for other verbs to show, too. */

#include "records.h"
#include "verb.h"

/* How many settings are as wanted; "4 kept, 1 ignored", "none". */
size_t record_count_kept(const DriveRecord *r);
char *record_summarize(const DriveRecord *r); /* the caller frees it */

/* Says on stderr that there is no drive, or that no rule is for any of the first `n`, where it is so. */
void status_tell_nothing(const Records *records, size_t n);

/* To stdout, of the first `n` records; `now` is CLOCK_REALTIME in µs. Below the table stand notes, one line per reason
 * and per drive that is not idle: what the table has no room for. Returns EXIT_WANTED or EXIT_NOT_WANTED. */
ExitStatus status_print(const Records *records, size_t n, uint64_t now, bool json);
