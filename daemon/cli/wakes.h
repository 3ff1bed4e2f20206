/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Printing of wakes, and advice and summary for `drivekeep wakes`. */

#include "output.h"
#include "wake-records.h"

/* Adds the program of a record and its access to the open object or row. */
void wake_print_access(Output *o, const WakeRecord *w);

/* Adds the waker of a record to the open row. All values are null if the record is not of a wake. */
void wake_print(Output *o, const WakeRecord *w);

/* Returns the identity of the waker: the unit, or the process or kernel thread if the unit does not identify the waker. Returns NULL if the
 * record is not of a wake. Defined in wake-summary.c. */
const char *wake_waker(const WakeRecord *w);

/* Returns advice for the user, as one sentence without a capital and a full stop. Returns NULL if there is no advice. Defined in
 * wake-summary.c. */
const char *wake_advice(const WakeRecord *w);

/* Prints one row for each waker with the number of wakes, most wakes first. */
void wake_summary_print(const WakeRecords *records, bool json);
