/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds the end of statements, groups and blocks, also in broken files. */

#include <ctype.h>

#include "config-reader.h"

bool reader_at_option(const Reader *r, size_t i) {
        char name[TOKEN_TEXT_MAX];

        return token_type(r, i) == TOKEN_NAME && token_type(r, i + 1) == TOKEN_EQUALS &&
               config_is_option(token_copy(r->text, i, name));
}

/* Returns true if a ')' inside a block ends the list of drives; the block is then not closed. Returns false if the ')' is a typo. */
static bool ends_list(const Reader *r, size_t i) {
        i = skip_separators(r, i + 1);
        return token_type(r, i) == TOKEN_END || reader_at_option(r, i);
}

/* Returns true if a '{' begins a value, even if the "=" is missing. Otherwise the '{' begins a block, and the previous
 * block is not closed. */
static bool opens_value(const Reader *r, size_t brace, bool in_list) {
        TokenType before = token_type(r, brace - 1);

        if (!in_list && before != TOKEN_EQUALS && before != TOKEN_NAME && before != TOKEN_REFUSED)
                return false;
        return r->text->tokens[brace - 1].line == r->text->tokens[brace].line ||
               !token_is_name(r->text, brace + 1, CONFIG_MATCH);
}

/* Returns the first token of a group that has no "{" (match = model = "x"; };) or a wrong bracket (match = ( model = "x"; };).
 * 0: no such group begins at this name. */
static size_t find_braceless(const Reader *r, size_t name) {
        bool match = token_is_name(r->text, name, CONFIG_MATCH);
        char key[TOKEN_TEXT_MAX];
        size_t i = name + 2;

        if ((!match && !token_is_name(r->text, name, CONFIG_ON_BATTERY)) || token_type(r, name + 1) != TOKEN_EQUALS)
                return 0;
        if (token_type(r, i) == TOKEN_GROUP_END && token_type(r, i + 1) == TOKEN_SEMICOLON)
                return i;
        i += token_type(r, i) == TOKEN_LIST || token_type(r, i) == TOKEN_ARRAY || token_type(r, i) == TOKEN_GROUP_END;
        if (!token_starts_statement(r->text, i))
                return 0;
        token_copy(r->text, i, key);
        return (match ? match_key_from_string(key) >= 0 : setting_find(r->table, key) != NULL) ? i : 0;
}

bool reader_is_twice(const Reader *r, size_t token) {
        const Token *t = r->text->tokens + token;

        return token > 0 && t->type == t[-1].type && t->line == t[-1].line;
}

size_t reader_find_closing(const Reader *r, size_t i) {
        size_t braceless;

        for (size_t depth = 0, lists = 0;; i++)
                switch (token_type(r, i)) {
                case TOKEN_END:
                        return i;
                case TOKEN_NAME:
                        braceless = find_braceless(r, i);
                        if (braceless > 0) {
                                depth++;
                                i = braceless - 1;
                        }
                        break;
                case TOKEN_GROUP:
                        if (reader_is_twice(r, i)) /* "{ {" is a typo: one "}" closes both */
                                break;
                        if (!opens_value(r, i, lists > 0))
                                return i;
                        depth++;
                        break;
                case TOKEN_GROUP_END:
                        if (depth == 0)
                                return i;
                        depth--;
                        break;
                case TOKEN_LIST:
                        lists++;
                        break;
                case TOKEN_LIST_END:
                        if (lists == 0 && ends_list(r, i))
                                return i;
                        lists -= lists > 0;
                        break;
                default:
                        break;
                }
}

/* Returns the token after the bracket that closes a list of values. 0: the list is not closed; the error was reported. */
static size_t find_list_end(Reader *r, size_t bracket) {
        TokenType type, end = token_type(r, bracket) == TOKEN_LIST ? TOKEN_LIST_END : TOKEN_ARRAY_END;
        size_t i = bracket;

        if (reader_is_twice(r, i + 1) && token_type(r, i + 2) > TOKEN_END) {
                reader_complain_twice(r, i + 1);
                return 0;
        }
        do
                type = token_type(r, ++i);
        while (type == TOKEN_COMMA || (type > TOKEN_END && !token_starts_statement(r->text, i)));
        if (type == end)
                return i + 1;

        if (type == TOKEN_SEMICOLON && token_type(r, i + 1) == TOKEN_STRING)
                config_text_error(r->text, i, "write \",\" instead of \";\" between the values of a list");
        else if (type == TOKEN_GROUP || type == TOKEN_LIST || type == TOKEN_ARRAY || type == TOKEN_END)
                config_text_error(r->text, bracket,
                                  "this list is not closed by \"%c\", or contains something other than values", end);
        else
                config_text_error(r->text, bracket,
                                  "this list is not closed; write \"%c%s\" before \"%s\" in line %u, column %u", end,
                                  type > TOKEN_END ? ";" : "", TOKEN_QUOTED(r->text, i), r->text->tokens[i].line,
                                  r->text->tokens[i].column);
        return 0;
}

/* Complains if the opening bracket of a list is missing: match = "/dev/a", "/dev/b"]; */
static bool complain_bracketless(Reader *r, size_t value, size_t comma) {
        size_t i = comma;
        bool closed;

        if (token_type(r, value) == TOKEN_LIST || token_type(r, value) == TOKEN_ARRAY ||
            token_type(r, comma) != TOKEN_COMMA || token_type(r, comma + 1) != TOKEN_STRING)
                return false;
        while (token_type(r, i) == TOKEN_COMMA || token_type(r, i) == TOKEN_STRING)
                i++;
        closed = token_type(r, i) == TOKEN_LIST_END || token_type(r, i) == TOKEN_ARRAY_END;
        if (closed)
                config_text_error(r->text, value, "a \"%c\" is missing before this list",
                                  token_type(r, i) == TOKEN_LIST_END ? '(' : '[');
        else
                config_text_error(r->text, value, "write several values as a list in brackets: [ \"...\", \"...\" ]");
        return true;
}

bool reader_complain_twice(Reader *r, size_t token) {
        return config_text_error(r->text, token, "\"%s\" is repeated here; delete one", TOKEN_QUOTED(r->text, token));
}

/* Returns the token after the value at `i`; 0: the value is invalid, which was reported. */
static size_t find_value_end(Reader *r, size_t name, size_t i) {
        size_t end, braceless = find_braceless(r, name);

        if (braceless == i)
                config_text_error(r->text, i, "a \"{\" is missing before \"%s\"", TOKEN_QUOTED(r->text, i));
        else if (braceless > 0)
                config_text_error(r->text, i, "write \"{\" to begin a group, instead of \"%s\"",
                                  TOKEN_QUOTED(r->text, i));
        if (braceless > 0)
                return 0;

        switch (token_type(r, i)) {
        case TOKEN_EQUALS:
                (void) reader_complain_twice(r, i);
                return 0;
        case TOKEN_STRING:
                while (token_type(r, i) == TOKEN_STRING)
                        i++;
                return i;
        case TOKEN_NAME:
        case TOKEN_WORD:
                if (token_starts_statement(r->text, i))
                        break;
                return i + 1;
        case TOKEN_REFUSED:
                return 0;
        case TOKEN_LIST:
        case TOKEN_ARRAY:
                return find_list_end(r, i);
        case TOKEN_GROUP:
                if (!opens_value(r, i, false))
                        break;
                if (reader_is_twice(r, i + 1)) {
                        reader_complain_twice(r, i + 1);
                        return 0;
                }
                /* An unclosed group needs no complaint here: the complaint about its unclosed block covers it. */
                end = reader_find_closing(r, i + 1);
                return end + (token_type(r, end) == TOKEN_GROUP_END);
        default:
                break;
        }

        config_text_error(r->text, name, "\"%s\" has no value", TOKEN_QUOTED(r->text, name));
        return 0;
}

bool reader_complain_slash(Reader *r, size_t token) {
        const Token *k = &r->text->tokens[token];

        return token_type(r, token) == TOKEN_WORD && k->length == 1 && r->text->text[k->offset] == '/' &&
               !config_text_error(r->text, token, "a comment begins with \"//\"; write \"//\" instead of \"/\"");
}

/* Complains about operators of other languages before or after "=", such as "!", "~" and "+". */
static bool complain_operator(Reader *r, size_t token) {
        const Token *k = &r->text->tokens[token];
        char sign = token_type(r, token) == TOKEN_WORD && k->length == 1 ? r->text->text[k->offset] : '\0';

        if (sign == '!')
                config_text_error(
                                r->text, token,
                                "a match cannot be negated: exclude drives by a later block with \"keep\" as the value");
        else if (sign && strchr("~+?<>|^&", sign))
                config_text_error(r->text, token, "\"=\" is the only operator; \"%c\" has no meaning here", sign);
        else
                return false;
        return true;
}

/* Complains about a token that does not begin a statement. */
static void complain_name(Reader *r, size_t token) {
        if (reader_complain_slash(r, token) || (token_type(r, token) == TOKEN_NAME && complain_operator(r, token + 1)))
                return;
        if (token_type(r, token) == TOKEN_NAME)
                config_text_error(r->text, token, "a \"=\" is missing after \"%s\"", TOKEN_QUOTED(r->text, token));
        else
                config_text_error(
                                r->text, token,
                                "\"%s\" is not expected here; a setting has the form KEY = VALUE; without quotes around KEY",
                                TOKEN_QUOTED(r->text, token));
}

/* Complains about an unexpected token after a value. */
static void complain_after_value(Reader *r, size_t name, size_t token) {
        const ConfigText *t = r->text;

        if (token_type(r, token) == TOKEN_REFUSED || reader_complain_slash(r, token) || complain_operator(r, token - 1))
                return;
        if (token_type(r, token) < TOKEN_END && reader_is_twice(r, token))
                reader_complain_twice(r, token);
        else if (token_type(r, token) == TOKEN_NAME && isdigit((unsigned char) t->text[t->tokens[token - 1].offset]))
                config_text_error(
                                r->text, token,
                                "a number with a unit must be in quotes (\"%s %s\"), or a \";\" is missing before \"%s\"",
                                TOKEN_QUOTED(t, token - 1), TOKEN_QUOTED(t, token), TOKEN_QUOTED(t, token));
        else
                config_text_error(r->text, token, "\"%s\" is not expected after the value of \"%s\"",
                                  TOKEN_QUOTED(t, token), TOKEN_QUOTED(t, name));
}

size_t reader_statement(Reader *r, size_t name, size_t end) {
        size_t next = 0;

        if (token_type(r, name) == TOKEN_NAME && token_type(r, name + 1) == TOKEN_EQUALS)
                next = find_value_end(r, name, name + 2);
        else if (token_type(r, name) != TOKEN_REFUSED)
                complain_name(r, name);

        if (next > 0 && next < end && !token_separates(token_type(r, next)) && !token_starts_statement(r->text, next)) {
                complain_after_value(r, name, next);
                next = 0;
        }
        if (next > 0 && complain_bracketless(r, name + 2, next))
                next = 0;
        if (next == 0)
                r->broken = r->text->muted = true;
        return next;
}
