/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Checks that enabled units for metrics and mail have what they need: the directory of the metrics file, the programs of alerts. */

#include "complaint.h"

/* outlet.c and metrics.c print this message. */
#define OUTLET_NO_DIRECTORY \
        "the directory %s does not exist; create it with 'mkdir -p', or choose another directory: see drivekeep-fleet(7)"

/* Adds a notice for each directory or program that an enabled unit needs and that does not exist. The notice is at the unit's ExecStart=
 * line. If an alert program is not executable, the notice is at the program's path. `root`: "" for this machine's file system. */
void outlets_check(const char *root, Complaints *to);
