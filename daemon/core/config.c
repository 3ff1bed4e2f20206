/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The keys of a file that are not settings, and the Config object. */

#include "config.h"

static const ValueWord on_drift_words[] = { { "report", ON_DRIFT_REPORT }, { "restore", ON_DRIFT_RESTORE }, {} };

/* clang-format off */
const ConfigOption config_options[CONFIG_OPTIONS] = {
        { "fsck_wait", { .type = VALUE_DURATION, .min = 1000, .max = INT64_C(24) * 3600 * 1000 },
          offsetof(Config, fsck_wait_ms) },
        { "recheck", { .type = VALUE_DURATION, .min = 60 * 1000, .max = INT64_C(7) * 24 * 3600 * 1000, .has_off = true },
          offsetof(Config, recheck_ms) },
        { "on_drift", { .type = VALUE_NAME, .words = on_drift_words }, offsetof(Config, on_drift) },
        { "spin_up_at_once", { .type = VALUE_INT, .min = 1, .max = 1000, .has_off = true },
          offsetof(Config, spin_up_at_once) },
        { "wake_log", { .type = VALUE_BOOL }, offsetof(Config, wake_log) },
};

const ConfigBlockKey config_block_keys[CONFIG_BLOCK_KEYS] = {
        { CONFIG_MATCH, 0, true },
        { CONFIG_ON_BATTERY, 0, true },
        { "allow_dangerous", offsetof(Block, allow_dangerous), false },
        { "permanent", offsetof(Block, permanent), false },
        { "wake", offsetof(Block, wake), false },
        { "wake_together", offsetof(Block, wake_together), false },
        { "commands_are_use", offsetof(Block, commands_are_use), false },
        { "only_in_raid", offsetof(Block, only_in_raid), true },
        { CONFIG_SPINDOWN_BY, 0, false },
};
/* clang-format on */

size_t config_find_option(const char *name) {
        size_t i = 0;

        while (i < CONFIG_OPTIONS && !streq(config_options[i].name, name))
                i++;
        return i;
}

size_t config_find_block_key(const char *name) {
        size_t i = 0;

        while (i < CONFIG_BLOCK_KEYS && !streq(config_block_keys[i].name, name))
                i++;
        return i;
}

bool config_is_option(const char *name) {
        return streq(name, CONFIG_DRIVES) || config_find_option(name) < CONFIG_OPTIONS;
}

bool block_has_key(const char *name) {
        return config_find_block_key(name) < CONFIG_BLOCK_KEYS;
}

bool config_is_key(const char *name, const SettingTable *table) {
        MatchKey key = match_key_from_string(name);

        return config_is_option(name) || block_has_key(name) || (key >= 0 && key < MATCH_PROPERTY) ||
               setting_find(table, name);
}

void block_done(Block *b) {
        match_done(&b->match);
        free(b->assignments);
}

Assignment *block_find(const Block *b, const char *name, bool on_battery) {
        for (Assignment *a = b->assignments; a < b->assignments + b->n_assignments; a++)
                if (a->on_battery == on_battery && streq(a->name, name))
                        return a;

        return NULL;
}

int config_new(Config **ret) {
        Config *c;

        c = calloc(1, sizeof *c);
        if (!c)
                return -ENOMEM;

        c->fsck_wait_ms = CONFIG_FSCK_WAIT_DEFAULT_MS;
        c->wake_log = WAKE_LOG_AUTO;
        *ret = c;
        return 0;
}

Config *config_free(Config *c) {
        if (!c)
                return NULL;

        for (size_t i = 0; i < c->n_blocks; i++)
                block_done(&c->blocks[i]);
        free(c->blocks);
        for (size_t i = 0; i < c->n_files; i++)
                free(c->files[i]);
        free(c->files);
        free(c->hashes);
        complaints_done(&c->complaints);
        free(c);

        return NULL;
}
