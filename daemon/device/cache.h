/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Keeps two states of the write cache consistent: whether it is on in the drive, and what the kernel assumes. A kernel that assumes
 * "write through" sends no flushes, and loses data on power loss if the cache is on. */

#include "device.h"

#define CACHE_WRITE_BACK "write back"
#define CACHE_WRITE_THROUGH "write through"
extern const ValueWord cache_words[];

/* Returns 1 if the kernel assumes that the cache needs flushes, 0 if not, negative if not known. Reads the SCSI disk's cache_type and the
 * queue's write_cache: a "write through" in either gives 0. */
int cache_kernel_view(Device *d);

/* Completes a reading of the drive's cache. Replaces "on" by another value if the kernel assumes write-through, so that the setting is
 * written again. Returns 0. */
int cache_check_kernel_view(Device *d, Reading *r);

/* Must be called after a command that turned the drive's cache on or off; does not call the gate again. Flushes data that the kernel will
 * not flush because the cache is off, or did not flush because the kernel assumed write-through before (`was_unknown`). Waits until the
 * kernel has noticed the change. -ETIME: the cache is on, but the kernel still assumes write-through. */
int cache_settle(Device *d, bool enabled, bool was_unknown, int (*flush)(Device *d));

/* Returns the error, with a reason, for a caller that turned the cache off again because cache_settle() returned -ETIME. */
int cache_fail_turned_off(Device *d);

/* Read and write functions of the rows cache_type and queue_write_cache, which set the kernel's assumption in one of its files;
 * Setting.detail is a SysfsAttribute. "write through" is written, and counts as applied, only if the drive reports that its cache is off.
 * If not, the write function changes "write through" in the file to "write back". The command that reads the drive's state does not spin
 * the drive up. */
int cache_view_read(Device *d, const Setting *s, Reading *ret);
extern const Remedy drive_cache_remedy;
int cache_view_write(Device *d, const Setting *s, const Value *v);
