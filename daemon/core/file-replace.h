/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How files are written that others may be reading: the daemon's state files and the crash guard's notes, and the rules of
 * `drivekeep try`. */

#include <sys/stat.h>

#include "macro.h"

/* The file holds either what it held before or all of `text`, whatever happens to this process; with `sync` whatever happens to the
 * machine, once the directory is synced, too. It is written beside itself, as NAME.new~; a file of that
 * name is deleted first, since another user may have it open. */
int file_replace(int dir_fd, const char *name, const char *text, bool sync);

/* The same with `sync`; owner and mode are as in `like`. */
int file_replace_like(int dir_fd, const char *name, const char *text, const struct stat *like);
