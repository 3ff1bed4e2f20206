/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel's small text files, in sysfs most of all: Documentation/filesystems/sysfs.rst, one value per file. */

#include "macro.h"

/* The first line of the file whose path `format` makes, without its newline; what is longer than `size` - 1 bytes is cut off.
 * -ENOENT: there is no such file. On failure `buf` holds an empty string. */
int attribute_read(char *buf, size_t size, const char *format, ...) _printf_(3, 4);

/* The same with all of its lines, and their newlines. */
int attribute_read_all(char *buf, size_t size, const char *format, ...) _printf_(3, 4);
