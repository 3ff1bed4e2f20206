/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The machine that transcripts of the command play on: a directory in the place of /, and stand-ins for udev, drives, the service, the
 * journal and the clock. All that a transcript's directives say of it. */

#include <limits.h>
#include <stddef.h>

/* An empty machine, whose root directory is where the process is then; world_root is its absolute path. */
extern char world_root[PATH_MAX];
void world_make(void);
void world_remove(void);

/* A directive: its words, and the lines indented below it. Returns what is wrong with it; NULL: nothing. */
const char *world_change(char *const *words, size_t n_words, const char *text);

/* In the process that is to run the command. */
void world_enter(void);

/* What the service was asked and the drives were sent since the last time, each with ", " behind it. The caller frees it. */
char *world_take_calls(void);
