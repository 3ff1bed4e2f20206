/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the command asks of the daemon, over D-Bus (org.drivekeep1). Only the daemon writes to drives. */

#include <systemd/sd-bus.h>

#include "verb.h"

/* Opens the way to the daemon: for root its own socket, which works without a bus; for others, or where there is no such
 * socket, the system bus. */
int request_open(sd_bus **ret);

/* Where its methods are, for sd_bus_call_method(); drivekeepd(8) says what each does. */
#define DAEMON "org.drivekeep1", "/org/drivekeep1", "org.drivekeep1.Manager"

/* Has the daemon visit these drives (NULL-terminated kernel names; none: all) and returns when that is over, which can
 * take as long as a file system check. `permanent`: also for what the drives keep themselves. The caller frees *ret_visited and its strings. */
int request_apply(sd_bus *bus, char *const *names, bool permanent, char ***ret_visited, sd_bus_error *ret_error);

/* Says on stderr why it did not work: `r` is what opening the bus or a call returned. */
ExitStatus request_explain(int r, const sd_bus_error *error);
