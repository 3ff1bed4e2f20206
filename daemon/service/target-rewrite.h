/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Writes the current values of a drive again, to find out whether the drive accepts them (`drivekeep report --try`). The visit does not
 * change the recorded verdicts, since no rule sets these values. */

#include "target.h"

extern const TargetPart rewrite_part;

/* Requests a visit with VISIT_REWRITE. `values` is a NULL-terminated list with two texts per setting: its name and its value. Returns 0 or
 * a negative errno; sets `error` if a value must not be written, or if an earlier request has no answer yet. After success, call
 * target_rewrite_answer() as soon as target_rewrite_is_over() returns true. */
int target_rewrite(Target *t, char *const *values, sd_bus_error *error);

/* Adds the values to the wishes of a visit. Adds none if the visit has other work, which may change settings. */
int target_rewrite_select(const Target *t, VisitWork work, Wishes *selected);

/* Called for each verdict about a value. */
void target_rewrite_step(Target *t, const Step *s);

/* Returns true if the visit has ended, or must wait, such as for a file system check. */
bool target_rewrite_is_over(const Target *t);

/* Adds the results to the reply a(ssss): name of the setting, verdict, value after the write, reason. The values are not written any
 * more. */
int target_rewrite_answer(Target *t, sd_bus_message *reply);
