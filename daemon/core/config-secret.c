/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-reader.h"

bool config_is_key(const char *name, const SettingTable *table) {
        MatchKey key = match_key_from_string(name);

        return config_is_option(name) || block_has_key(name) || (key >= 0 && key < MATCH_PROPERTY) ||
               setting_find(table, name);
}

void config_text_hide_secrets(ConfigText *t, const SettingTable *table) {
        char name[TOKEN_TEXT_MAX];
        bool hidden = true;

        for (size_t i = 0; t->tokens[i].type != TOKEN_END; i++) {
                const Setting *row = setting_find(table, token_copy(t, i, name));
                bool excluded = row && (row->flags & SETTING_EXCLUDED);

                if (token_starts_statement(t, i) || excluded)
                        hidden = excluded || !config_is_key(name, table);
                else
                        t->tokens[i].secret = hidden && t->tokens[i].type > TOKEN_END && !config_is_key(name, table);
        }
}

/* A colon is an "=" to libconfig, but so it is in /etc/shadow. */
static bool is_assigned(const ConfigText *t, size_t token) {
        return t->tokens[token + 1].type == TOKEN_EQUALS && t->text[t->tokens[token + 1].offset] == '=';
}

bool config_text_is_foreign(const ConfigText *t, const SettingTable *table) {
        char name[TOKEN_TEXT_MAX];

        for (size_t i = 0; t->tokens[i].type != TOKEN_END; i++) {
                TokenType type = t->tokens[i].type, next = t->tokens[i + 1].type;

                if (type == TOKEN_LIST && next == TOKEN_GROUP)
                        return false;
                if (is_assigned(t, i) && config_is_key(token_copy(t, i, name), table))
                        return false;
        }

        return t->tokens[0].type != TOKEN_END;
}
