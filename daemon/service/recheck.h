/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What no event reports: that a drive with deferred settings is active again, or was resumed by the kernel, and that a setting has
 * drifted. Reads the kernel's counters only; no timer runs while nothing is deferred and no recheck is configured. */

#include "manager.h"

typedef struct Recheck Recheck;

int recheck_new(sd_event *event, Manager *m, Recheck **ret);
Recheck *recheck_free(Recheck *p);
DEFINE_CLEANUP(Recheck *, recheck_free);

/* A drive has no visit: polls it until it is active, if it has deferred settings. */
void recheck_visit_finished(Recheck *p, const Target *t);

/* How often to recheck, from now on; 0: never. */
void recheck_every(Recheck *p, uint64_t usec);
