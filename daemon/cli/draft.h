/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A file of the configuration that is still to be written. */

#include "config.h"

/* Checks the whole configuration as it would be, and says on stderr what is wrong with the draft, and which errors other files have:
 * with one the service would not read any of them. Of warnings about settings only those are said that `fresh` has, too (NULL: all).
 * Returns EXIT_WANTED or EXIT_BAD_INPUT, and the configuration in either case. */
int draft_check(const char *const *roots, const ConfigDraft *draft, const Config *fresh, Config **ret);

/* Puts the text into its place as a whole; NULL: removes the file. Says so on stderr and returns EXIT_BAD_INPUT when it cannot. */
int draft_write(const char *path, const char *text);
