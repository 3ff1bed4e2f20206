/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values that the drive has while somebody measures it (`drivekeep tune`). They are in force as long as the connection lives over
 * which they were asked for, in place of what the files want; then the drive gets back what it had before. That stands in the drive's
 * record, so that the next run of the daemon sets the drive back if this one is killed. */

#include "target.h"

extern const TargetPart held_part;

/* Has the drive hold the value, beside others that the same holder has it hold, and sees to it that it gets `before` back, where the files want nothing else. Begins a visit if the
 * drive is wanted otherwise now. Returns 0, or a negative errno, with a sentence in `error` where the caller is to blame. */
int target_hold(Target *t, const sd_bus *holder, const char *setting, const char *value, const char *before,
                sd_bus_error *error);

/* The holder wants no more of them. Of another connection: nothing is done. */
void target_let_go(Target *t, const sd_bus *holder);

/* Nobody holds it any more, and no visit has said yet that the drive has again what it had before. */
bool target_held_returns(const Target *t);

/* Asked after a visit that could not say so: is there to be one more? */
bool target_held_again(Target *t);

/* Puts them into the place of what the files want. */
int target_held_overlay(const Target *t, Wishes *w);

/* A setting has its verdict. */
void target_held_told(Target *t, const Step *s);

/* The visit is over: returns true when nothing is held or to be set back any more, and was until now. */
bool target_held_ended(Target *t);
