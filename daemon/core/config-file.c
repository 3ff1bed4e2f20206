/* SPDX-License-Identifier: LGPL-2.1-or-later */

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

typedef struct FileReader {
        Config *config;
        const SettingTable *table;
        ConfigText text;
        Outline outline;
        uint64_t options_seen; /* a bit for each of options */
        size_t list_name;      /* of the list that was complained about; SIZE_MAX: none */
        size_t first_block;    /* this file's, in the Config */
        size_t lost_block;     /* the token of the first block whose match is not known … */
        bool lost;             /* … when there is one */
} FileReader;

static void file_reader_done(FileReader *f) {
        outline_done(&f->outline);
        config_text_done(&f->text);
}

static int complain_option(FileReader *f, size_t token, const char *name) {
        Nearest n = { .typed = name };

        if (streq(name, CONFIG_DRIVES))
                return config_text_error(&f->text, token, "drives is a list of blocks: drives = ( { … }, { … } );");

        nearest_offer(&n, CONFIG_DRIVES);
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                nearest_offer(&n, options[i].name);

        if (n.word)
                return config_text_error(&f->text, token, "unknown option \"%s\"; did you mean \"%s\"?", name, n.word);
        if (setting_find(f->table, name) || streq(name, CONFIG_ON_BATTERY))
                return config_text_error(&f->text, token,
                                         "\"%s\" is a setting of drives: write it into a block of drives = ( … );",
                                         name);

        return config_text_error(&f->text, token, "unknown option \"%s\"", name);
}

static int read_option(FileReader *f, const Section *section) {
        char name[TOKEN_TEXT_MAX];
        const Statement *st = &f->outline.statements[section->first];
        size_t option;
        Value v;
        int r;

        option = find_option(token_copy(&f->text, st->name, name));
        if (option == ELEMENTSOF(options))
                return complain_option(f, st->name, name);

        if (f->options_seen & UINT64_C(1) << option)
                return config_text_error(&f->text, st->name, "\"%s\" stands here a second time; the first counts",
                                         name);
        f->options_seen |= UINT64_C(1) << option;

        r = statement_read_value(&f->text, st, name, &options[option].range, &v, NULL);
        if (r > 0)
                *(uint64_t *) ((char *) f->config + options[option].offset) =
                                v.type == VALUE_NAME ? streq(v.name, "restore") : (uint64_t) v.number;
        if (options[option].offset == offsetof(Config, on_drift)) {
                f->config->on_drift_file = f->text.file;
                f->config->on_drift_line = f->text.tokens[st->name].line;
                f->config->on_drift_column = f->text.tokens[st->name].column;
        }
        return MIN(r, 0);
}

static int read_block(FileReader *f, const Section *section) {
        _cleanup_(block_done) Block block = {};
        char name[TOKEN_TEXT_MAX];
        int r;

        if (section->misnamed && section->list_name != f->list_name) {
                f->list_name = section->list_name;
                r = config_text_error(&f->text, f->list_name,
                                      "the list of blocks is called \"drives\", not \"%s\"; nothing of it is applied",
                                      token_copy(&f->text, f->list_name, name));
                if (r < 0)
                        return r;
        }

        if (section->inside == section->end && !section->broken)
                return config_text_warning(&f->text, section->start, "this block is empty");

        r = block_read(&f->text, f->table, section, f->outline.statements + section->first, &block);
        if (r < 0)
                return r;
        if (r > 0)
                return config_add_block(f->config, &block);

        if (!f->lost) {
                f->lost = true;
                f->lost_block = section->start;
        }
        return 0;
}

/* A general rule must not hit the drives that a block with an unknown match was to protect. Nothing of it is applied,
 * and nothing that it replaces either: it stays, broken. */
static int withhold_general(FileReader *f) {
        char lines[LINES_TEXT_MAX] = "";
        size_t n = 0, used = 0;

        for (size_t i = f->first_block; i < f->config->n_blocks; i++) {
                Block *b = &f->config->blocks[i];

                if (!match_is_general(&b->match))
                        continue;

                b->broken = true;
                for (size_t k = 0; k < b->n_assignments; k++)
                        b->assignments[k].withheld = true;

                if (used + 16 < sizeof lines)
                        used += snprintf(lines + used, sizeof lines - used, "%s%u", n == 0 ? " " : ", ", b->line);
                else if (lines[used - 1] != '.')
                        used += snprintf(lines + used, sizeof lines - used, ", ...");
                n++;
        }

        if (n == 0)
                return 0;

        return config_text_error(&f->text, f->lost_block,
                                 "it is not known which drives this block is for, so nothing is applied of the "
                                 "general rules of this file: line%s%s",
                                 n == 1 ? "" : "s", lines);
}

int config_parse(Config *c, const SettingTable *t, const char *file, const char *text, size_t size) {
        _cleanup_(file_reader_done) FileReader f = {
                .config = c,
                .table = t,
                .text = { .text = text, .size = size, .complaints = &c->complaints },
                .list_name = SIZE_MAX,
                .first_block = c->n_blocks,
        };
        int r;

        r = config_add_file(c, file, &f.text.file);
        if (r < 0)
                return r;

        r = config_text_scan(&f.text);
        if (r < 0)
                return r;

        if (config_text_is_foreign(&f.text, t)) {
                /* Said already of what is no UTF-8, say. */
                if (f.text.n_complaints == 0)
                        r = config_text_error(
                                        &f.text, 0,
                                        "this is no configuration of drivekeep: it has no drives = ( … ), and no option");
                complaints_sort(&c->complaints);
                return MIN(r, 0);
        }

        config_text_hide_secrets(&f.text, t);

        r = outline_make(&f.text, t, &f.outline);
        if (r < 0)
                return r;

        for (size_t i = 0; i < f.outline.n_sections; i++) {
                Section *s = &f.outline.sections[i];

                s->broken = s->broken || s->end >= f.text.doubtful;
                r = s->block ? read_block(&f, s) : read_option(&f, s);
                if (r < 0)
                        return r;
        }

        if (f.lost) {
                r = withhold_general(&f);
                if (r < 0)
                        return r;
        }

        complaints_sort(&c->complaints);
        return 0;
}
