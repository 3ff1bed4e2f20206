/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The words of a shell's text, with quotes taken away and the values of variables put in. */

#include "words.h"

typedef struct ShellText {
        const char *at;
        Words variables; /* "NAME=VALUE", the last one counts; with '$' in it it is not known */
} ShellText;

/* Adds the word that begins here, or the words that its variables make of it; and of paths those that braces make of it. */
void shell_read_words(ShellText *s, Words *to);

/* "NAME=VALUE"; NULL: nothing was said of it. */
const char *shell_find_variable(const ShellText *s, const char *name, size_t n);
void shell_set_variable(ShellText *s, const char *name, size_t n, const char *value);

/* How long the name is in NAME=VALUE or NAME+=VALUE; 0: it is no assignment. */
size_t shell_assignment_length(const char *word);
