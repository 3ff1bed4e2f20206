/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Attributes of one disk in sysfs, by their path below the disk's directory ("queue/scheduler", "device/timeout"), and
 * the read and write functions that most rows of the kernel's settings share. */

#include "device.h"

/* The first line, without its newline. -ENOENT: there is no such attribute. */
int sysfs_read(Device *d, const char *path, char *buf, size_t size);

/* One write(2) of the whole text; the kernel's answer is its errno. Asks the gate first. */
int sysfs_write(Device *d, const char *path, const char *text);

/* The end of a step whose attribute is not there: unsupported, or the whole disk has vanished. */
int sysfs_missing(Device *d, const char *path);

/* A row's detail. */
typedef struct SysfsAttribute {
        const char *path;
        int64_t scale; /* what one unit of the file counts in the value's own unit: 1024 for KiB, 1000 for seconds */
} SysfsAttribute;

int sysfs_setting_read(Device *d, const Setting *s, Reading *ret);
int sysfs_setting_write(Device *d, const Setting *s, const Value *v);
