/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Splits a text like `egrep -v '^[[:space:]]*(#|$)' | while read KEY SEP VALUE` in a POSIX shell, byte by byte. */

#include "macro.h"

typedef struct ShellLine {
        char *key, *sep, *value; /* owned; empty if the line has no such field */
        unsigned line;           /* line number; if backslashes join lines: number of the first line */
} ShellLine;

typedef struct ShellReader {
        const char *text;
        size_t size, i;
        unsigned line; /* line number of text[i]; 0: reading has not started */
} ShellReader;

/* Reads the next line like the shell's `read`, and removes backslashes. Like the shell, drops a last line that ends
 * with a backslash. Returns 1; 0 at the end of the text; or -ENOMEM. Frees the previous *ret. */
int shell_read(ShellReader *r, ShellLine *ret);
void shell_line_done(ShellLine *l);
