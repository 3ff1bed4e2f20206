/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Only a search of the file systems finds the files of recorded inodes, and the search wakes the drive. So its command is shown, and
 * never run. */

#include <stddef.h>
#include <stdint.h>

/* The find(1) command for these inodes, on the drive's mounted file systems. `drive`: kernel name; NULL: the drive is not present.
 * `mountinfo`: as /proc/self/mountinfo; `classdir`: as in stack.h. */
char *wake_find_command(const char *mountinfo, const char *classdir, const char *drive, const uint64_t *inodes,
                        size_t n_inodes);
