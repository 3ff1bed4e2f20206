/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Tables for people, by libsmartcols. On a terminal too narrow for them, columns that can be spared are left out, then
 * cells are broken over lines; anywhere else they have their full width. */

#include "macro.h"

typedef struct Column {
        const char *key; /* by which its cells are set */
        const char *title;
        bool right;   /* numbers */
        bool wrap;    /* long cells: broken over lines before others are */
        bool spared;  /* left out when there is no room */
        bool path;    /* shown without directories: names of files are unique, since one masks another of its name */
        bool verdict; /* each verdict has its colour, which says nothing that the word does not say */
} Column;

typedef struct Table Table;

/* Without memory the command ends (must.h). `columns` is borrowed. */
Table *table_new(const Column *columns, size_t n_columns);
Table *table_free(Table *t);
DEFINE_CLEANUP(Table *, table_free);

/* One row more. Its cells show as "-", so that every row has as many words as the head. */
void table_row(Table *t);

/* The last row's cell of that column, copied and escaped. NULL or empty: "-". A key that no column has: nothing happens. */
void table_set(Table *t, const char *key, const char *text);

/* The whole table as text that fits into `width` columns, 0: as wide as it is. Without a newline at its
 * end; empty when there is no row. Good until the next one is made. */
const char *table_format(Table *t, size_t width, bool colored);

/* To stdout, in colour where that is welcome. */
void table_print(Table *t);
