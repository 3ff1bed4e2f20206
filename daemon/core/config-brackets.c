/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-brackets.h"

TokenType brackets_type(const Brackets *b, size_t n) {
        return n <= b->n_open ? b->text->tokens[b->open[b->n_open - n]].type : TOKEN_END;
}

bool brackets_pass(Brackets *b, size_t token) {
        TokenType type = b->text->tokens[token].type, opening;

        if (type == TOKEN_GROUP || type == TOKEN_LIST || type == TOKEN_ARRAY) {
                b->open[b->n_open++] = token;
                return true;
        }

        if (type == TOKEN_GROUP_END) {
                /* '}' is surest: it closes what is open within its group, too. */
                while (b->n_open > 0 && brackets_type(b, 1) != TOKEN_GROUP)
                        b->n_open--;
                opening = TOKEN_GROUP;
        } else if (type == TOKEN_LIST_END || type == TOKEN_ARRAY_END) {
                TokenType other = type == TOKEN_LIST_END ? TOKEN_ARRAY : TOKEN_LIST;

                opening = type == TOKEN_LIST_END ? TOKEN_LIST : TOKEN_ARRAY;
                if (brackets_type(b, 1) == other && brackets_type(b, 2) == opening)
                        b->n_open--;
        } else
                return true;

        if (brackets_type(b, 1) != opening)
                return false;

        b->text->tokens[b->open[--b->n_open]].partner = token;
        return true;
}

/* Whether this '{' is that of match = { or on_battery = {, perhaps without the "=". */
static bool opens_known(const ConfigText *t, size_t brace) {
        size_t name = t->tokens[brace - 1].type == TOKEN_EQUALS ? brace - 2 : brace - 1;

        return (token_is_name(t, name, "match") || token_is_name(t, name, CONFIG_ON_BATTERY)) &&
               t->tokens[name].line == t->tokens[brace].line;
}

bool brackets_open_value(const Brackets *b, size_t brace) {
        TokenType before = b->text->tokens[brace - 1].type, around = brackets_type(b, 1);

        if (opens_known(b->text, brace))
                return true;
        if (token_is_name(b->text, brace + 1, "match"))
                return false;

        return before == TOKEN_EQUALS || ((around == TOKEN_LIST || around == TOKEN_ARRAY) &&
                                          (before == TOKEN_LIST || before == TOKEN_ARRAY || before == TOKEN_COMMA));
}
