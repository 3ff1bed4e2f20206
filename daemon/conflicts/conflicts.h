/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds other programs on this machine that write the same settings as the configuration. Only reads files. */

#include "config.h"

/* Finds settings that both another program and a rule of `c` set for a drive in `drives`. Adds a warning or a notice
 * about each such setting to c->complaints. Also adds the warnings of wakers_check(). `root` is a prefix for all paths:
 * "" outside tests. Unreadable files are skipped. */
void conflicts_check(const char *root, Config *c, const SettingTable *t, Drive *const *drives, size_t n_drives);
