/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Temporary values (core/temporary.h), which override the configuration until the next boot, or while the client that
 * set them is connected. Afterwards the drive gets the value of the configuration, or its previous value. A temporary
 * value is stored in a file in /run before it is written to the drive, so that the next run of the service can restore
 * the previous value. */

#include "target.h"

extern const TargetPart temporary_part;

/* Sets a value for as long as `client` is connected, and keeps other values that the same client has set. Requests a
 * visit. `before` is the value to restore. Returns 0 or a negative errno. Like target_temporary_try() and
 * target_temporary_undo(), sets `error` if the request is invalid or the values cannot be saved. */
int target_temporary_set(Target *t, const sd_bus *client, const char *setting, const char *value, const char *before,
                         sd_bus_error *error);

/* Ends the values of this client. Does nothing if another client set the values. */
void target_temporary_end(Target *t, const sd_bus *client);

/* Sets values until the next boot, all of them or none. `values` is a NULL-terminated list with three texts per
 * setting: its name, the value and the previous value ("": not known). If a setting already has a temporary value, its
 * stored previous value stays. */
int target_temporary_try(Target *t, char *const *values, bool allow_dangerous, bool wake, sd_bus_error *error);

/* Ends the value that target_temporary_try() set for `setting`, or all such values if `setting` is NULL. Then restores
 * the previous value if it is known, and if the drive may have accepted the temporary value. */
int target_temporary_undo(Target *t, const char *setting, sd_bus_error *error);

/* Returns true if a temporary value has ended, and its previous value is not restored yet. */
bool target_temporary_returns(const Target *t);

/* Returns true if another visit should try to restore a previous value. Must be called once after each visit: each call counts as an
 * attempt. */
bool target_temporary_must_retry(Target *t);

/* Overrides the wishes in `w`, which come from the configuration, by the temporary values. */
int target_temporary_overlay(const Target *t, Wishes *w);

/* Called for each verdict: notes whether the drive accepted a temporary value, or has its previous value again. */
void target_temporary_step(Target *t, const Step *s);

/* Called at the end of a visit: drops temporary values whose previous values are restored. Returns true if a value was
 * dropped. */
bool target_temporary_ended(Target *t);
