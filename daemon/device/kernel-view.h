/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel has seen of a drive: whether it works, whether it is in use, and errors of its link. All is read from sysfs,
 * and nothing here reaches the drive. `syspath` is the disk's. */

#include "macro.h"

/* 1: it works; 0: it is being reset or asked whether it still lives; -ENODEV: it is gone, or the kernel has given it up. */
int health_read(const char *syspath);

/* The same of the text of a `state` file. */
int health_parse(const char *state);

/* How many reads and writes the drive has completed since it was attached; pass-through commands do not count. -ENODATA: the kernel does not
 * count them (queue/iostats is 0), so that nobody knows whether the drive is in use. */
int activity_read(const char *syspath, uint64_t *ret);

/* How many commands a SCSI or ATA drive was sent since it was attached, those of all programs and of the kernel included. -ENOENT for
 * others. The kernel counts to 2^32 (drivers/scsi/scsi_sysfs.c, iorequest_cnt): only differences tell something. */
int activity_commands(const char *syspath, uint64_t *ret);

/* Does it have a read or write to complete just now (Documentation/ABI/stable/sysfs-block)? Only those that the kernel counts are seen. */
bool activity_in_flight(const char *syspath);

/* How many events the kernel has told udev of, of any device: the SEQNUM of the last one (Documentation/ABI/testing/
 * sysfs-kernel-uevents). 0: not known. */
uint64_t activity_last_event(void);

/* Has the kernel suspended the drive (runtime PM), so that any command would wake it? */
bool activity_is_suspended(const char *syspath);

/* For how long without I/O the kernel leaves the drive resumed (autosuspend_delay_ms), in µs. 0: it suspends the drive at once, or the
 * delay is not known. */
uint64_t activity_autosuspend_usec(const char *syspath);

typedef enum LinkNews {
        LINK_SAME,  /* nothing after which the link was reset */
        LINK_RESET, /* the kernel reset it, since a command had no answer or a wrong one */
        LINK_LOST,  /* it was gone, maybe with the drive's power */
} LinkNews;

/* The worst error between libata and an ATA drive after `*since`, which becomes the time of the newest one (the kernel's own
 * clock, in µs), by the drive's "ering" file (Documentation/ABI/testing/sysfs-ata, drivers/ata/libata-transport.c): 32 lines,
 * each with its time and the kinds of error. A link that went down and came up is there as "BusError" (ata_ehi_hotplugged() in
 * include/linux/libata.h), also when the kernel kept the drive and udev was told of nothing. Without such a file, as for every
 * drive that is not libata's, there is no news. */
LinkNews link_news(const char *syspath, uint64_t *since);

/* Is the kernel recovering the link just now, so that a command would have to wait? */
bool link_is_recovering(const char *syspath);
