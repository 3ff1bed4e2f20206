/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-secret.h"
#include "nearest.h"

static bool is_secret(const ConfigText *t, size_t token, const SettingTable *table) {
        char buf[TOKEN_NAME_MAX];
        Nearest n = { .typed = token_copy(t, token, buf) };
        const Setting *exact = setting_find(table, buf);

        if (exact)
                return exact->flags & SETTING_EXCLUDED;
        if (!token_starts_statement(t, token))
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

void config_text_hide_secrets(ConfigText *t, const SettingTable *table) {
        for (size_t i = 0; i < t->n_tokens;)
                if (t->tokens[i].type == TOKEN_NAME && is_secret(t, i, table))
                        i = hide_value(t, i);
                else
                        i++;
}
