/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a command of a shell script asks, when others run only if it succeeds. */

#include "macro.h"

typedef enum Chance {
        CHANCE_GIVEN,   /* succeeds wherever there is something to set */
        CHANCE_MISSING, /* fails there */
        CHANCE_OPEN,    /* known only when it runs */
} Chance;

Chance chance_opposite(Chance c);
Chance condition_chance(char *const *words, size_t n_words);

/* One of the words by which scripts are told of boot and resume, when drivekeep does the same by itself. */
bool condition_is_usual(const char *verb);

/* One of the programs that import reads, by its name without a path. */
bool condition_is_tool(const char *name);
/* Whether one of their names stands in the text. */
bool condition_names_tool(const char *text);

/* Whether it sets something of a drive, or could. */
bool condition_sets(char *const *words, size_t n_words);
