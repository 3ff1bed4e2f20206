/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds files by their inode numbers: the kernel's trace names a changed file by its inode only. */

#include "macro.h"

/* Returns a find(1) command that finds the files of these inodes on the drive's mounted file systems. The command is printed and never
 * run, since the search wakes the drive. `drive`: kernel name, or NULL if the drive is not attached. `mountinfo`: as
 * /proc/self/mountinfo; `classdir`: as in stack.h. */
char *changed_file_command(const char *mountinfo, const char *classdir, const char *drive, const uint64_t *inodes,
                           size_t n_inodes);
