/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Why the kernel's trace cannot show who wakes drives, as far as files tell, and the remedy: a clause. NULL: nothing is in the way, or
 * systemd does not run here. `root`: "" for this machine's file system. */
const char *tracefs_obstacle(const char *root);
