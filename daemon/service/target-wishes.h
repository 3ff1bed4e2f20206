/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The settings that a drive should have now: the settings in the configuration, overridden by temporary values. */

#include "target.h"

/* Determines the wishes. The caller frees *ret. */
int target_find_wishes(const Target *t, Wishes *ret);

/* Updates Target.wishes. Returns 1 if the wishes changed. */
int target_resolve(Target *t);

/* Logs settings that no rule names any longer. Users may expect that removing a key resets the setting, but the drive keeps the value. */
void target_log_unmanaged(const Target *t);

/* Logs that target_resolve() failed, and that the previous wishes stay in force. */
void target_log_unresolved(const Target *t, int error);
