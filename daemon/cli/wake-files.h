/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which files the inodes of records are: only a search of their file systems tells, and that wakes the drive. So the command for it is
 * shown, and never run. */

#include <stddef.h>
#include <stdint.h>

/* The find(1) command for these inodes of the file systems that are mounted from the drive; `drive`: its kernel name, NULL: it is not
 * here. `mountinfo`: as /proc/self/mountinfo; `classdir`: as in stack.h. */
char *wake_find_command(const char *mountinfo, const char *classdir, const char *drive, const uint64_t *inodes,
                        size_t n_inodes);
