/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Temporary values (core/temporary.h), which override the files until the next boot, or while the client that set them is connected.
 * Afterwards the drive gets the value of the files, or its previous value. A temporary value is stored in a file in /run before it is
 * written to the drive, so that the next run of the service can restore the previous value. */

#include "target.h"

extern const TargetPart temporary_part;

/* Sets a value for as long as `client` is connected, in addition to other values of the same client. Requests a visit. `before` is the
 * value to restore. Like target_temporary_try() and target_temporary_undo(), returns 0 or a negative errno, and sets `error` if the request
 * is invalid. */
int target_temporary_set(Target *t, const sd_bus *client, const char *setting, const char *value, const char *before,
                         sd_bus_error *error);

/* Ends the values of this client. Does nothing if another client set the values. */
void target_temporary_end(Target *t, const sd_bus *client);

/* Sets values until the next boot, all of them or none. `values` is a NULL-terminated list of setting, value and previous value ("": not
 * known). If a setting already has a temporary value, the previous value that was stored with it stays. */
int target_temporary_try(Target *t, char *const *values, bool allow_dangerous, bool wake, sd_bus_error *error);

/* Ends the value that target_temporary_try() set for `setting`, or all such values if `setting` is NULL. Restores the previous value,
 * unless the temporary value was never written to the drive, or the previous value is not known. */
int target_temporary_undo(Target *t, const char *setting, sd_bus_error *error);

/* Returns true if a value has ended, and its previous value is not restored yet. */
bool target_temporary_returns(const Target *t);

/* Returns true if another visit should try to restore a value. Must be called once after each visit: each call counts as an attempt. */
bool target_temporary_must_retry(Target *t);

/* Replaces the wishes of the files by the temporary values. */
int target_temporary_overlay(const Target *t, Wishes *w);

/* Handles the verdict of a setting. */
void target_temporary_step(Target *t, const Step *s);

/* Called at the end of a visit: drops values that are restored. Returns true if a value was dropped. */
bool target_temporary_ended(Target *t);
