/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whether a drive is in use, by the kernel's counters: nothing here sends the drive a command. */

#include "macro.h"

/* How many reads and writes it has completed since it was attached; pass-through commands do not count. A count that
 * stands still, for lack of counters (queue/iostats = 0), is no use. `syspath` is the disk's. */
int activity_read(const char *syspath, uint64_t *ret);

/* The text of its `stat` file. Exported for tests. */
int activity_parse(const char *text, uint64_t *ret);

/* How many events the kernel has told udev of, of any device: the SEQNUM of the last one (Documentation/ABI/testing/
 * sysfs-kernel-uevents). 0: not known. */
uint64_t activity_last_event(void);

/* Has the kernel put it to sleep (runtime PM), so that any command would wake it? */
bool activity_is_suspended(const char *syspath);
