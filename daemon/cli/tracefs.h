/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Why the kernel's trace cannot show wakers, judged by files alone, and the remedy: a clause. NULL: there is no obstacle, or systemd
 * does not run here. `root`: "" for this machine's file system. */
const char *tracefs_obstacle(const char *root);
