/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The options beside the list of drives. */

#include "config-reader.h"
#include "text.h"

static const ValueWord on_drift_words[] = { { "report", ON_DRIFT_REPORT }, { "restore", ON_DRIFT_RESTORE }, {} };

/* clang-format off */
static const struct {
        const char *name;
        ValueRange range;
        size_t offset; /* of its uint64_t in Config */
} options[] = {
        { "fsck_wait", { .type = VALUE_DURATION, .min = 1000, .max = INT64_C(24) * 3600 * 1000 },
          offsetof(Config, fsck_wait_ms) },
        { "recheck", { .type = VALUE_DURATION, .min = 60 * 1000, .max = INT64_C(7) * 24 * 3600 * 1000, .has_off = true },
          offsetof(Config, recheck_ms) },
        { "on_drift", { .type = VALUE_NAME, .words = on_drift_words }, offsetof(Config, on_drift) },
        { "spin_up_at_once", { .type = VALUE_INT, .min = 1, .max = 1000, .has_off = true },
          offsetof(Config, spin_up_at_once) },
        { "wake_log", { .type = VALUE_BOOL }, offsetof(Config, wake_log) },
};
/* clang-format on */

static size_t find_option(const char *name) {
        size_t i = 0;

        while (i < ELEMENTSOF(options) && !streq(options[i].name, name))
                i++;
        return i;
}

bool config_is_option(const char *name) {
        return streq(name, CONFIG_DRIVES) || find_option(name) < ELEMENTSOF(options);
}

bool config_is_key(const char *name, const SettingTable *table) {
        MatchKey key = match_key_from_string(name);

        return config_is_option(name) || block_has_key(name) || (key >= 0 && key < MATCH_PROPERTY) ||
               setting_find(table, name);
}

static void complain_option(Reader *r, size_t token, const char *name) {
        Nearest n = { .typed = name };

        nearest_offer(&n, CONFIG_DRIVES);
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                nearest_offer(&n, options[i].name);

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
        size_t token = r->i, next, option = find_option(token_copy(r->text, token, name));
        Value v = {};

        if (option == ELEMENTSOF(options)) {
                if (!r->in_section && token_type(r, token) != TOKEN_REFUSED)
                        complain_option(r, token, name);
                r->text->muted = true;
        }
        next = reader_statement(r, token, r->text->n_tokens - 2);
        r->text->muted = false;
        r->i = next > 0 ? next : token + 2;
        if (next == 0 || option == ELEMENTSOF(options))
                return next > 0;

        if (r->options_seen & UINT64_C(1) << option) {
                config_text_error(r->text, token, "\"%s\" stands here a second time; the first counts", name);
                return true;
        }
        r->options_seen |= UINT64_C(1) << option;

        if (reader_value(r, token + 2, name, &options[option].range, &v, NULL) && token < r->text->doubtful)
                *(uint64_t *) ((char *) r->config + options[option].offset) = (uint64_t) v.number;
        return true;
}
