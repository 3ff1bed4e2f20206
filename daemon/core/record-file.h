/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The files that the daemon writes for itself and for the command to read: whoever reads one does not trust it. */

#include "macro.h"

/* One file of that directory, whole, at most `max` bytes. A link is -ELOOP; a pipe or anything else that is no regular file, one
 * that is larger, and one that belongs neither to root, nor to oneself, nor to who has the directory, are -EBADMSG. A NUL stands behind it. */
int record_file_read(int dir_fd, const char *name, size_t max, char **ret, size_t *ret_size);

/* A locked file of the directory says that somebody writes in it now: the kernel takes the lock back when the descriptor is closed,
 * however the process ended. Nobody but the owner and root can hold such a lock. Returns the descriptor to keep. */
int record_directory_lock(const char *path);
bool record_directory_is_locked(int dir_fd);
