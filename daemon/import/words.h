/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Lists of words, and iteration over the lines of a text. */

#include "must.h"

typedef struct Words {
        GROWING_ARRAY(char *, items);
} Words;

void words_add(Words *w, const char *s, size_t n);
/* Adds the words that a shell expands from {a,b}, {a..c} and {0..3} in `s`, or `s` itself if it has no braces. Does not expand `s` if
 * it has 4 KiB or more, or if the list already has a hundred words. */
void words_add_braces(Words *w, const char *s);
void words_split(Words *w, const char *s); /* splits at blanks and tabs */
bool words_have(const Words *w, const char *word);
bool words_add_new(Words *w, const char *word); /* returns false if the list already has the word */
/* Joins the words from index `first` to the last word, with the separator between them. The caller frees the result. */
char *words_join(const Words *w, size_t first, const char *separator);
void words_done(Words *w);

/* Returns true if the word is the path of a program or a drive. A test for the presence of a program or drive needs no translation, because
 * drivekeep handles absent drives itself. */
bool word_is_program_or_drive(const char *word);

typedef struct Lines {
        const char *next;
        unsigned line;   /* number (from 1) of the line where the latest result begins */
        unsigned behind; /* number of the line where the latest result ends; larger than `line` after a continued line */
} Lines;

/* Stores the next line in *ret, without blanks around it. With `continued`, a line that ends with a backslash is joined to the line after
 * it. Frees the previous *ret. The caller frees the *ret of the last line. Returns false at the end of the text. */
bool lines_next(Lines *l, bool continued, char **ret);

typedef enum LineStyle {
        LINES_SYSTEMD, /* units, udev rules: comment lines are skipped, also inside a continued line */
        LINES_SMARTD,  /* '#' begins a comment anywhere; a backslash before the comment continues the line */
} LineStyle;

/* Like lines_next() with `continued`, but comments and continued lines have the given style. */
bool joined_lines_next(Lines *l, LineStyle style, char **ret);

/* Splits "NAME=VALUE", also with blanks around '=' and quotes around the value. Truncates the line to the name. Returns false if the line
 * has another form. */
bool line_split(char *line, char **ret_value);

/* A line that is not a comment, split by line_split(). For a line without NAME=VALUE, the name is the whole line and the value is NULL. */
typedef struct Pair {
        const char *section; /* "disk" for "[disk]" and the lines below it */
        char *name, *value;  /* both in one allocation: free(name) frees the value, too */
        unsigned line;
} Pair;

typedef struct Pairs {
        GROWING_ARRAY(Pair, items);
} Pairs;

Pairs pairs_read(const char *text, bool continued); /* `continued`: as for lines_next() */
/* Returns the last pair of this name that has a value, because the last value is effective. Returns NULL if there is no such pair.
 * `section`: NULL for any section. */
const Pair *pairs_last(const Pairs *p, const char *section, const char *name);
void pairs_done(Pairs *p);
