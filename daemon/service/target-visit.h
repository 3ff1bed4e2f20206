/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One visit to a drive, from its beginning to its end: what it is about, what its worker reports, and what of that is logged. */

#include "target.h"

/* Begins what is pending, where the drive may be visited and there is something to do. There is no visit yet. */
int target_begin(Target *t);

/* The visit is ready: gives it its worker. -ESHUTDOWN: the broker's socket is closed. */
int target_work(Target *t);

/* Ends a visit that has no worker yet; its work is pending again. */
void target_withdraw(Target *t);

/* The drive is gone: reports so of what was under way, and leaves a worker that is still at it to end by itself. */
void target_abandon(Target *t);

/* Frees what is left of it. */
void target_visit_free(Target *t);
