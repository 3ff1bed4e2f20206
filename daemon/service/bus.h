/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* org.drivekeep1 on the system bus, object /org/drivekeep1, interface org.drivekeep1.Manager: anybody may read, only the
 * privileged may make it act.
 *
 *   Apply(as names) → as visited      visits these drives (none: all), and answers when that is over
 *   ListDrives() → a(sss)             kernel name, state, identity
 *   Version s */

#include "manager.h"

typedef struct Bus Bus;

int bus_new(sd_event *event, Manager *m, Bus **ret);
Bus *bus_free(Bus *b);

/* A drive's visit is over, or deferred; callers may be waiting for it. */
void bus_drive_rested(Bus *b, const Watched *w);
