/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The other programs on this machine that wake the drives which the configuration has spin down, or keep them from it. Looks at
 * files only. */

#include "config.h"
#include "unit.h"

/* As rivals_check(), which calls it: adds a warning to c->complaints for each line of theirs that has this effect on a drive. */
void wakers_check(const Units *units, Config *c, const SettingTable *t, Drive *const *drives, size_t n_drives);
