/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The words of a shell script, without their quotes. */

#include "macro.h"

typedef struct ShellText {
        const char *at, *end;
        unsigned line; /* of *at */
} ShellText;

/* The byte so far ahead, '\0' behind the end. */
char text_peek(const ShellText *t, size_t ahead);
char text_next(ShellText *t);

/* The word that begins here, which may be empty: the caller's to free. Of a command in it, $( … ), stands only the name, as what
 * comes of it is known only when it runs. */
int shell_word(ShellText *t, char **ret);

/* bash's "NAME=( … )", from the bracket on: `word`, which is what stands before it, gets the values, as any list in one
 * variable. */
int shell_array(ShellText *t, char **word);
