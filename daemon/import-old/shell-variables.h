/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The variables of a shell script, as far as their values stand in it, and words in which they are put in. */

#include "shell-branches.h"

typedef struct Variable Variable;

typedef struct Variables {
        const Branches *branches; /* where the reading is */
        Variable *items;
        size_t n_items;
        size_t work; /* bytes of words in which they were put */
} Variables;

void variables_done(Variables *v);

/* At the beginning of each time that the text is read: what is known is which are set more than once. */
void variables_begin(Variables *v);

/* The values become the variable's; `list`: one after the other, as those of a loop. */
int variables_set(Variables *v, const char *name, size_t n, Words *values, bool list);

/* "NAME=value" in front of a command: the length of its name; 0: it is none. */
size_t assignment_length(const char *word);

/* What a command and the assignments in front of it do to variables. `before`: the control word in front of them. */
int variables_command(Variables *v, char *const *words, size_t n_words, const char *before);

/* Adds the word with all known variables put in, once for each of their values, and with its braces resolved. */
int variables_put_in(Variables *v, const char *word, Words *ret);

/* Whether there is more in it than any command or variable means. */
bool words_are_many(const Words *w);
