/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The files that core reads: those that people write and that root's programs believe, and those that the daemon writes for itself
 * and for the command. The rest of core is pure, but for config-load.c (which files there are), directory.c and
 * file-replace.c. */

#include "macro.h"

#define TEXT_FILE_MAX (1024U * 1024U) /* bytes */

/* Reads a regular file of at most TEXT_FILE_MAX bytes that nobody else could have written; never waits for a pipe's
 * writer. Returns 0, with a NUL behind the text, which the caller frees; or 1 when it cannot be such a file, with why in
 * *ret_objection, a clause that follows the file's name; or a negative errno. A link to /dev/null is an empty file. */
int text_file_read(const char *path, char **ret_text, size_t *ret_size, const char **ret_objection);

/* The same for what an open descriptor gives up to its end: a pipe is fine. */
int text_descriptor_read(int fd, char **ret_text, size_t *ret_size, const char **ret_objection);

/* A file that the daemon writes, of its directory, whole, at most `max` bytes; whoever reads one does not trust it. A link is -ELOOP; a
 * pipe or anything else that is no regular file, one that is larger, and one that belongs neither to root, nor to oneself, nor to who
 * has the directory, are -EBADMSG. A NUL stands behind it. */
int record_file_read(int dir_fd, const char *name, size_t max, char **ret, size_t *ret_size);

/* A locked file of the directory says that somebody writes in it now: the kernel takes the lock back when the descriptor is closed,
 * however the process ended. Nobody but the owner and root can hold such a lock. Returns the descriptor to keep. */
int record_directory_lock(const char *path);
bool record_directory_is_locked(int dir_fd);
