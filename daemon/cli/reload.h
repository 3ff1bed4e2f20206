/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The service reads its files anew, and the command says what became of the drives: for `drivekeep reload` and `drivekeep edit`. */

#include "request.h"

/* Has the service do it, and with --wait or on a terminal waits for the visits. `before` gets what was known of the drives then. Returns an
 * ExitStatus. */
int reload_ask(const Options *o, sd_bus *bus, Records *ret_before);

/* Says on stdout what is other now, a line for each drive, and the sum of all; nothing where nobody waited. Returns the exit status of what
 * it has said, or a negative errno. */
int reload_tell(const Options *o, const Records *before);
