/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Creates the data that all drives share, with the list of parts. To add a part, write a new file, and add a line to
 * the list in target-env.c. */

#include "target.h"

/* Initializes `e`, in which the caller has set event, broker, files (ownership passes to `e`), events and userdata. The caller must call
 * target_env_done() also after an error. */
int target_env_init(TargetEnv *e);

/* Frees the drives and the members of `e`. */
void target_env_done(TargetEnv *e);
