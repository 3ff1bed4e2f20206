/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Line by line through a text. */

#include "macro.h"

typedef struct Lines {
        const char *next;
        unsigned line; /* where the one that was given begins, from 1 */
        unsigned behind;
} Lines;

/* The next line without blanks around it; with `continued` also those that a backslash joins to it. 1, 0 at the end, or
 * -ENOMEM. *ret replaces what it held before; the caller frees it in the end. */
int lines_next(Lines *l, bool continued, char **ret);

/* NAME=value of a shell's file, quotes taken away: the value, which points into `line`; NULL: it is another name. */
char *line_value(char *line, const char *name);
