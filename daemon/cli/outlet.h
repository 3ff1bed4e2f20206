/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Checks what enabled units for metrics and mail need: the directory of the metrics file, the program that sends mail. */

#include "complaint.h"

/* Shared with the commands that these units run. */
#define OUTLET_NO_DIRECTORY \
        "there is no directory %s; drivekeep-fleet(7) says how to name another, and 'mkdir -p' makes it"
#define OUTLET_NO_PROGRAM "there is no program 'mail', which a package such as bsd-mailx or s-nail has, and no %s"
#define OUTLET_OWN_PROGRAM \
        "%s/drivekeep/alert" /* the administrator's program, run in the place of mail; below a root of the configuration */

/* Adds a notice for each enabled unit that lacks what it needs, with the place in its files that asks for it. `root`: "" for this machine's
 * file system. */
void outlets_check(const char *root, Complaints *to);
