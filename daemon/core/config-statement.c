/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "config-reader.h"
#include "nearest.h"

/* The deepest that means anything is a list in a group: match = { model = ("a", "b"); }. */
#define DEPTH_MAX 4U

static bool starts_statement(const Reader *r, size_t i) {
        return token_starts_statement(r->text, i);
}

bool reader_at_option(const Reader *r, size_t i) {
        char name[TOKEN_TEXT_MAX];

        if (token_type(r, i) != TOKEN_NAME || token_type(r, i + 1) != TOKEN_EQUALS)
                return false;

        token_copy(r->text, i, name);
        return config_is_option(name);
}

/* Whether a ')' here, in a block, is the end of the list: behind a block that is not closed, and not a slip in it. */
static bool ends_list(const Reader *r) {
        size_t next = r->i + 1;

        while (token_separates(token_type(r, next)))
                next++;
        return token_type(r, next) == TOKEN_END || reader_at_option(r, next);
}

/* Whether a '{' here is that of a value. Else it begins a block: the one before was not closed. */
static bool opens_value(const Reader *r, size_t brace, bool in_list) {
        bool assigned = token_type(r, brace - 1) == TOKEN_EQUALS;
        size_t name = brace - (assigned ? 2 : 1);

        /* Perhaps without its "=". */
        if ((assigned || token_is_name(r->text, name, CONFIG_MATCH) ||
             token_is_name(r->text, name, CONFIG_ON_BATTERY)) &&
            r->text->tokens[name].line == r->text->tokens[brace].line)
                return true;

        return (in_list || assigned) && !token_is_name(r->text, brace + 1, CONFIG_MATCH);
}

/* Whether what is being read ends here, whatever is still open in it. */
static bool at_end(const Reader *r) {
        switch (token_type(r, r->i)) {
        case TOKEN_END:
                return true;
        case TOKEN_GROUP:
                return !opens_value(r, r->i, false);
        case TOKEN_LIST_END:
                return ends_list(r);
        default:
                return false;
        }
}

static bool is_closing(TokenType type) {
        return type == TOKEN_GROUP_END || type == TOKEN_LIST_END || type == TOKEN_ARRAY_END;
}

/* Behind an error: goes to the next statement, that is to a ';', or to a name with "=", not inside braces that open here. */
static void resynchronize(Reader *r) {
        size_t depth = 0;

        for (; !at_end(r); r->i++) {
                TokenType type = token_type(r, r->i);

                if (depth == 0 &&
                    (token_type(r, r->i) == TOKEN_GROUP_END || starts_statement(r, r->i) || type == TOKEN_SEMICOLON))
                        return;
                depth += type == TOKEN_GROUP;
                depth -= type == TOKEN_GROUP_END && depth > 0;
        }
}

static bool read_value(Reader *r);

/* The values of a list or array, from behind its opening bracket. */
static bool read_elements(Reader *r, size_t bracket) {
        TokenType end = token_type(r, bracket) == TOKEN_LIST ? TOKEN_LIST_END : TOKEN_ARRAY_END;

        while (token_type(r, r->i) != end) {
                TokenType type = token_type(r, r->i);

                if (type == TOKEN_END || type == TOKEN_SEMICOLON || is_closing(type) || starts_statement(r, r->i))
                        return config_text_error(r->text, bracket, "this \"%c\" is not closed", token_type(r, bracket));
                if (type == TOKEN_COMMA)
                        r->i++;
                else if (!read_value(r))
                        return false;
        }

        r->i++;
        return true;
}

/* Whether this is the name of on_battery = { … }, or most likely was meant to be. */
static bool names_battery(const ConfigText *t, size_t token) {
        char buf[TOKEN_TEXT_MAX];
        Nearest n = { .typed = token_copy(t, token, buf) };

        nearest_offer(&n, CONFIG_ON_BATTERY);
        return n.word;
}

/* The statements of a group, from behind its '{'. */
static bool read_group(Reader *r, size_t bracket) {
        size_t name = r->name, group = r->group;
        bool battery = r->battery, sound;

        r->group = name;
        r->battery = (group == 0 || battery) && names_battery(r->text, name);
        sound = reader_statements(r);
        r->name = name;
        r->group = group;
        r->battery = battery;

        if (token_type(r, r->i) == TOKEN_GROUP_END) {
                r->i++;
                return sound;
        }
        return config_text_error(r->text, bracket, "this \"{\" is not closed");
}

static bool read_bracketed(Reader *r) {
        size_t bracket = r->i;
        bool sound;

        if (r->depth == DEPTH_MAX)
                return config_text_error(r->text, bracket, "brackets are nested too deeply here");

        r->i++;
        r->depth++;
        sound = token_type(r, bracket) == TOKEN_GROUP ? read_group(r, bracket) : read_elements(r, bracket);
        r->depth--;
        return sound;
}

/* Goes behind the value; false: it was complained about. */
static bool read_value(Reader *r) {
        TokenType type = token_type(r, r->i);

        switch (type) {
        case TOKEN_STRING:
                while (token_type(r, r->i) == TOKEN_STRING)
                        r->i++;
                return true;

        case TOKEN_NAME:
        case TOKEN_WORD:
                if (starts_statement(r, r->i))
                        break;
                r->i++;
                return true;

        case TOKEN_REFUSED:
                r->i++;
                return false;

        case TOKEN_GROUP:
                if (!opens_value(r, r->i, r->depth > 0))
                        break;
                _fallthrough_;
        case TOKEN_LIST:
        case TOKEN_ARRAY:
                return read_bracketed(r);

        default:
                break;
        }

        return config_text_error(r->text, r->name, "\"%s\" has no value", TOKEN_QUOTED(r->text, r->name));
}

/* Of what is no statement. Its first token may still be the name of the setting that was meant. */
static bool complain_other(Reader *r, size_t token) {
        switch (token_type(r, token)) {
        case TOKEN_NAME:
                return config_text_error(r->text, token, "a \"=\" is missing behind \"%s\"",
                                         TOKEN_QUOTED(r->text, token));
        case TOKEN_REFUSED:
                return false;
        default:
                return config_text_error(r->text, token,
                                         "\"%s\" is not expected here; a block holds match = …; and settings",
                                         TOKEN_QUOTED(r->text, token));
        }
}

/* Of something behind the value of r->name. */
static bool complain_behind(Reader *r, size_t token) {
        const ConfigText *t = r->text;

        if (token_type(r, token) == TOKEN_REFUSED)
                return false;
        if (token_type(r, token) == TOKEN_NAME && isdigit((unsigned char) t->text[t->tokens[token - 1].offset]))
                return config_text_error(r->text, token,
                                         "a number with a unit must be in quotes (\"%s %s\"), or a \";\" is missing "
                                         "before \"%s\"",
                                         TOKEN_QUOTED(t, token - 1), TOKEN_QUOTED(t, token), TOKEN_QUOTED(t, token));

        return config_text_error(r->text, token, "\"%s\" does not belong here, behind the value of \"%s\"",
                                 TOKEN_QUOTED(t, token), TOKEN_QUOTED(t, r->name));
}

static bool complain_name(Reader *r, size_t token) {
        if (token_type(r, token) == TOKEN_REFUSED)
                return false;

        return config_text_error(r->text, token,
                                 "\"%s\" is no name; names are written without quotes, of letters, digits, \"_\" and "
                                 "\"-\"",
                                 TOKEN_QUOTED(r->text, token));
}

bool reader_statement(Reader *r) {
        Statement st = { .name = r->i, .group = r->group, .battery = r->battery };
        size_t at = r->n_statements;

        /* Its place, before those inside it. */
        if (GREW(r->statements, at))
                r->n_statements++;
        else
                r->text->error = -ENOMEM;

        r->name = st.name;
        if (starts_statement(r, st.name)) {
                r->i += 2;
                st.value = r->i;
                st.sound = token_type(r, st.name) == TOKEN_NAME ? read_value(r) : complain_name(r, st.name);
                st.end = r->i;
        } else
                complain_other(r, st.name);

        if (st.sound && !at_end(r) && token_type(r, r->i) != TOKEN_GROUP_END && !token_separates(token_type(r, r->i)) &&
            !starts_statement(r, r->i))
                st.sound = complain_behind(r, r->i);
        if (!st.sound)
                resynchronize(r);

        if (at < r->n_statements)
                r->statements[at] = st;
        return st.sound;
}

bool reader_statements(Reader *r) {
        bool sound = true;

        while (!at_end(r) && token_type(r, r->i) != TOKEN_GROUP_END)
                if (token_separates(token_type(r, r->i)))
                        r->i++;
                else
                        sound = reader_statement(r) && sound;

        return sound;
}
