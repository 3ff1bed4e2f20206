/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep wakes` says of the records beside what stands in them. */

#include "wake-records.h"

/* One sentence, without a capital and a full stop: what the user can do about it. NULL: nothing is known of who did it. */
const char *wake_advice(const WakeRecord *w);

/* One row for each who woke drives, as often as they did, the worst first. */
void wake_summary_print(const WakeRecords *records, uint64_t now, bool json);
