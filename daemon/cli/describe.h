/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A drive that is not here, from what the user says of it. */

#include "drive.h"

/* `description` is "KEY=VALUE,...", with the keys of match in drivekeep.conf(5) and raid; what it does not say is not known.
 * Returns EXIT_WANTED, or EXIT_BAD_INPUT: it cannot be understood, and that was said on stderr. */
int drive_describe(const char *description, Drive **ret);
