/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Attributes of one disk in sysfs, by their path below the disk's directory ("queue/scheduler", "device/timeout"), and
 * the read and write functions that most rows of the kernel's settings share. */

#include "device.h"

/* The first line, without its newline. -ENOENT: there is no such attribute. */
int sysfs_read(Device *d, const char *path, char *buf, size_t size);

/* One write(2) of the whole text; the kernel's answer is its errno. Asks the gate first. */
int sysfs_write(Device *d, const char *path, const char *text);

/* The end of a step whose attribute cannot be read; with -ENOENT: unsupported, or the whole disk has vanished. */
int sysfs_unreadable(Device *d, const char *path, int error);

/* 0, or the end of a step, with a sentence. */
int sysfs_number(Device *d, const char *path, int64_t *ret);

/* The kernel reads ahead in whole pages and cuts off the rest (queue_ra_store()). No page is smaller than this; where they
 * are larger, reading back shows what became of the value. */
#define SYSFS_PAGE 4096

/* Bytes of a stripe of an array, chunk times data disks: md and dm tell it as their optimal I/O size, and a chunk as the minimum. 0: there
 * are no stripes. A single disk's optimal I/O size is something else, and that of many is 65535 sectors, which dm hands on. */
int64_t sysfs_stripe(const Drive *d);

/* Setting.detail of these rows. Paths are as above, and patterns of glob(7), with braces: the first file that fits is meant. */
typedef struct SysfsAttribute {
        const char *path;
        int64_t scale; /* what one unit of the file counts in the value's own unit: 1024 for KiB, 1000 for seconds; 0: 1 */
        const char *support; /* another attribute: where it reads 0, there is no such setting. NULL: none */
        const char *reset;   /* what is stored for "the kernel's own choice" (Value.name is "default"). NULL: no such */
        const char *prefix;  /* stands before each word that is stored. NULL: none */
        const ValueWord *words; /* numbers that stand in the file as words. NULL: none */
        bool requests; /* there is no such thing where the kernel passes requests on without a queue (md, dm) */
        bool unset;    /* EINVAL on reading means that nothing is set yet, rather than an error */
} SysfsAttribute;

/* Of a setting whose values are words the whole line is the value; or the word in brackets, where the line has all there are. */
int sysfs_setting_read(Device *d, const Setting *s, Reading *ret);
int sysfs_setting_write(Device *d, const Setting *s, const Value *v);
/* Checks the mode of the file: root can open even a file that the kernel lets nobody write. */
int sysfs_setting_permit(Device *d, const Setting *s, const Value *v);

/* What rows need that have no functions of their own; the arguments are the members of their SysfsAttribute. */
#define SYSFS_ROW(...) SYSFS_ROW_BY(sysfs_setting_read, sysfs_setting_permit, sysfs_setting_write, __VA_ARGS__)

/* The same for rows that add to these functions. */
#define SYSFS_ROW_BY(read_, permit_, write_, ...)                                              \
        .read = read_, .permit = permit_, .write = write_, .detail = &(const SysfsAttribute) { \
                __VA_ARGS__                                                                    \
        }
