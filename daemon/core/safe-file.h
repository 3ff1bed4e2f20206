/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads and replaces files that other users may have tampered with, and checks which directories can be trusted. In core, only this
 * module, config-load.c (which lists files) and temporary.c (which opens a directory) access the file system. */

#include <sys/stat.h>

#include "macro.h"

/* ---- reading: configuration files, which root's programs trust, and state files, which the daemon writes ---- */

#define TEXT_FILE_MAX (1024U * 1024U) /* bytes */

/* Reads a regular file of at most TEXT_FILE_MAX bytes that only root and the caller can write. Never waits for the
 * writer of a pipe. Returns 0 and a text with a NUL at its end; the caller frees the text. Returns 1 if the file is
 * rejected; *ret_objection is then the cause, a text that follows the file's name. Otherwise returns a negative errno.
 * A link to /dev/null counts as an empty file. */
int text_file_read(const char *path, char **ret_text, size_t *ret_size, const char **ret_objection);

/* Like text_file_read(), but reads from an open descriptor, which may be a pipe, up to its end. */
int text_descriptor_read(int fd, char **ret_text, size_t *ret_size, const char **ret_objection);

/* Reads a state file of the daemon from a directory. The caller must not trust the content. Adds a NUL at the end. -ELOOP: the file is a
 * symbolic link. -EBADMSG: the file is not a regular file, is larger than `max` bytes, or its owner is not root, the caller or the owner of
 * the directory. */
int record_file_read(int dir_fd, const char *name, size_t max, char **ret, size_t *ret_size);

/* Locks a file in the directory to show that a process is writing to the directory. The kernel releases the lock when the
 * descriptor is closed or the process ends. Only the directory's owner and root can hold the lock. Returns the descriptor, which the
 * caller keeps open. */
int record_directory_lock(const char *path);
bool record_directory_is_locked(int dir_fd);

/* ---- directories that other users can write to or replace: root reads no configuration there and follows no links there ---- */

/* Returns 1 if no other user has write permission on the directory, or if there is no such directory; 0 if another user has write
 * permission; a negative errno if the permissions are not known. A user with write permission can add, remove and replace files. */
int directory_is_safe(const char *path);

/* Opens a directory (O_PATH) for *at() calls; "" is the working directory. Returns the descriptor or a negative errno.
 * -ELOOP: the path has a symbolic link in a directory that other users can write. Without such a link, the path leads
 * where root or the caller intended, even through directories of other users: no user can move another user's directory
 * into their own. */
int directory_open(const char *path);

/* Checks each directory in the path of a file, and in the targets of the links in the path: a user with write
 * permission on any of these directories can replace the file. The file need not exist. Returns 1 if only root and the
 * caller have write permission; 0 if another user has write permission; a negative errno if the permissions are not
 * known. */
int path_is_safe(const char *path);

/* Like strerror(3), but explains -ELOOP of directory_open() and says what to do. */
const char *directory_error(int r);

/* ---- replacing files that other processes may be reading: state files, notes of the crash guard, `drivekeep try --keep` ---- */

/* Replaces the content of a file atomically: a reader sees either the old content or all of `text`, even if this
 * process is killed. If `sync` is true and the directory is synced afterwards, this is also true after a power cut. The
 * text is written to NAME.new~ and renamed. An existing NAME.new~ is deleted first, as another user may have it
 * open. */
int file_replace(int dir_fd, const char *name, const char *text, bool sync);

/* Like file_replace() with `sync`, but sets owner and mode as in `like`. */
int file_replace_like(int dir_fd, const char *name, const char *text, const struct stat *like);
