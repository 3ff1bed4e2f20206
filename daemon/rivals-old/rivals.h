/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The other programs on this machine that write what the configuration wants to keep: who, in which line, which setting,
 * and what to do. Looks at files only; runs nothing, asks no drive. */

#include "config.h"

/* Adds a warning or a notice to c->complaints for each setting that another program sets and that some rule of `c` sets
 * too, for a drive of `drives` or for one that may still come. `root`: where the machine's file system is, "/" for this
 * one; what is not readable there is left out. Returns 0 or -ENOMEM. */
_public_ int rivals_check(const char *root, Config *c, const SettingTable *t, Drive *const *drives, size_t n_drives);

/* Is a udev rule there that writes to all drives when one is attached, before udev tells of that one? `root`: as above. */
_public_ bool rivals_write_at_attach(const char *root);

/* Is it by this property of udev's that one of those programs tells what to do with a drive? */
_public_ bool rivals_ask_property(const char *key);
