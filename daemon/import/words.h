/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Lists of words, and texts by their lines. */

#include "must.h"

typedef struct Words {
        GROWING_ARRAY(char *, items);
} Words;

void words_add(Words *w, const char *s, size_t n);
/* Adds the words that a shell makes of {a,b}, {a..c} and {0..3} in `s`; without braces `s` itself. Braces stay as they are behind a
 * hundred words, and in a word of more than 4 KiB. */
void words_add_braces(Words *w, const char *s);
void words_split(Words *w, const char *s); /* at blanks */
bool words_have(const Words *w, const char *word);
/* The words from the first-th on, with the separator between them; the caller frees it. */
char *words_join(const Words *w, size_t first, const char *separator);
void words_done(Words *w);

/* Is it the path of a program or of a drive? That these are there drivekeep finds out for itself. */
bool word_is_program_or_drive(const char *word);

typedef struct Lines {
        const char *next;
        unsigned line; /* where the last one begins, from 1 */
        unsigned behind;
} Lines;

/* The next line without the blanks around it; with `continued` also those that a backslash joins to it. False: there is none.
 * *ret replaces what it held before; the caller frees it in the end. */
bool lines_next(Lines *l, bool continued, char **ret);

typedef enum LineStyle {
        LINES_SYSTEMD, /* units, udev rules: lines that are comments are skipped, also amid a continued line */
        LINES_SMARTD,  /* '#' begins a comment anywhere; a backslash before it continues the line */
} LineStyle;

/* The next line, the same way, with those that backslashes join to it. */
bool joined_lines_next(Lines *l, LineStyle style, char **ret);

/* "NAME=VALUE", also with blanks around '=' and quotes around the value: leaves the name in the line. False: it is no such line. */
bool line_split(char *line, char **ret_value);

/* A line of a text that is no comment, taken apart by line_split(). Where it is no NAME=VALUE, there is no value, and the name is
 * the whole line. */
typedef struct Pair {
        const char *section; /* "disk" for "[disk]" and what stands below it */
        char *name, *value;  /* in one piece of memory */
        unsigned line;
} Pair;

typedef struct Pairs {
        GROWING_ARRAY(Pair, items);
} Pairs;

Pairs pairs_read(const char *text, bool continued); /* as lines_next() */
/* The one of this name that counts; `section` is that of a pair, or NULL: wherever it stands. NULL: there is none. */
const Pair *pairs_last(const Pairs *p, const char *section, const char *name);
void pairs_done(Pairs *p);
