/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Starts a program that reads a text: a pager, or who sends mail. */

#include <sys/types.h>

/* The file behind `text` is its standard input, from the beginning. `words` end with NULL; the first is looked for in $PATH. Returns a
 * negative errno: it cannot be started. */
int child_start_reader(char *const *words, int text, pid_t *ret);

/* Waits for its end: as waitpid(2) tells of it. */
int child_wait(pid_t pid);
