/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Decides which drives a udev rule applies to: compares the rule's conditions, and those of the GOTOs before the rule, with udev's database
 * and sysfs (udev(7)). Sends no command. */

#include "reader.h"

/* Returns true if udev applies the rule to the drive. A condition that cannot be checked counts as met in the rule itself. In a GOTO before
 * the rule, such a condition counts as not met. */
bool udev_applies(const char *root, const Import *i, const ImportRule *r, const Drive *d);
