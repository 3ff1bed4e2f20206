/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Lists of words, and what makes several of one. */

#include "macro.h"

typedef struct Words {
        char **items;
        size_t n_items, n_bytes;
} Words;

int words_add(Words *w, const char *s, size_t n);
int words_add_copy(Words *w, const Words *from);
/* Those from `first` on with a blank between them; the caller frees it. NULL: no memory. */
char *words_join(const Words *w, size_t first);
/* Whether it is one of a list's words, each of which has one blank behind it. */
bool word_is_one_of(const char *word, const char *list);
bool word_is_one_of_any_case(const char *word, const char *list);

void words_done(Words *w);

/* A line of an hdparm.conf: at blanks, and around "{", "}" and "=" wherever no path goes on through them. */
int words_split_conf(const char *line, Words *ret);
/* What it is without quotes around it. */
char *conf_unquote(char *s);
/* Does it begin a comment: one with '#', or with what people take for such a sign and Debian does not? */
bool conf_is_comment(const char *s);

/* Calls `each` for every word that a shell makes of {a,b} and {a..d} in the first `n` bytes of `s`; for the word itself when
 * there are none of them, or more than a thousand would come of it. */
int words_expand_braces(const char *s, size_t n, int (*each)(void *userdata, const char *word), void *userdata);
