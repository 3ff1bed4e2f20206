/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads files of a machine; `root` is a prefix for all paths, "" outside tests. */

#include "words.h"

#define LIBS "{/etc,/run,/usr/local/lib,/usr/lib,/lib}/" /* directories of units and rules, highest precedence first */
#define UNITS LIBS "systemd/system/"

/* Returns the text of a regular file, which the caller frees. NULL: there is no such file, it cannot be read, it has a NUL byte, or it is
 * not executable although `executable` requires it. */
char *tree_read(const char *root, const char *path, bool executable);

/* Joins `before`, `name` and `behind` to a pattern (glob(7), and braces), and returns the matching paths. Paths are in the order of the
 * alternatives in braces. The caller frees the paths. */
Words tree_glob(const char *root, const char *before, const char *name, const char *behind);

/* Returns the target of a symbolic link, which the caller frees; NULL: not a link. */
char *tree_target(const char *root, const char *path);

/* Returns true if a unit file masks the unit: a link to /dev/null, or an empty file. */
bool tree_masks(const char *root, const char *path);
