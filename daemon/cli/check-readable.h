/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "config.h"

#define SERVICE_USER "drivekeep" /* units/drivekeep.sysusers */

/* Warns of files that were read here and that the service cannot read. For root, who can read everything; nothing is said when there
 * is no such user. 0, or a negative errno. */
int check_readable(Config *c);
