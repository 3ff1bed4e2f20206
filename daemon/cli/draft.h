/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Checks and writes a new version of a configuration file. */

#include "config.h"
#include "verb.h"

/* The cause if path_is_safe() returns false. */
#define DRAFT_UNSAFE "others can write to a directory in its path; chown root and chmod go-w make the directory safe"

/* Returns the path of the drop-in in the first root. The caller frees the path. Returns NULL after it has reported an invalid name. */
char *draft_path(const Options *o, const char *name);

/* Checks the whole configuration as it would be with the draft in place. Reports on stderr all complaints about the draft. Also
 * reports errors in other files, because the service rejects a new configuration if any file has an error. If `fresh` is not NULL,
 * omits warnings about settings that `fresh` does not set. Returns EXIT_WANTED or EXIT_BAD_INPUT, and the configuration in either
 * case. */
int draft_check(const char *const *roots, const ConfigDraft *draft, const Config *fresh, Config **ret);

/* Replaces the file atomically. If `text` is NULL, removes the file. Reports failures on stderr and returns EXIT_BAD_INPUT. */
int draft_write(const char *path, const char *text);
