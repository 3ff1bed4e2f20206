/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* org.drivekeep1 on the system bus, object /org/drivekeep1, interface org.drivekeep1.Manager: anybody may read, only the
 * privileged may make it act. The same object for root on a socket of our own, which works without a bus too.
 *
 *   Apply(as names) → as visited      visits these drives (none: all), and answers when that is over
 *   Reload()                          reads the files anew; answers when that is done, or with what is wrong in them
 *   ListDrives() → a(sss)             kernel name, state, identity
 *   Version s */

#include <systemd/sd-bus.h>

#include "manager.h"

#define BUS_PRIVATE_SOCKET "/run/drivekeep/private"

typedef struct Bus Bus;

/* Reload() as the daemon does it: 0, or -EINVAL with a sentence for who asked, which is freed here. */
typedef int (*BusReloadFn)(void *userdata, char **ret_sentence);

int bus_new(sd_event *event, Manager *m, BusReloadFn reload, void *userdata, Bus **ret);
Bus *bus_free(Bus *b);

/* The system bus has come, or went. */
void bus_connected(Bus *b, sd_bus *bus);
void bus_lost(Bus *b);

/* A drive's visit is over, or deferred; callers may be waiting for it. */
void bus_drive_rested(Bus *b, const Watched *w);
