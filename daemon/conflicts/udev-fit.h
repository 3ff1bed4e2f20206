/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which drives a udev rule is for: its conditions, and the GOTOs before it, against what udev and the kernel say of a drive
 * (udev(7)). Reads files of /sys, and sends no command. */

#include "reader.h"

/* Does udev apply the rule to the drive, as far as can be told? What cannot be told counts for a condition, and against a GOTO. */
bool udev_applies(const char *root, const Import *i, const ImportRule *r, const Drive *d);
