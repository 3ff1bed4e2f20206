/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads and writes sysfs attributes of one disk, by their path below the disk's directory ("queue/scheduler", "device/timeout"). Also
 * the read and write functions that most rows of kernel settings share. */

#include "device.h"

/* Reads the first line without its newline. -ENOENT: no such attribute. */
int sysfs_read(Device *d, const char *path, char *buf, size_t size);

/* Calls the gate for permission, then stores the text by one write(2). Returns the kernel's errno on failure. */
int sysfs_write(Device *d, const char *path, const char *text);

/* Returns the error, with a reason, for an attribute that cannot be read. -ENOENT becomes END_UNSUPPORTED, or END_VANISHED if the whole
 * disk is missing. */
int sysfs_unreadable(Device *d, const char *path, int error);

/* Reads a number from an attribute. Returns 0 or an error, with a reason. */
int sysfs_number(Device *d, const char *path, int64_t *ret);

/* The kernel rounds read-ahead down to whole pages (queue_ra_store()). This is the smallest page size; with larger pages, the read-back
 * shows the rounded value. */
#define SYSFS_PAGE 4096

/* Returns the size of an array's stripe in bytes, chunk times data disks. md and dm report the stripe as the optimal I/O size, and the
 * chunk as the minimum. 0: no stripes. The optimal I/O size of single disks has another meaning: dm passes on their common value of 65535
 * sectors, which is ignored. */
int64_t sysfs_stripe(const Drive *d);

/* Setting.detail of sysfs rows. Paths are relative to the disk's directory, and may be patterns of glob(7) with braces: the first match
 * counts. */
typedef struct SysfsAttribute {
        const char *path;
        int64_t scale;          /* factor from the file's number to the value: 1024 for KiB, 1000 for s; 0 means 1 */
        const char *support;    /* attribute that reads 0 if the setting is unsupported. NULL: none */
        const char *reset;      /* text stored for the kernel's own choice (Value.name is "default"). NULL: none */
        const char *prefix;     /* prefix of each stored word. NULL: none */
        const ValueWord *words; /* words in the file that stand for numbers. NULL: none */
        bool requests;          /* the setting is unsupported on devices without a queue of their own (md, dm) */
        bool unset;             /* a read that fails with EINVAL means "not set", not an error */
} SysfsAttribute;

/* Common read and write functions. For settings with words, the value is the word in brackets, or the whole line without brackets. */
int sysfs_setting_read(Device *d, const Setting *s, Reading *ret);
int sysfs_setting_write(Device *d, const Setting *s, const Value *v);
/* Fails if the file is read-only. Checks the mode bits, because root can open even read-only files. */
int sysfs_setting_permit(Device *d, const Setting *s, const Value *v);

/* Members of rows without functions of their own; the arguments are members of SysfsAttribute. */
#define SYSFS_ROW(...) SYSFS_ROW_BY(sysfs_setting_read, sysfs_setting_permit, sysfs_setting_write, __VA_ARGS__)

/* Like SYSFS_ROW, for rows with functions of their own. */
#define SYSFS_ROW_BY(read_, permit_, write_, ...)                                              \
        .read = read_, .permit = permit_, .write = write_, .detail = &(const SysfsAttribute) { \
                __VA_ARGS__                                                                    \
        }
