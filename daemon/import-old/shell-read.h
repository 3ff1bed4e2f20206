/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How `egrep -v '^[[:space:]]*(#|$)' | while read KEY SEP VALUE` of a POSIX shell takes a text apart, byte by byte. */

#include "macro.h"

typedef struct ShellLine {
        char *key, *sep, *value; /* owned; empty where the line has no such field */
        unsigned line;           /* where it begins */
} ShellLine;

typedef struct ShellReader {
        const char *text;
        size_t size, i;
        unsigned line; /* of text[i]; 0: not begun */
} ShellReader;

/* The next line that the shell's `read` would give, backslashes taken away. Returns 1, 0 at the end (a last line that a
 * backslash joins to nothing is lost, as in the shell), or -ENOMEM. *ret replaces what it held before. */
int shell_read(ShellReader *r, ShellLine *ret);
void shell_line_done(ShellLine *l);
