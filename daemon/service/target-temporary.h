/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values that the drive has for a while in place of what the files want (core/temporary.h): until the next boot, or as long as the
 * connection lives over which they were asked for. Then the drive gets back what it had before, where the files want nothing else. All
 * is in the drive's file before the drive gets it, so that the next run of the service goes on. */

#include "target.h"

extern const TargetPart temporary_part;

/* Sets the value, beside others of the same holder. Begins a visit if the drive is wanted otherwise now. Returns 0, or a negative errno,
 * with a sentence in `error` where the caller is to blame; so do target_temporary_try() and target_temporary_undo(). */
int target_temporary_set(Target *t, const sd_bus *holder, const char *setting, const char *value, const char *before,
                         sd_bus_error *error);

/* Ends the values of this holder. Of another connection: nothing is done. */
void target_temporary_end(Target *t, const sd_bus *holder);

/* Sets values until the next boot, all of them or none. `values`: setting, value, and value before ("": not known), and so on; NULL at
 * the end. What the drive had before an earlier try stays what it had before. */
int target_temporary_try(Target *t, char *const *values, bool allow_dangerous, bool wake, sd_bus_error *error);

/* Ends what is tried; NULL: all of it. The drive gets back what it had, unless the value has not reached it, or nobody knows what it
 * had. */
int target_temporary_undo(Target *t, const char *setting, sd_bus_error *error);

/* Has a value ended, of which the visits go on until the drive has again what it had before? */
bool target_temporary_returns(const Target *t);

/* Asked after a visit that could not set it back: must there be one more? */
bool target_temporary_must_retry(Target *t);

/* Puts them into the place of what the files want. */
int target_temporary_overlay(const Target *t, Wishes *w);

/* A setting has its verdict. */
void target_temporary_step(Target *t, const Step *s);

/* The visit is over: returns true when something is back that was not until now. */
bool target_temporary_ended(Target *t);
