/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the kernel's view of a drive from sysfs: health, I/O activity, and link errors. No function sends a command to the drive.
 * `syspath` is the disk's directory. */

#include "macro.h"

/* Returns 1 if the drive works, 0 while the kernel resets or checks it, and -ENODEV if the drive is gone or the kernel has given up on the
 * drive. */
int health_read(const char *syspath);

/* Returns the same numbers as health_read(), for the given text of a `state` file. */
int health_parse(const char *state);

/* Reads the number of reads and writes completed since the attach. Pass-through commands are not counted. -ENODATA: the kernel does not
 * count I/O (queue/iostats is 0), so activity is not known. */
int activity_read(const char *syspath, uint64_t *ret);

/* Reads the number of commands sent to a SCSI or ATA drive since the attach, by programs and the kernel. -ENOENT: another kind of drive.
 * The counter wraps at 2^32 (drivers/scsi/scsi_sysfs.c, iorequest_cnt): only differences are meaningful. */
int activity_commands(const char *syspath, uint64_t *ret);

/* Returns true if a read or write is in flight (Documentation/ABI/stable/sysfs-block). Only I/O that the kernel counts is visible. */
bool activity_in_flight(const char *syspath);

/* Returns the SEQNUM of the last uevent of any device (Documentation/ABI/testing/sysfs-kernel-uevents). 0: not known. */
uint64_t activity_last_event(void);

/* Returns true if the drive is runtime-suspended, so that any command would resume it. */
bool activity_is_suspended(const char *syspath);

/* Returns true while the kernel is suspending the drive, so that activity_active_time() still grows. */
bool activity_is_suspending(const char *syspath);

/* Returns how long the drive was not runtime-suspended since the attach (runtime_active_time), in ms. Two equal results show that the
 * kernel has not resumed the drive in between. 0: not known. */
uint64_t activity_active_time(const char *syspath);

/* Returns the idle time in µs before the kernel suspends the drive (autosuspend_delay_ms). 0: immediate, or not known. */
uint64_t activity_autosuspend_usec(const char *syspath);

/* Returns true if the kernel spins the drive down at a runtime suspend, and logs the spin-up at the resume (drivers/scsi/sd.c, "Starting
 * disk"). The switch is manage_runtime_start_stop, before Linux 6.6 manage_start_stop. */
bool activity_is_stopped_by_suspend(const char *syspath);

/* Returns true if the kernel suspends the drive after some idle time (power/control is auto, and autosuspend_delay_ms is not negative). */
bool activity_may_be_suspended(const char *syspath);

/* Returns the idle time in µs after which runtime PM spins the drive down. UINT64_MAX: runtime PM does not spin the drive down. */
uint64_t activity_spin_down_usec(const char *syspath);

typedef enum LinkEvent {
        LINK_UNCHANGED, /* no error that led to a link reset */
        LINK_RESET,     /* the kernel reset the link after a missing or wrong answer */
        LINK_LOST,      /* the link was lost, possibly with the drive's power */
} LinkEvent;

/* Returns the worst link error of an ATA drive after `*since`, and sets `*since` to the time of the newest error (the kernel's own clock,
 * in µs). Source: the drive's "ering" file (Documentation/ABI/testing/sysfs-ata, drivers/ata/libata-transport.c). Each of its 32 lines has
 * a time and kinds of error. A link that went down and came up is logged as "BusError" (ata_ehi_hotplugged() in include/linux/libata.h),
 * even if the kernel kept the drive and sent no uevent. LINK_UNCHANGED if the file is missing, as for drives outside libata. */
LinkEvent link_last_event(const char *syspath, uint64_t *since);

/* Returns true if the kernel is recovering the link, so that commands would have to wait. */
bool link_is_recovering(const char *syspath);
