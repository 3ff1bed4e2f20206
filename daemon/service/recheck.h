/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Polls for two changes that cause no event: a drive with deferred settings became active or was resumed by the kernel,
 * and a setting drifted. The polls read only the kernel's counters. Timers run only while settings are deferred or
 * rechecks are configured. */

#include "manager.h"

typedef struct Recheck Recheck;

/* `kernel_logs`: the service reads the kernel log, so drives whose resume the kernel logs are not polled (link-watch.h). */
int recheck_new(sd_event *event, Manager *m, bool kernel_logs, Recheck **ret);
Recheck *recheck_free(Recheck *p);
DEFINE_CLEANUP(Recheck *, recheck_free);

/* Called when a visit ended: if the drive has deferred settings, polls the drive until it is active. */
void recheck_visit_finished(Recheck *p, const Target *t);

/* Sets the interval of rechecks in µs; 0: never. */
void recheck_every(Recheck *p, uint64_t usec);
