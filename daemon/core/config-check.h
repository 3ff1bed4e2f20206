/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What stands in the files without an error, and still cannot be what was meant: blocks that say the same, values that
 * never win, settings that fight each other, danger without its word. */

#include "config.h"

/* Adds warnings and notices to c->complaints. Pure: it looks at no drive. Returns 0 or -ENOMEM. */
int config_check(Config *c, const SettingTable *t);

/* What can be said only of a drive that is there: that it is a member of an array, which a value harms. Once for each place
 * in the files. */
int config_check_drive(Config *c, const SettingTable *t, const Drive *d);
