/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-parse.h"
#include "nearest.h"

/* The deepest that means anything is a list in a group: match = { model = ("a", "b"); }. */
#define DEPTH_MAX 4U

/* Tokens are read from i up to end. */
typedef struct Reader {
        ConfigText *text;
        const SettingTable *table;
        size_t i, end;
        unsigned depth;
        size_t name;            /* of the statement being read, for complaints */
        size_t battery;         /* of the on_battery around it; 0: none */
        Statements *statements; /* to add to; NULL inside a group that is a value: only its soundness counts */
        bool *unclosed;         /* a bracket that is not closed was complained about; once is enough for a section */
} Reader;

static TokenType token_type(const Reader *r, size_t i) {
        return i < r->end ? r->text->tokens[i].type : TOKEN_END;
}

static bool starts_statement(const Reader *r, size_t i) {
        return i + 1 < r->end && token_starts_statement(r->text, i);
}

/* Goes to the next statement: behind a ';', or to a name with "=", not inside brackets. */
static void resynchronize(Reader *r) {
        while (r->i < r->end && !starts_statement(r, r->i)) {
                const Token *t = &r->text->tokens[r->i];

                if (t->type == TOKEN_SEMICOLON)
                        return;
                r->i = t->partner > r->i && t->partner < r->end ? t->partner + 1U : r->i + 1;
        }
}

/* Bytes of the quote at `s` that is none here: \', or one of U+2018…U+201F; 0: there is none. */
static int quote_length(const char *s) {
        if (*s == '\'')
                return 1;
        return s[0] == '\xe2' && s[1] == '\x80' && (s[2] & 0xf8) == 0x98 ? 3 : 0;
}

static int complain_word(Reader *r) {
        static const struct {
                const char *word;
                const char *boolean;
        } switches[] = {
                { "on", "true" },
                { "yes", "true" },
                { "off", "false" },
                { "no", "false" },
        };
        const char *word = token_quote(r->text, r->i);
        int n = token_quote_length(r->text, r->i), quote = n > 2 ? quote_length(word) : 0, k;
        char name[TOKEN_NAME_MAX], copy[TOKEN_NAME_MAX];
        size_t at = r->i++;
        const Setting *row;
        Value v;

        row = setting_find(r->table, token_copy(r->text, r->name, name));
        token_copy(r->text, at, copy);
        if (row && quote == 0 && !streq(copy, "keep")) {
                /* Quotes would not make it one. */
                k = value_parse(&row->range, copy, &v);
                if (k < 0)
                        return complain_value(r->text, at, name, &row->range, k);
        }

        for (size_t i = 0; i < ELEMENTSOF(switches); i++)
                if ((size_t) n == strlen(switches[i].word) && strncasecmp(word, switches[i].word, n) == 0)
                        return config_text_error(r->text, at,
                                                 "%s must be in quotes: write \"%s\", or %s without quotes",
                                                 switches[i].word, switches[i].word, switches[i].boolean);

        if (quote > 0 && n > 2 * quote && quote_length(word + n - quote) == quote)
                return config_text_error(r->text, at, "a string has straight double quotes: write \"%.*s\"",
                                         n - 2 * quote, word + quote);
        if (quote > 0)
                return config_text_error(r->text, at, "a string has straight double quotes: \"…\"");

        if ((uint32_t) n < r->text->tokens[at].length)
                return config_text_error(r->text, at, "a string must be in quotes: \"…\"");
        return config_text_error(r->text, at, "%.*s must be in quotes: write \"%.*s\"", n, word, n, word);
}

static int complain_behind(Reader *r) {
        TokenType before = token_type(r, r->i - 1);
        size_t at = r->i;

        if ((before == TOKEN_INTEGER || before == TOKEN_FLOAT) && token_type(r, at) == TOKEN_NAME)
                return config_text_error(
                                r->text, at,
                                "a number with a unit must be in quotes (\"%.*s %.*s\"), or a \";\" is missing "
                                "before \"%.*s\"",
                                TOKEN_QUOTED(r->text, at - 1), TOKEN_QUOTED(r->text, at), TOKEN_QUOTED(r->text, at));

        if (token_type(r, at) == TOKEN_UNCLOSED)
                return config_text_error(r->text, at,
                                         "a quote too many, or the end of this string is missing on its line");
        if (token_type(r, at) == TOKEN_REFUSED)
                return 0;

        return config_text_error(r->text, at, "\"%.*s\" does not belong here, behind the value of \"%.*s\"",
                                 TOKEN_QUOTED(r->text, at), TOKEN_QUOTED(r->text, r->name));
}

static int read_value(Reader *r);

/* The values of a list or array; r->i is behind its bracket, r->end at the closing one. */
static int read_elements(Reader *r) {
        int k = 1, sound = 1;

        while (r->i < r->end) {
                size_t first = r->i;

                k = read_value(r);
                if (k < 0)
                        return k;
                sound = sound && k > 0;

                if (k > 0 && r->i - first > 1 && r->text->tokens[first].type == TOKEN_STRING) {
                        k = config_text_warning(r->text, first + 1,
                                                "these two strings become one; is a comma missing between them?");
                        if (k < 0)
                                return k;
                }

                if (r->i < r->end && token_type(r, r->i) != TOKEN_COMMA) {
                        if (!sound)
                                return 0;
                        return config_text_error(r->text, r->i,
                                                 "between the values of a list stands a comma, not \"%.*s\"",
                                                 TOKEN_QUOTED(r->text, r->i));
                }
                r->i++;
        }

        return sound;
}

/* Whether this is the name of on_battery = { … }, or most likely was meant to be. */
static bool names_battery(const ConfigText *t, size_t token) {
        char buf[TOKEN_NAME_MAX];
        Nearest n = { .typed = token_copy(t, token, buf) };

        nearest_offer(&n, CONFIG_ON_BATTERY);
        return n.word;
}

static int read_statements(Reader *r);

static int read_bracketed(Reader *r) {
        const Token *t = &r->text->tokens[r->i];
        size_t at = r->i++;
        Reader inner = *r;

        if (t->partner <= at || t->partner >= r->end) {
                bool told = *r->unclosed;

                *r->unclosed = true;
                return told ? 0 : config_text_error(r->text, at, "this \"%c\" is not closed", t->type);
        }

        inner.end = t->partner;
        inner.depth++;
        inner.battery = r->name;
        inner.statements = names_battery(r->text, r->name) ? r->statements : NULL;
        r->i = t->partner + 1U;
        if (inner.depth > DEPTH_MAX)
                return config_text_error(r->text, at, "brackets are nested too deeply here");

        return t->type == TOKEN_GROUP ? read_statements(&inner) : read_elements(&inner);
}

/* Goes behind the value; 1 when it is sound, 0 when it was complained about. */
static int read_value(Reader *r) {
        const Token *t = &r->text->tokens[r->i];

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
                if ((t->length == 4 && strncasecmp(token_text(r->text, r->i), "true", 4) == 0) ||
                    (t->length == 5 && strncasecmp(token_text(r->text, r->i), "false", 5) == 0)) {
                        r->i++;
                        return 1;
                }
                if (starts_statement(r, r->i))
                        break;
                return complain_word(r);

        case TOKEN_WORD:
                if (starts_statement(r, r->i))
                        break;
                return complain_word(r);

        case TOKEN_UNCLOSED:
                return config_text_error(r->text, r->i++, "the closing quote of this string is missing on its line");

        case TOKEN_REFUSED:
                r->i++;
                return 0;

        case TOKEN_GROUP:
        case TOKEN_LIST:
        case TOKEN_ARRAY:
                return read_bracketed(r);

        default:
                break;
        }

        return config_text_error(r->text, r->name, "\"%.*s\" has no value", TOKEN_QUOTED(r->text, r->name));
}

static int add_statement(Statements *s, const Statement *statement) {
        if (s->n_items == s->n_allocated) {
                size_t n = MAX(s->n_allocated * 2, 16U);
                Statement *items = reallocarray(s->items, n, sizeof(Statement));

                if (!items)
                        return -ENOMEM;
                s->items = items;
                s->n_allocated = n;
        }

        s->items[s->n_items++] = *statement;
        return 0;
}

/* What is no statement. Its first token may still be the name of the setting that was meant. */
static int read_other(Reader *r, Statement *st) {
        int k;

        r->name = st->name = r->i;
        switch (token_type(r, r->i)) {
        case TOKEN_NAME:
                k = config_text_error(r->text, r->i, "a \"=\" is missing behind \"%.*s\"", TOKEN_QUOTED(r->text, r->i));
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
                                      "\"%.*s\" is not expected here; a block holds match = …; and settings",
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
                                              "\"%.*s\" is no name; names are written without quotes, of "
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

        if (k > 0 && r->i < r->end && token_type(r, r->i) != TOKEN_SEMICOLON && token_type(r, r->i) != TOKEN_COMMA &&
            !starts_statement(r, r->i))
                k = complain_behind(r);
        if (k == 0)
                resynchronize(r);

        return k;
}

static int read_statements(Reader *r) {
        Statements *s = r->statements;
        int k, sound = 1;

        while (r->i < r->end) {
                Statement st = { .battery = r->battery };
                size_t at = s ? s->n_items : 0;

                if (token_type(r, r->i) == TOKEN_SEMICOLON || token_type(r, r->i) == TOKEN_COMMA) {
                        r->i++;
                        continue;
                }

                /* Its place, before those inside it. */
                k = s ? add_statement(s, &st) : 0;
                if (k < 0)
                        return k;

                k = starts_statement(r, r->i) ? read_statement(r, &st) : read_other(r, &st);
                if (k < 0)
                        return k;
                sound = sound && k > 0;
                st.sound = k > 0;
                if (s)
                        s->items[at] = st;
        }

        return sound;
}

int statements_read(ConfigText *t, const SettingTable *table, const Section *s, Statements *ret) {
        bool unclosed = false;
        Reader r = { .text = t,
                     .table = table,
                     .i = s->inside,
                     .end = s->end,
                     .statements = ret,
                     .unclosed = &unclosed };

        ret->n_items = 0;
        return read_statements(&r);
}

void statements_done(Statements *s) {
        free(s->items);
        *s = (Statements){};
}

static bool ends_value(TokenType type) {
        return type == TOKEN_GROUP_END || type == TOKEN_LIST_END || type == TOKEN_ARRAY_END || type == TOKEN_END;
}

size_t group_next(const ConfigText *t, size_t token) {
        for (size_t i = token + 1; !ends_value(t->tokens[i].type); i = MAX(t->tokens[i].partner, i) + 1)
                if (token_starts_statement(t, i))
                        return i;

        return 0;
}

size_t list_next(const ConfigText *t, size_t token) {
        bool first = t->tokens[token].type == TOKEN_LIST || t->tokens[token].type == TOKEN_ARRAY;
        size_t i = token + 1;

        /* An element that is itself a bracket was skipped as a whole by whoever asks: lists hold strings only. */
        for (; !first && t->tokens[i].type != TOKEN_COMMA; i++)
                if (ends_value(t->tokens[i].type))
                        return 0;

        i += !first;
        return ends_value(t->tokens[i].type) ? 0 : i;
}
