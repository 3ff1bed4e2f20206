/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The machine for transcripts of the command: a directory in place of /, and stand-ins for udev, drives, the service, the journal and
 * the clock. The directives of a transcript configure it. */

#include <limits.h>
#include <stddef.h>

/* Makes an empty machine, whose root is the working directory; world_root is its absolute path. */
extern char world_root[PATH_MAX];
void world_make(void);
void world_remove(void);

/* Executes a directive, which consists of words and of the lines that are indented below it. Returns the error, or NULL. */
const char *world_change(char *const *words, size_t n_words, const char *text);

/* Prepares the current process to run the command. */
void world_enter(void);

/* Returns the calls and commands since the last call of this function, each followed by ", ". The caller frees the text. */
char *world_take_calls(void);
