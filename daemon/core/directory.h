/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Directories that other users can write to, or replace. Root reads no configuration there, and follows none of their links. */

#include <sys/stat.h>

#include "macro.h"

/* Can a user other than root and the caller change this file or directory? A caller who is not root may trust all of their own files. */
bool is_writable_by_others(const struct stat *st);

/* A user with write permission on a directory can add, remove and replace files in it. 1: no other user has it, or there is no such
 * directory; 0: another user has it; or a negative errno: not known. */
int directory_is_safe(const char *path);

/* Opens a directory (O_PATH) for *at() calls. Directories of other users may be in the path, but their symbolic links are not
 * followed: a link in a directory that others can write is -ELOOP. No user can move another user's directory into their own, so a
 * path without such links ends where root or the caller meant it to. "" is the working directory. Or a negative errno. */
int directory_open(const char *path);

/* Checks each directory in the path of a file, and in the targets of its links: a user with write permission on one of them can replace
 * the file. 1: only root and the caller have it, and the file need not exist; 0: another user has it; or a negative errno: not known. */
int path_is_safe(const char *path);

/* strerror(3); for a link that was not followed, the reason and the remedy. */
const char *directory_error(int r);
