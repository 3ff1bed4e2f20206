/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a drive should have now: what the files in force want of it, and over that the temporary values. */

#include "target.h"

/* The caller frees *ret. */
int target_find_wishes(const Target *t, Wishes *ret);

/* Takes the wishes that hold now. Returns 1 when they are others than before. */
int target_resolve(Target *t);

/* Logs the settings that no rule names any more: a key that was taken out leaves the drive as it is, which its user may not expect. */
void target_log_unmanaged(const Target *t);

/* Nothing is as it should be, and why: the wishes of before stay in force. */
void target_log_unresolved(const Target *t, int error);
