/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the data of drives and processes for the tracer, from /proc and sysfs. */

#include "drive.h"
#include "waker.h"

/* Reads the drive's device number, its SCSI address and the devices stacked on the drive. Returns -ENODEV if the drive is not a SCSI disk.
 * `classdir`, `btrfsdir`: as in stack.h. */
int watch_drive_read(const char *classdir, const char *btrfsdir, const Drive *d, WatchDrive *ret);

/* Implements ProcessLookup. */
int process_lookup(void *userdata, pid_t tid, WakeProcess *ret, bool *ret_kernel);

/* Like process_lookup(), but reads `proc` instead of /proc, and does not read the process's unit. Exported for tests. */
int process_lookup_at(const char *proc, pid_t tid, WakeProcess *ret, bool *ret_kernel);

/* Finds swap space on the drive: ranges of the drive's own sectors, and devices stacked on the drive. `swaps`: the path of /proc/swaps;
 * `classdir`: as in stack.h. */
void process_find_swap(const char *swaps, const char *classdir, Watch *w);
