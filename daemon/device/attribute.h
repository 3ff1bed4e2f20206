/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel's small text files, in sysfs most of all: Documentation/filesystems/sysfs.rst, one value per
 * file. Each path is made from `format`; one that is too long is -ENAMETOOLONG. */

#include <glob.h>

#include "macro.h"

/* The first line of the file, without its newline; what is longer than `size` - 1 bytes is cut off. -ENOENT: there is no
 * such file. On failure `buf` holds an empty string. */
int attribute_read(char *buf, size_t size, const char *format, ...) _printf_(3, 4);

/* The same with all of its lines, and their newlines. */
int attribute_read_all(char *buf, size_t size, const char *format, ...) _printf_(3, 4);

/* All files whose path fits the pattern (glob(7), and braces): 0, also when there are none, -ENOMEM, or -EIO when a
 * directory cannot be read. The caller frees them with globfree(), in any case. */
int attribute_glob(glob_t *ret, const char *format, ...) _printf_(2, 3);

/* Does the path of any file fit the pattern? */
bool attribute_exists(const char *format, ...) _printf_(1, 2);
