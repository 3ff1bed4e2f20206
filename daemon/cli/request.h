/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the command asks of the daemon, over D-Bus (org.drivekeep1). Only the daemon writes to drives. */

#include <systemd/sd-bus.h>

#include "verb.h"

/* Has the daemon visit these drives (NULL-terminated kernel names; none: all) and returns when that is over, which can
 * take as long as a file system check. The caller frees *ret_visited and its strings. */
int request_apply(sd_bus *bus, char *const *names, char ***ret_visited, sd_bus_error *ret_error);

/* Says on stderr why it did not work: `r` is what opening the bus or request_apply() returned. */
ExitStatus request_explain(int r, const sd_bus_error *error);
