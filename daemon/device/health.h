/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel thinks of a drive's state; nothing here reaches the drive. */

#include "macro.h"

/* 1: it works; 0: it is being reset or asked whether it still lives; -ENODEV: it is gone, or the kernel has given it up.
 * `syspath` is the disk's. */
int health_read(const char *syspath);

/* The same of the text in its `device/state`. Exported for tests. */
int health_parse(const char *state);
