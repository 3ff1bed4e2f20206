/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One visit to a drive, from beginning to end: selects the settings, starts the worker, and logs and records its reports. */

#include "target.h"

/* Begins a visit for the pending work, if the drive may be visited and there is something to do. The drive must have no current visit. */
int target_begin(Target *t);

/* Starts the worker of a visit that is ready. Returns -ESHUTDOWN if broker_fork() does. */
int target_work(Target *t);

/* Withdraws a visit that has no worker yet, and makes its work pending again. */
void target_withdraw(Target *t);

/* Called when the drive was unplugged: reports the removal as the verdict of each setting that has no verdict yet. Does
 * not wait for the worker, which ends by itself. */
void target_abandon(Target *t);

/* Frees the data of the current visit. */
void target_visit_free(Target *t);
