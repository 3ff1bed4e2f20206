/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Creates, updates and frees a Target with its parts. */

#include "target.h"

/* Creates the Target of a drive. Takes ownership of `drive`, except after an error. If an earlier run of the service
 * managed the drive, and the drive has stayed attached since then, reads the record from the drive's state file. */
int target_new(const TargetEnv *env, Drive *drive, Target **ret);
Target *target_free(Target *t);

/* Replaces the description of the drive by the description in a later udev event. Takes ownership of `drive`. */
int target_adopt(Target *t, Drive *drive);

/* Calls TargetPart.attach of each part. */
int target_attach_parts(Target *t, bool again);

/* Called when the drive was unplugged: reports the removal as the verdict of each setting that has no verdict yet. */
void target_detach(Target *t);
