/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Returns a clause that says why the kernel cannot trace wakers, and what the user can do. Returns NULL if there is no obstacle, or if
 * systemd does not run here. Examines files only. `root`: "" for this machine's file system. */
const char *tracefs_obstacle(const char *root);
