/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The files of a machine, below `root`, which is "" outside tests. */

#include "words.h"

#define LIBS "{/etc,/run,/usr/local/lib,/usr/lib,/lib}/" /* in the order of their precedence */
#define UNITS LIBS "systemd/system/"

/* The text of a regular file, without a NUL inside, which the caller frees. NULL: there is none, or it cannot be read,
 * or not be run where it has to be `executable`. */
char *tree_read(const char *root, const char *path, bool executable);

/* The paths that fit a glob(7) of three parts, in the order of what its braces have. The caller frees them. */
Words tree_glob(const char *root, const char *before, const char *name, const char *behind);

/* What a link leads to, which the caller frees; NULL: it is none. */
char *tree_target(const char *root, const char *path);

/* Does a unit's file mask what has the same name further down? Also an empty one does. */
bool tree_masks(const char *root, const char *path);

/* Is a unit, named without its type (".service"), ever started? Or is there a file with such a path? Both are globs; the first
 * one that fits tells, and one that is masked is not active. */
bool tree_is_active(const char *root, const char *name, const char *type);
