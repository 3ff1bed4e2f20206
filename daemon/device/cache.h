/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Keeps two states of the write cache consistent: whether the cache is on in the drive, and what the kernel assumes. A kernel that assumes
 * "write through" sends no flushes, and loses data on power loss if the cache is on. */

#include "device.h"

#define CACHE_WRITE_BACK "write back"
#define CACHE_WRITE_THROUGH "write through"
extern const ValueWord cache_words[];

/* Returns 1 if the kernel assumes that the cache needs flushes, 0 if not, negative if not known. Reads the SCSI disk's cache_type and the
 * queue's write_cache. If at least one of these files says "write through", returns 0. */
int cache_kernel_view(Device *d);

/* Corrects a reading of "on" for the drive's cache if the kernel assumes write-through. The reading becomes "on, unknown to the kernel",
 * so that the visit writes the setting again. Returns 0. */
int cache_check_kernel_view(Device *d, Reading *r);

/* Must be called after a command that turned the drive's cache on or off. After "off", flushes the cache, because the kernel will send no
 * more flushes. After "on", flushes the cache if the kernel assumed write-through before (`was_unknown`), because the kernel then sent no
 * flushes. Waits until the kernel has noticed the change. Sends commands without asking DeviceIO.gate. -ETIME: the cache is on, but the
 * kernel still assumes write-through. */
int cache_settle(Device *d, bool enabled, bool was_unknown, int (*flush)(Device *d));

/* Returns the error, with a reason, for the case that cache_settle() returned -ETIME and the caller turned the cache off again. */
int cache_fail_turned_off(Device *d);

/* Read and write functions of the settings cache_type and queue_write_cache. Each of these settings stores in a sysfs file what the kernel
 * assumes about the cache. Setting.detail is a SysfsAttribute. "write through" is written, and counts as applied, only if the drive
 * reports that its cache is off. Otherwise the write function changes "write through" in the file to "write back". The command that reads
 * the drive's state does not spin the drive up. */
int cache_view_read(Device *d, const Setting *s, Reading *ret);
extern const Remedy drive_cache_remedy;
int cache_view_write(Device *d, const Setting *s, const Value *v);
