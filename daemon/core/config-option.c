/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The options beside the list of drives. */

#include "config-reader.h"
#include "text.h"

static void complain_option(Reader *r, size_t token, const char *name) {
        Nearest n = { .typed = name };

        nearest_offer(&n, CONFIG_DRIVES);
        for (size_t i = 0; i < CONFIG_OPTIONS; i++)
                nearest_offer(&n, config_options[i].name);

        if (!n.word && token_type(r, token + 2) == TOKEN_LIST && token_type(r, token + 3) == TOKEN_GROUP)
                n.word = CONFIG_DRIVES;
        if (n.word)
                config_text_error(r->text, token, "unknown option \"%s\"; did you mean \"%s\"?", name, n.word);
        else if (setting_find(r->table, name) || streq(name, CONFIG_ON_BATTERY))
                config_text_error(r->text, token,
                                  "\"%s\" is a setting of drives: write it into a block of drives = ( ... );", name);
        else
                config_text_error(r->text, token, "unknown option \"%s\"", name);
}

bool reader_option(Reader *r) {
        char name[TOKEN_TEXT_MAX];
        size_t token = r->i, next, option = config_find_option(token_copy(r->text, token, name));
        Value v = {};

        if (option == CONFIG_OPTIONS) {
                if (!r->in_section && token_type(r, token) != TOKEN_REFUSED)
                        complain_option(r, token, name);
                r->text->muted = true;
        }
        next = reader_statement(r, token, r->text->n_tokens - 2);
        r->text->muted = false;
        r->i = next > 0 ? next : token + 2;
        if (next == 0 || option == CONFIG_OPTIONS)
                return next > 0;

        if (r->options_seen & UINT64_C(1) << option) {
                config_text_error(r->text, token, "\"%s\" stands here a second time; the first counts", name);
                return true;
        }
        r->options_seen |= UINT64_C(1) << option;

        if (reader_value(r, token + 2, name, &config_options[option].range, &v, NULL) && token < r->text->doubtful)
                *(uint64_t *) ((char *) r->config + config_options[option].offset) = (uint64_t) v.number;
        return true;
}
