/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the tracer needs to know of drives and processes, from /proc and sysfs. */

#include "drive.h"
#include "waker.h"

/* The drive's number, its SCSI address and what lies on it. -ENODEV: it is no SCSI disk. `classdir`, `btrfsdir`: as in stack.h. */
int watch_drive_read(const char *classdir, const char *btrfsdir, const Drive *d, WatchDrive *ret);

/* A ProcessLookup. */
int process_lookup(void *userdata, pid_t tid, WakeProcess *ret, bool *ret_kernel);

/* The same below another directory than /proc, and without systemd's unit. Exported for tests. */
int process_lookup_at(const char *proc, pid_t tid, WakeProcess *ret, bool *ret_kernel);

/* Which sectors of the drive, and which devices that lie on it, are swap space now. `swaps`: /proc/swaps; `classdir`: as in
 * stack.h. */
void process_find_swap(const char *swaps, const char *classdir, Watch *w);
