/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The other programs on this machine that write what the configuration wants to keep. Looks at files only. */

#include "config.h"

/* Adds a warning or a notice to c->complaints for each setting that another program sets and that some rule of `c` sets
 * too, for a drive of `drives`, and what wakers_check() adds. `root` stands before all paths: "" outside tests. What is not
 * readable is left out. */
void conflicts_check(const char *root, Config *c, const SettingTable *t, Drive *const *drives, size_t n_drives);
