/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The write cache has two states: whether it is on in the drive, and whether the kernel believes that. A kernel that believes "write
 * through" sends no flushes: if the cache is on all the same, data is lost when the power fails. */

#include "device.h"

#define CACHE_WRITE_BACK "write back"
#define CACHE_WRITE_THROUGH "write through"
extern const ValueWord cache_words[];

/* What the kernel believes: 1 that there is a cache to flush, 0 that there is none, negative when it does not say. Both its
 * places count, the SCSI disk's cache_type and the queue's write_cache: one "write through" among them is a 0. */
int cache_kernel_view(Device *d);

/* The end of a reading of the drive's own cache: one that the kernel does not know of loses data when the power goes. That is not
 * "on", so that it is written again. Returns 0. */
int cache_check_kernel_view(Device *d, Reading *r);

/* The drive has just taken the command that turns its cache on or off. Sends what must go with that, without asking the gate between:
 * flushes what the kernel will not flush, or did not while the cache was on and unknown to the kernel (`was_unknown`), and waits
 * until the kernel has seen the change. -ETIME: it goes on believing that there is none over a cache that is on. */
int cache_settle(Device *d, bool enabled, bool was_unknown, int (*flush)(Device *d));

/* The end of the step after that, when the caller has turned the cache off again: the error, with its sentence. */
int cache_fail_turned_off(Device *d);

/* The rows that set what the kernel believes, by one of its files; `detail` is a SysfsAttribute. "write through" is written,
 * and taken for what is wanted, only where the drive says that its cache is off: asks the drive, but wakes none. Where the
 * cache turns out to be on, the kernel is told so. */
int cache_view_read(Device *d, const Setting *s, Reading *ret);
extern const Remedy drive_cache_remedy;
int cache_view_write(Device *d, const Setting *s, const Value *v);
