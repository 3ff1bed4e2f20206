/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-option.h"
#include "config-secret.h"
#include "nearest.h"

static bool is_secret(const ConfigText *t, size_t token, const SettingTable *table) {
        char buf[TOKEN_NAME_MAX];
        Nearest n = { .typed = token_copy(t, token, buf) };
        const Setting *exact = setting_find(table, buf);
        MatchKey key = match_key_from_string(buf);

        if (exact)
                return exact->flags & SETTING_EXCLUDED;
        if (!token_starts_statement(t, token) || streq(buf, "match") || (key >= 0 && key < MATCH_PROPERTY))
                return false;

        SETTING_TABLE_FOREACH(s, table)
                if (s->flags & SETTING_EXCLUDED)
                        nearest_offer(&n, s->name);

        return n.word;
}

/* Where the value ends is a guess when its quotes or its semicolon are missing. So all that stands in the key's line
 * belongs to it, and further lines do up to a semicolon, or something that looks like the next statement. */
static size_t hide_value(ConfigText *t, size_t key) {
        bool ended = false;
        size_t i = key + 1;

        for (; i < t->n_tokens && t->tokens[i].type != TOKEN_END; i++) {
                bool same_line = t->tokens[i].line == t->tokens[key].line;

                if (!same_line && (ended || (i > key + 2 && token_starts_statement(t, i))))
                        break;
                ended = ended || t->tokens[i].type == TOKEN_SEMICOLON;
                t->tokens[i].secret = true;
        }

        return i;
}

static bool is_option(const char *name) {
        Nearest n = { .typed = name };

        for (const ConfigOption *o = config_options; o->name; o++)
                nearest_offer(&n, o->name);
        return n.word;
}

/* A colon is an "=" to libconfig, but so it is in /etc/shadow. */
static bool is_assigned(const ConfigText *t, size_t token) {
        return t->tokens[token + 1].type == TOKEN_EQUALS && t->text[t->tokens[token + 1].offset] == '=';
}

/* "NAME = ( {", whatever the list is called; of drives the bracket is enough. */
static bool begins_list(const ConfigText *t, size_t token, bool named) {
        size_t k = token + 1;

        k += t->tokens[k].type == TOKEN_EQUALS;
        switch (t->tokens[k].type) {
        case TOKEN_LIST:
                return named || (k > token + 1 && t->tokens[k + 1].type == TOKEN_GROUP);
        case TOKEN_GROUP:
        case TOKEN_ARRAY:
                return named;
        default:
                return false;
        }
}

/* A key of another program's file, which may also have keys of ours by chance ("timeout"): outside of all brackets only options of
 * ours are expected. */
static bool is_foreign_key(const ConfigText *t, size_t token, const SettingTable *table) {
        char name[TOKEN_NAME_MAX];

        token_copy(t, token, name);
        return token_starts_statement(t, token) && is_assigned(t, token) && !streq(name, CONFIG_DRIVES) &&
               !streq(name, "match") && !setting_find(table, name) && !setting_nearest(table, name) &&
               !is_option(name) && !begins_list(t, token, false);
}

void config_text_hide_secrets(ConfigText *t, const SettingTable *table) {
        size_t depth = 0;

        for (size_t i = 0; i < t->n_tokens;)
                switch (t->tokens[i].type) {
                case TOKEN_GROUP:
                case TOKEN_LIST:
                case TOKEN_ARRAY:
                        depth++;
                        i++;
                        break;
                case TOKEN_GROUP_END:
                case TOKEN_LIST_END:
                case TOKEN_ARRAY_END:
                        depth -= depth > 0;
                        i++;
                        break;
                case TOKEN_NAME:
                        if (is_secret(t, i, table) || (depth == 0 && is_foreign_key(t, i, table))) {
                                i = hide_value(t, i);
                                break;
                        }
                        _fallthrough_;
                default:
                        i++;
                }
}

bool config_text_is_foreign(const ConfigText *t, const SettingTable *table) {
        char name[TOKEN_NAME_MAX];

        for (size_t i = 0; t->tokens[i].type != TOKEN_END; i++) {
                if (t->tokens[i].type != TOKEN_NAME)
                        continue;
                token_copy(t, i, name);
                if (begins_list(t, i, streq(name, CONFIG_DRIVES)) ||
                    (is_assigned(t, i) && (streq(name, CONFIG_DRIVES) || streq(name, "match") ||
                                           setting_find(table, name) || is_option(name))))
                        return false;
        }

        return t->tokens[0].type != TOKEN_END;
}
