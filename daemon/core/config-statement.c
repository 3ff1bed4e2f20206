/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-complain.h"
#include "config-option.h"
#include "config-statement.h"
#include "nearest.h"

/* The deepest that means anything is a list in a group: match = { model = ("a", "b"); }. */
#define DEPTH_MAX 4U

static bool starts_statement(const Reader *r, size_t i) {
        return token_starts_statement(r->text, i);
}

bool reader_at_option(const Reader *r, size_t i) {
        if (token_type(r, i + 1) != TOKEN_EQUALS)
                return false;
        if (token_is_name(r->text, i, CONFIG_DRIVES))
                return true;

        for (const ConfigOption *p = config_options; p->name; p++)
                if (token_is_name(r->text, i, p->name))
                        return true;

        return false;
}

/* Whether a ')' here, in a block, is the end of the list: behind a block that is not closed, and not a slip in it. */
static bool ends_list(const Reader *r) {
        size_t next = r->i + 1;

        while (token_separates(token_type(r, next)))
                next++;
        return token_type(r, next) == TOKEN_END || token_type(r, next) == TOKEN_GROUP || reader_at_option(r, next);
}

/* Whether this '{' is that of match = { or on_battery = {, perhaps without the "=". */
static bool opens_known(const ConfigText *t, size_t brace) {
        size_t name = t->tokens[brace - 1].type == TOKEN_EQUALS ? brace - 2 : brace - 1;

        return (token_is_name(t, name, "match") || token_is_name(t, name, CONFIG_ON_BATTERY)) &&
               t->tokens[name].line == t->tokens[brace].line;
}

/* Whether a '{' inside a block, not the block's own, is that of a value. Else it begins a block: this one was not closed. */
static bool opens_value(const Reader *r, size_t brace, bool in_list) {
        if (opens_known(r->text, brace))
                return true;

        return (in_list || token_type(r, brace - 1) == TOKEN_EQUALS) && !token_is_name(r->text, brace + 1, "match");
}

bool reader_at_end(Reader *r) {
        switch (token_type(r, r->i)) {
        case TOKEN_END:
                return true;
        case TOKEN_GROUP:
                return r->block && !opens_value(r, r->i, false);
        case TOKEN_LIST_END:
                return r->block && ends_list(r);
        default:
                return !r->block && reader_at_option(r, r->i);
        }
}

/* Whether a '}' here is the end of what is being read. */
static bool at_group_end(const Reader *r) {
        return token_type(r, r->i) == TOKEN_GROUP_END && (r->block || r->depth > 0);
}

static bool ends_value(TokenType type) {
        return type == TOKEN_GROUP_END || type == TOKEN_LIST_END || type == TOKEN_ARRAY_END || type == TOKEN_END;
}

static TokenType closing(TokenType bracket) {
        return bracket == TOKEN_GROUP ? TOKEN_GROUP_END : bracket == TOKEN_LIST ? TOKEN_LIST_END : TOKEN_ARRAY_END;
}

/* The bracket behind `from` that closes one of this type, for going on behind what is in error; 0: there is none. Looked for
 * in vain once in a section at most, so that the time is linear. */
static size_t find_closing(Reader *r, TokenType bracket, size_t from) {
        bool in_list = r->block && bracket != TOKEN_GROUP;
        size_t depth = 1;

        for (size_t i = from; !r->unclosed; i++) {
                TokenType type = token_type(r, i);

                if (type == TOKEN_END || (r->block && type == TOKEN_GROUP && !opens_value(r, i, false)) ||
                    (in_list && (type == TOKEN_GROUP_END || starts_statement(r, i))) ||
                    (!r->block && reader_at_option(r, i)))
                        break;
                if (type == bracket)
                        depth++;
                else if (type == closing(bracket) && --depth == 0)
                        return i;
        }

        return 0;
}

/* Goes behind the bracket. */
static int complain_unclosed(Reader *r, size_t bracket) {
        if (r->unclosed)
                return 0;

        r->unclosed = true;
        return config_text_error(r->text, bracket, "this \"%c\" is not closed", token_type(r, bracket));
}

/* Goes to the next statement: to a ';', or to a name with "=", not inside brackets. */
static void resynchronize(Reader *r) {
        while (!reader_at_end(r) && !at_group_end(r) && !starts_statement(r, r->i) &&
               token_type(r, r->i) != TOKEN_SEMICOLON) {
                TokenType type = token_type(r, r->i++);

                if (type == TOKEN_GROUP || type == TOKEN_LIST || type == TOKEN_ARRAY) {
                        size_t end = find_closing(r, type, r->i);

                        r->unclosed = r->unclosed || end == 0;
                        r->i = end > 0 ? end + 1 : r->i;
                }
        }
}

static int read_value(Reader *r);

/* The values of a list or array, up to its closing bracket. */
static int read_elements(Reader *r, size_t bracket) {
        TokenType end = closing(token_type(r, bracket));
        int k, sound = 1;

        while (token_type(r, r->i) != end) {
                size_t first = r->i;

                k = 1;
                if (!ends_value(token_type(r, first)) && token_type(r, first) != TOKEN_SEMICOLON &&
                    !starts_statement(r, first))
                        k = read_value(r);
                if (k < 0)
                        return k;
                sound = sound && k > 0;

                if (k > 0 && r->i - first > 1 && token_type(r, first) == TOKEN_STRING) {
                        k = config_text_warning(r->text, first + 1,
                                                "these two strings become one; is a comma missing between them?");
                        if (k < 0)
                                return k;
                }

                if (token_type(r, r->i) == TOKEN_COMMA)
                        r->i++;
                else if (token_type(r, r->i) != end) {
                        size_t closed = find_closing(r, token_type(r, bracket), r->i);

                        if (closed == 0)
                                return complain_unclosed(r, bracket);
                        if (sound) {
                                k = config_text_error(r->text, r->i,
                                                      "between the values of a list stands a comma, not \"%s\"",
                                                      TOKEN_QUOTED(r->text, r->i));
                                if (k < 0)
                                        return k;
                        }
                        sound = 0;
                        r->i = closed;
                }
        }

        return sound;
}

/* Whether this is the name of on_battery = { … }, or most likely was meant to be. */
static bool names_battery(const ConfigText *t, size_t token) {
        char buf[TOKEN_TEXT_MAX];
        Nearest n = { .typed = token_copy(t, token, buf) };

        nearest_offer(&n, CONFIG_ON_BATTERY);
        return n.word;
}

static int read_group(Reader *r, size_t bracket) {
        size_t name = r->name, battery = r->battery;
        bool inside = r->inside;
        int k;

        r->battery = name;
        r->inside = inside || !names_battery(r->text, name);
        k = reader_statements(r);
        r->name = name;
        r->battery = battery;
        r->inside = inside;

        return k >= 0 && token_type(r, r->i) != TOKEN_GROUP_END ? complain_unclosed(r, bracket) : k;
}

static int read_bracketed(Reader *r) {
        size_t bracket = r->i++;
        TokenType type = token_type(r, bracket);
        int k;

        if (r->depth == DEPTH_MAX) {
                size_t end = find_closing(r, type, r->i);

                if (end == 0)
                        return complain_unclosed(r, bracket);
                r->i = end + 1;
                return config_text_error(r->text, bracket, "brackets are nested too deeply here");
        }

        r->depth++;
        k = type == TOKEN_GROUP ? read_group(r, bracket) : read_elements(r, bracket);
        r->depth--;
        if (k >= 0 && token_type(r, r->i) == closing(type))
                r->text->tokens[bracket].partner = r->i++;
        return k;
}

static bool is_boolean(const Reader *r, size_t token) {
        char word[TOKEN_TEXT_MAX];

        token_copy(r->text, token, word);
        return strcasecmp(word, "true") == 0 || strcasecmp(word, "false") == 0;
}

/* Goes behind the value; 1 when it is sound, 0 when it was complained about. */
static int read_value(Reader *r) {
        switch (token_type(r, r->i)) {
        case TOKEN_STRING:
                while (token_type(r, r->i) == TOKEN_STRING)
                        r->i++;
                return 1;

        case TOKEN_INTEGER:
        case TOKEN_FLOAT:
                r->i++;
                return 1;

        case TOKEN_NAME:
                if (is_boolean(r, r->i)) {
                        r->i++;
                        return 1;
                }
                if (starts_statement(r, r->i))
                        break;
                return complain_word(r->text, r->table, r->name, r->i++);

        case TOKEN_WORD:
                if (starts_statement(r, r->i))
                        break;
                return complain_word(r->text, r->table, r->name, r->i++);

        case TOKEN_UNCLOSED:
                return config_text_error(r->text, r->i++, "the closing quote of this string is missing on its line");

        case TOKEN_REFUSED:
                r->i++;
                return 0;

        case TOKEN_GROUP:
                if (r->block && !opens_value(r, r->i, r->depth > 0))
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

/* What is no statement. Its first token may still be the name of the setting that was meant. */
static int read_other(Reader *r, Statement *st) {
        int k;

        r->name = st->name = r->i;
        switch (token_type(r, r->i)) {
        case TOKEN_NAME:
                k = config_text_error(r->text, r->i, "a \"=\" is missing behind \"%s\"", TOKEN_QUOTED(r->text, r->i));
                break;
        case TOKEN_REFUSED:
                k = 0;
                break;
        case TOKEN_UNCLOSED:
                k = config_text_error(r->text, r->i,
                                      "a quote too many, or the end of this string is missing on its line");
                break;
        default:
                k = config_text_error(r->text, r->i,
                                      "\"%s\" is not expected here; a block holds match = …; and settings",
                                      TOKEN_QUOTED(r->text, r->i));
        }

        resynchronize(r);
        return k;
}

static int read_statement(Reader *r, Statement *st) {
        int k;

        r->name = st->name = r->i;
        if (token_type(r, r->i) != TOKEN_NAME) {
                k = 0;
                if (token_type(r, r->i) != TOKEN_REFUSED)
                        k = config_text_error(r->text, r->i,
                                              "\"%s\" is no name; names are written without quotes, of "
                                              "letters, digits, \"_\" and \"-\"",
                                              TOKEN_QUOTED(r->text, r->i));
                r->i++;
                resynchronize(r);
                return k;
        }

        r->i += 2;
        st->value = r->i;
        k = read_value(r);
        st->end = r->i;

        if (k > 0 && !reader_at_end(r) && !at_group_end(r) && !token_separates(token_type(r, r->i)) &&
            !starts_statement(r, r->i))
                k = complain_behind(r->text, r->name, r->i);
        if (k == 0)
                resynchronize(r);

        return k;
}

int reader_statement(Reader *r) {
        Statement st = { .battery = r->battery };
        size_t at = r->outline.n_statements;
        int k;

        /* Its place, before those inside it. */
        if (!r->inside) {
                if (!GREW(r->outline.statements, at))
                        return -ENOMEM;
                r->outline.n_statements++;
        }

        k = starts_statement(r, r->i) ? read_statement(r, &st) : read_other(r, &st);
        st.sound = k > 0;
        if (!r->inside)
                r->outline.statements[at] = st;
        return k;
}

int reader_statements(Reader *r) {
        int k, sound = 1;

        while (!reader_at_end(r) && !at_group_end(r)) {
                if (token_separates(token_type(r, r->i))) {
                        r->i++;
                        continue;
                }

                k = reader_statement(r);
                if (k < 0)
                        return k;
                sound = sound && k > 0;
        }

        return sound;
}
