/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the command asks of the daemon, over D-Bus (org.drivekeep1). Only the daemon writes to drives. */

#include <systemd/sd-bus.h>

#include "verb.h"

/* Opens the way to the daemon: for root its own socket, which works without a bus; for others, or where there is no such
 * socket, the system bus. */
int request_open(sd_bus **ret);

/* Has the daemon look at what udev told it of a moment ago, so that there is a record of every drive. */
int request_catch_up(sd_bus *bus);

/* Returns when a command that reads may be sent to this drive; until the connection is closed, the daemon does not visit it. */
int request_may_read(sd_bus *bus, const char *name, sd_bus_error *ret_error);

/* Has the daemon read its files anew. The error's message is the sentence about what is wrong in them. */
int request_reload(sd_bus *bus, sd_bus_error *ret_error);

/* Has the daemon take a setting (NULL: all) of this drive out of quarantine; *ret_n says how many values that were. */
int request_release(sd_bus *bus, const char *name, const char *setting, unsigned *ret_n, sd_bus_error *ret_error);

/* Has the daemon visit these drives (NULL-terminated kernel names; none: all) and returns when that is over, which can
 * take as long as a file system check. `permanent`: also for what the drives keep themselves. The caller frees *ret_visited and its strings. */
int request_apply(sd_bus *bus, char *const *names, bool permanent, char ***ret_visited, sd_bus_error *ret_error);

/* Says on stderr why it did not work: `r` is what opening the bus or request_apply() returned. */
ExitStatus request_explain(int r, const sd_bus_error *error);
