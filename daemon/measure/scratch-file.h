/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A file of our own for what writes. It has no name: it is gone when the last one closes it, however that ends. */

#include "macro.h"

#define SCRATCH_FILE_SIZE (128ULL << 20)

/* Makes it on the file system of `directory` and fills it, until it is on the drive. Returns its descriptor, a negative errno (-ENOSPC:
 * there is no room), or -ECANCELED: `stop_fd` has become readable. */
int scratch_file_make(const char *directory, int stop_fd);
