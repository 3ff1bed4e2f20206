/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Makes the service read its files again, and prints the results: for `drivekeep reload` and `drivekeep edit`. */

#include "request.h"

/* Makes the service read its files. With --wait or on a terminal, waits for the visits that follow. *ret_before receives the records
 * from before the reload. Returns an ExitStatus. */
int reload_request(const Options *o, sd_bus *bus, Records *ret_before);

/* Prints the changes on stdout, one line for each drive, and the sum. Prints nothing unless reload_request() has waited. Returns the
 * exit status for the printed results, or a negative errno. */
int reload_report(const Options *o, const Records *before);
