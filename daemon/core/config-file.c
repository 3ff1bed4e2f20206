/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One file: the list of drives, the options beside it, and what a lost block costs the others. */

#include <stdio.h>

#include "config-reader.h"
#include "nearest.h"

#define LINES_TEXT_MAX 256U

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

static void complain_option(Reader *r, size_t token, const char *name) {
        Nearest n = { .typed = name };

        nearest_offer(&n, CONFIG_DRIVES);
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                nearest_offer(&n, options[i].name);

        if (streq(name, CONFIG_DRIVES))
                config_text_error(r->text, token, "drives is a list of blocks: drives = ( { … }, { … } );");
        else if (n.word)
                config_text_error(r->text, token, "unknown option \"%s\"; did you mean \"%s\"?", name, n.word);
        else if (setting_find(r->table, name) || streq(name, CONFIG_ON_BATTERY))
                config_text_error(r->text, token,
                                  "\"%s\" is a setting of drives: write it into a block of drives = ( … );", name);
        else
                config_text_error(r->text, token, "unknown option \"%s\"", name);
}

/* One statement beside the list. */
static void read_option(Reader *r) {
        size_t token = r->i, next = reader_statement(r, token, r->text->n_tokens - 2), option;
        char name[TOKEN_TEXT_MAX];
        Value v = {};

        r->text->muted = false;
        r->i = next > 0 ? next : token + 2;
        option = find_option(token_copy(r->text, token, name));
        if (next == 0 || option == ELEMENTSOF(options)) {
                if (next > 0)
                        complain_option(r, token, name);
                return;
        }

        if (r->options_seen & UINT64_C(1) << option) {
                config_text_error(r->text, token, "\"%s\" stands here a second time; the first counts", name);
                return;
        }
        r->options_seen |= UINT64_C(1) << option;

        if (reader_value(r, token + 2, name, &options[option].range, &v, NULL) && token < r->text->doubtful)
                *(uint64_t *) ((char *) r->config + options[option].offset) =
                                v.type == VALUE_NAME ? streq(v.name, "restore") : (uint64_t) v.number;
        if (options[option].offset == offsetof(Config, on_drift)) {
                r->config->on_drift_file = r->text->file;
                r->config->on_drift_line = r->text->tokens[token].line;
                r->config->on_drift_column = r->text->tokens[token].column;
        }
}

static void read_file(Reader *r) {
        bool told = false; /* of the token before */

        while (token_type(r, r->i) != TOKEN_END) {
                TokenType type = token_type(r, r->i);

                if (reader_list(r))
                        told = false;
                else if (token_starts_statement(r->text, r->i)) {
                        read_option(r);
                        told = false;
                } else {
                        if (!told && !token_separates(type) && type != TOKEN_REFUSED) {
                                told = true;
                                config_text_error(
                                                r->text, r->i,
                                                "\"%s\" is not expected here; a file holds drives = ( … ); and options",
                                                TOKEN_QUOTED(r->text, r->i));
                        }
                        r->i++;
                }
        }
}

/* A general rule must not hit the drives that a block with an unknown match was to protect. Nothing of it is applied,
 * and nothing that it replaces either: it stays, broken. */
static void break_general(const Reader *r, size_t first_block) {
        char lines[LINES_TEXT_MAX] = "";
        size_t n = 0, used = 0;

        for (size_t i = first_block; i < r->config->n_blocks; i++) {
                Block *b = &r->config->blocks[i];

                if (!match_is_general(&b->match))
                        continue;

                b->broken = true;
                if (used + 16 < sizeof lines)
                        used += snprintf(lines + used, sizeof lines - used, "%s%u", n == 0 ? " " : ", ", b->line);
                else if (lines[used - 1] != '.')
                        used += snprintf(lines + used, sizeof lines - used, ", ...");
                n++;
        }

        if (n > 0)
                config_text_complain(r->text, COMPLAINT_ERROR, r->lost,
                                     "it is not known which drives this block is for, so nothing is applied of the "
                                     "general rules of this file: line%s%s",
                                     n == 1 ? "" : "s", lines);
}

static void read_blocks(Reader *r) {
        size_t first_block = r->config->n_blocks;

        read_file(r);
        if (r->lost)
                break_general(r, first_block);

        for (size_t i = first_block; i < r->config->n_blocks; i++)
                for (size_t n = 0; r->config->blocks[i].broken && n < r->config->blocks[i].n_assignments; n++)
                        r->config->blocks[i].assignments[n].withheld = true;
}

int config_parse(Config *c, const SettingTable *t, const char *file, const char *text, size_t size) {
        _cleanup_(config_text_done) ConfigText tokens = { .text = text, .size = size, .complaints = &c->complaints };
        Reader reader = { .text = &tokens, .table = t, .config = c, .unclosed = SIZE_MAX };
        int r;

        r = config_add_file(c, file, &tokens.file);
        if (r < 0)
                return r;

        r = config_text_scan(&tokens);
        if (r < 0)
                return r;

        if (!config_text_is_foreign(&tokens, t)) {
                config_text_hide_secrets(&tokens, t);
                read_blocks(&reader);
        } else if (tokens.n_complaints == 0) /* said already of what is no UTF-8, say */
                config_text_error(&tokens, 0,
                                  "this is no configuration of drivekeep: it has no drives = ( … ), and no option");

        return tokens.error;
}
