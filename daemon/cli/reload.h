/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Has the service read its files anew, and shows the results: for `drivekeep reload` and `drivekeep edit`. */

#include "request.h"

/* Has the service read its files; with --wait or on a terminal waits for the visits that follow. *ret_before gets the records of the
 * drives from before. Returns an ExitStatus. */
int reload_request(const Options *o, sd_bus *bus, Records *ret_before);

/* Prints on stdout what changed, a line for each drive, and the sum; nothing unless reload_request() waited. Returns the exit status for
 * what it printed, or a negative errno. */
int reload_report(const Options *o, const Records *before);
