/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files that other users may have had a hand in: how they are read and replaced, and which directories can be trusted. The rest of core
 * is pure, but for config-load.c (which files there are) and temporary.c (which opens the directory). */

#include <sys/stat.h>

#include "macro.h"

/* ---- reading: files that people write and that root's programs believe, and those that the daemon writes for itself and for the
 * command ---- */

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

/* ---- directories that other users can write to, or replace. Root reads no configuration there, and follows none of their links ---- */

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

/* ---- replacing: files that others may be reading, such as the daemon's state files, the crash guard's notes and what
 * `drivekeep try --keep` keeps ---- */

/* The file holds either what it held before or all of `text`, whatever happens to this process; with `sync` whatever happens to the
 * machine, once the directory is synced, too. It is written beside itself, as NAME.new~; a file of that
 * name is deleted first, since another user may have it open. */
int file_replace(int dir_fd, const char *name, const char *text, bool sync);

/* The same with `sync`; owner and mode are as in `like`. */
int file_replace_like(int dir_fd, const char *name, const char *text, const struct stat *like);
