/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What all drives share: made once, with the list of the parts that each drive has. A new part is a file, and a line in that list. */

#include "target.h"

/* `e`: with the members that the caller knows: event, broker, files (taken over), events, userdata. After an error, too, call
 * target_env_done(). */
int target_env_init(TargetEnv *e);

/* Frees the drives, too. */
void target_env_done(TargetEnv *e);
