/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Checks that enabled units for metrics and mail have what they need: the directory of the metrics file, the programs of alerts. */

#include "complaint.h"

/* Shared with metrics.c, which one of these units runs. */
#define OUTLET_NO_DIRECTORY \
        "the directory %s does not exist; create it with 'mkdir -p', or choose another directory: see drivekeep-fleet(7)"

/* Adds a notice for each enabled unit that lacks a file, at the line of the unit that needs the file. `root`: "" for this machine's file
 * system. */
void outlets_check(const char *root, Complaints *to);
