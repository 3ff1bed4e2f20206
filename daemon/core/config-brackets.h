/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which brackets are open at a place in the file, and which of them a closing one closes. */

#include "config-text.h"

typedef struct Brackets {
        ConfigText *text;
        size_t *open; /* tokens, outermost first; room for all there are */
        size_t n_open;
} Brackets;

/* Of the nth bracket that is open, 1 for the innermost; TOKEN_END: there are not so many. */
TokenType brackets_type(const Brackets *b, size_t n);

/* Passes a token; a closing one becomes its partner's partner. Returns false when it closes nothing. */
bool brackets_pass(Brackets *b, size_t token);

/* Whether a '{' inside a block, not the block's own, is that of a value. Else it begins a block: this one was not
 * closed. */
bool brackets_open_value(const Brackets *b, size_t brace);
