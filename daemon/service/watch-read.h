/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the tracer needs to know of drives and processes, from /proc and sysfs. */

#include "drive.h"
#include "waker.h"

/* Reads the drive's number, its SCSI address and the devices above it. -ENODEV: no SCSI disk. `classdir`, `btrfsdir`: as in stack.h. */
int watch_drive_read(const char *classdir, const char *btrfsdir, const Drive *d, WatchDrive *ret);

/* A ProcessLookup. */
int process_lookup(void *userdata, pid_t tid, WakeProcess *ret, bool *ret_kernel);

/* process_lookup() in another directory than /proc, and without the process's unit. Exported for tests. */
int process_lookup_at(const char *proc, pid_t tid, WakeProcess *ret, bool *ret_kernel);

/* Finds the sectors of the drive and the devices above it that are swap space. `swaps`: /proc/swaps; `classdir`: as in stack.h. */
void process_find_swap(const char *swaps, const char *classdir, Watch *w);
