/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The other programs that write what the files want (rivals/), told to the journal by a process of its own: it reads
 * hundreds of files, and whatever memory that takes is gone with it. */

#include <systemd/sd-event.h>

#include "config.h"

/* Forks, with the drives that are there; the parent does not wait. *child is the event source of the one before, or NULL, and
 * becomes that of this one. While the one before is at it still, that is told to end, and -EBUSY says that it has to be tried
 * again: a disk may hold it for long. Nothing in `c` changes. */
int rivals_child_start(sd_event *event, Config *c, Drive *const *drives, size_t n_drives, sd_event_source **child);
