/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Tables for people, by libsmartcols. On a terminal too narrow for them, columns that can be spared are left out, then
 * cells are broken over lines; anywhere else they have their full width. */

#include "macro.h"

typedef struct Column {
        const char *name;
        bool right;  /* numbers */
        bool wrap;   /* long cells: broken over lines before others are */
        bool spared; /* left out when there is no room */

        /* The name of a colour for this cell, or NULL; nothing that its text does not say. */
        const char *(*color)(const char *cell);
} Column;

typedef struct Table Table;

/* `columns` is borrowed. */
int table_new(const Column *columns, size_t n_columns, Table **ret);
Table *table_free(Table *t);
DEFINE_CLEANUP(Table *, table_free);

/* One cell per column, copied and escaped; NULL shows as "-", so that every row has as many words as the head. */
int table_add(Table *t, const char *const *cells);

/* The whole table as text that fits into `width` columns, 0: as wide as it is. Without a newline at its
 * end; empty when there is no row. The caller frees it. */
int table_format(Table *t, size_t width, char **ret);
int table_format_colored(Table *t, size_t width, char **ret);

int table_print(Table *t); /* to stdout, in colour where that is welcome */
