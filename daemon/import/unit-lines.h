/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The effective assignments of a systemd unit. An empty assignment resets the earlier assignments to the same key, and to keys that
 * share a list with it (systemd.unit(5)). */

#include "words.h"

typedef struct UnitLine {
        char *file, *key, *value;
        unsigned line;
} UnitLine;

typedef struct UnitLines {
        GROWING_ARRAY(UnitLine, items);
} UnitLines;

#define UNIT_LINES_FOREACH(l, lines) \
        for (const UnitLine *l = (lines)->items; l < (lines)->items + (lines)->n_items; l++)

/* Adds the lines of a unit file or drop-in. An empty assignment in the file may reset earlier lines. */
void unit_lines_read(UnitLines *u, const char *file, const char *text);

/* Adds one line; the strings are copied. */
void unit_lines_add(UnitLines *u, const char *file, unsigned line, const char *key, const char *value);

void unit_line_done(UnitLine *l);
void unit_lines_done(UnitLines *u);
