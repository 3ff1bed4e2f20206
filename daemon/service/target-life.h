/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A drive comes and goes, with its parts. */

#include "target.h"

/* Takes over `drive`. What an earlier run of the service knew of this attach of the drive is taken from its state file. */
int target_new(const TargetEnv *env, Drive *drive, Target **ret);
Target *target_free(Target *t);

/* The same drive, as a later event of udev describes it. Takes over `drive`. */
int target_adopt(Target *t, Drive *drive);

/* TargetPart.attach of each part. */
int target_attach_parts(Target *t, bool again);

/* The drive was unplugged: reports so of what was under way. */
void target_detach(Target *t);
