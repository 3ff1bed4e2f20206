/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Directories that other users can write to, or replace: root neither reads configuration there nor is led elsewhere by them. */

#include <sys/stat.h>

#include "macro.h"

/* Can a user change this file or directory who is neither root nor the caller? One's own is one's own business (drivekeep check). */
bool is_writable_by_others(const struct stat *st);

/* Whoever can write a directory can put other files there, and take ours away. 1: nobody else can, or it is not there; 0: others
 * can; or a negative errno: nobody knows. */
int directory_is_safe(const char *path);

/* Opens a directory (O_PATH) for *at() calls. Directories of other users may be in the path, but their symbolic links are not
 * followed: a link in a directory that others can write is -ELOOP. No user can move another user's directory into their own, so a
 * path without such links ends where root or the caller meant it to. "" is the working directory. Or a negative errno. */
int directory_open(const char *path);

/* Whoever can write a directory in the path of a file, or where a link in it leads to, decides which file that is, and what lies beside
 * it. 1: nobody but root and the caller can, and the file need not exist; 0: others can; or a negative errno: nobody knows. */
int path_is_safe(const char *path);

/* strerror(3), which for a link that was not followed says why and what to do. */
const char *directory_error(int r);
