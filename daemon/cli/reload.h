/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Common part of `drivekeep reload` and `drivekeep edit`: makes the service read its files again, and prints the results. */

#include "request.h"

/* Makes the service read its files. With --wait or on a terminal, waits for the visits that follow. *ret_before receives the records
 * as they were before the reload. Returns an ExitStatus. */
int reload_request(const Options *o, sd_bus *bus, Records *ret_before);

/* Prints the changes on stdout, one line for each drive, and then a summary of all drives. If reload_request() has not waited,
 * prints nothing. Returns the exit status for the printed results, or a negative errno. */
int reload_report(const Options *o, const Records *before);
