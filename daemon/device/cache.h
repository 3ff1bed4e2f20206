/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Keeps two states of the write cache consistent: whether it is on in the drive, and what the kernel assumes. A kernel that assumes
 * "write through" sends no flushes, and loses data on power loss if the cache is on. */

#include "device.h"

#define CACHE_WRITE_BACK "write back"
#define CACHE_WRITE_THROUGH "write through"
extern const ValueWord cache_words[];

/* Returns the kernel's assumption: 1 for a cache that needs flushes, 0 for none, negative if not known. Both attributes count, the SCSI
 * disk's cache_type and the queue's write_cache: 0 if either is "write through". */
int cache_kernel_view(Device *d);

/* Completes a reading of the drive's cache. Replaces "on" by another value if the kernel assumes write-through, so that the setting is
 * written again. Returns 0. */
int cache_check_kernel_view(Device *d, Reading *r);

/* Completes a command that turned the drive's cache on or off, without asking the gate in between. Flushes data that the kernel will not
 * flush, or did not flush while it assumed write-through (`was_unknown`). Waits until the kernel has noticed the change. -ETIME: the
 * cache is on, but the kernel still assumes write-through. */
int cache_settle(Device *d, bool enabled, bool was_unknown, int (*flush)(Device *d));

/* Returns the error, with a reason, of a step after -ETIME in which the caller turned the cache off again. */
int cache_fail_turned_off(Device *d);

/* Read and write functions of rows that set the kernel's assumption in one of its files; `detail` is a SysfsAttribute. "write through"
 * is written, and counts as applied, only if the drive reports that its cache is off. Sends a command to the drive, but does not spin it
 * up. Stores "write back" if the cache turns out to be on. */
int cache_view_read(Device *d, const Setting *s, Reading *ret);
extern const Remedy drive_cache_remedy;
int cache_view_write(Device *d, const Setting *s, const Value *v);
