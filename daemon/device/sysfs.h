/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads and writes sysfs attributes of one disk, by their path below the disk's directory ("queue/scheduler", "device/timeout"). Most
 * settings that the kernel stores share the read and write functions declared here. */

#include "device.h"

/* Reads the first line without its newline. -ENOENT: no such attribute. */
int sysfs_read(Device *d, const char *path, char *buf, size_t size);

/* Asks DeviceIO.gate for permission, then stores the text by one write(2). Returns the kernel's errno on failure. */
int sysfs_write(Device *d, const char *path, const char *text);

/* Returns the error, with a reason, for an attribute that cannot be read. -ENOENT becomes END_UNSUPPORTED, or END_VANISHED if the whole
 * disk is missing. */
int sysfs_unreadable(Device *d, const char *path, int error);

/* Reads a number from an attribute. Returns 0 or an error, with a reason. */
int sysfs_number(Device *d, const char *path, int64_t *ret);

/* The kernel rounds read-ahead down to whole pages (queue_ra_store()). SYSFS_PAGE is the smallest page size. With larger pages, the
 * read-back shows the rounded value. */
#define SYSFS_PAGE 4096

/* Returns the size of an array's stripe in bytes (chunk size times number of data disks), or 0 if the device has no stripes. md and dm
 * report the stripe as the optimal I/O size, and the chunk as the minimum I/O size. Many single disks report an optimal I/O size of 65535
 * sectors, which is not a stripe. A dm device on such a disk may report the same size, so 65535 sectors never count as a stripe. */
int64_t sysfs_stripe(const Drive *d);

/* Setting.detail of settings in sysfs files. Paths are relative to the disk's directory, and may be patterns of glob(7) with braces: the
 * first match counts. */
typedef struct SysfsAttribute {
        const char *path;
        int64_t scale;          /* factor from the file's number to the value: 1024 for KiB, 1000 for s; 0 means 1 */
        const char *support;    /* attribute that reads 0 if the setting is unsupported. NULL: none */
        const char *reset;      /* text stored for "default", so that the kernel chooses the value. NULL: none */
        const char *prefix;     /* prefix of each stored word. NULL: none */
        const ValueWord *words; /* words in the file that stand for numbers. NULL: none */
        bool requests;          /* the setting is unsupported on devices without a queue of their own (md, dm) */
        bool unset;             /* a read that fails with EINVAL means "not set", not an error */
} SysfsAttribute;

/* Common read and write functions. For settings with words, the value is the word in brackets, or the whole line if the line has no
 * brackets. */
int sysfs_setting_read(Device *d, const Setting *s, Reading *ret);
int sysfs_setting_write(Device *d, const Setting *s, const Value *v);
/* Fails if the file is read-only. Checks the mode bits, because root can open even read-only files. */
int sysfs_setting_permit(Device *d, const Setting *s, const Value *v);

/* Members of a setting that uses the common functions. The arguments are members of SysfsAttribute. */
#define SYSFS_ROW(...) SYSFS_ROW_BY(sysfs_setting_read, sysfs_setting_permit, sysfs_setting_write, __VA_ARGS__)

/* Like SYSFS_ROW, but for a setting with read, permit and write functions of its own. */
#define SYSFS_ROW_BY(read_, permit_, write_, ...)                                              \
        .read = read_, .permit = permit_, .write = write_, .detail = &(const SysfsAttribute) { \
                __VA_ARGS__                                                                    \
        }
