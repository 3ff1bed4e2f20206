/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads small text files of the kernel, mostly sysfs attributes with one value per file (Documentation/filesystems/sysfs.rst). Each path
 * is made from `format`; -ENAMETOOLONG: the path is too long. */

#include <glob.h>

#include "macro.h"

/* Reads the first line of the file without its newline, cut to `size` - 1 bytes. -ENOENT: no such file. `buf` is an empty string on
 * failure. */
int attribute_read(char *buf, size_t size, const char *format, ...) _printf_(3, 4);

/* Like attribute_read(), but reads all lines, with their newlines. */
int attribute_read_all(char *buf, size_t size, const char *format, ...) _printf_(3, 4);

/* Finds all files whose path matches the pattern (glob(7), and braces). Returns 0, even if no file matches. -ENOMEM: no memory. -EIO: a
 * directory cannot be read. The caller always frees *ret with globfree(). */
int attribute_glob(glob_t *ret, const char *format, ...) _printf_(2, 3);

/* Returns true if the path of any file matches the pattern. */
bool attribute_exists(const char *format, ...) _printf_(1, 2);
