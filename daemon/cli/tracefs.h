/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Returns, as a clause, why the kernel cannot trace wakers, and the remedy. Examines files only. NULL: there is no obstacle, or systemd
 * does not run here. `root`: "" for this machine's file system. */
const char *tracefs_obstacle(const char *root);
