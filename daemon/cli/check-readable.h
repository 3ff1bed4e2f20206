/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "config.h"

#define SERVICE_USER "drivekeep" /* units/drivekeep.sysusers */

/* Complains about files that were read here, and directories of the roots that may have more, which the service cannot read. For
 * root, who can read everything; nothing is said when there is no such user. 0, or a negative errno. */
int check_readable(Config *c, const char *const *roots);
