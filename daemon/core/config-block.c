/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-block.h"
#include "config-hidden.h"
#include "config-parse.h"
#include "nearest.h"

#define KEY_MATCH "match"
#define KEY_ALLOW_DANGEROUS "allow_dangerous"

/* What a block has besides settings. */
static bool is_own_key(const char *name) {
        return streq(name, KEY_MATCH) || streq(name, KEY_ALLOW_DANGEROUS) || streq(name, CONFIG_ON_BATTERY);
}

typedef struct BlockReader {
        ConfigText *text;
        const SettingTable *table;
        const Section *section;
        Block block;
        const Setting **rows; /* of block.assignments: the keys as they were written */
        bool obscure;         /* there is something, perhaps a setting's name, that means nothing */
        bool match_known;
        bool match_meant;      /* there is something that was to be a match, and was complained about */
        size_t battery;        /* the name of on_battery = { … }; 0: there is none */
        bool battery_withheld; /* … as it is in error as a whole */
} BlockReader;

static void block_reader_done(BlockReader *b) {
        block_done(&b->block);
        free(b->rows);
}

/* The one that `a` would be the second of. */
static Assignment *find_assignment(BlockReader *b, const Assignment *a) {
        for (size_t i = 0; i < b->block.n_assignments; i++) {
                Assignment *before = &b->block.assignments[i];

                if (streq(before->name, a->name) && before->on_battery == a->on_battery)
                        return before;
        }

        return NULL;
}

static int add_assignment(BlockReader *b, const Assignment *a, const Setting *row) {
        Assignment *assignments;
        const Setting **rows;

        assignments = reallocarray(b->block.assignments, b->block.n_assignments + 1, sizeof(Assignment));
        if (!assignments)
                return -ENOMEM;
        b->block.assignments = assignments;

        rows = reallocarray(b->rows, b->block.n_assignments + 1, sizeof(Setting *));
        if (!rows)
                return -ENOMEM;
        b->rows = rows;

        rows[b->block.n_assignments] = row;
        assignments[b->block.n_assignments++] = *a;
        return 0;
}

static Assignment assignment_of(const BlockReader *b, const Setting *row, const Statement *st) {
        return (Assignment){
                .name = setting_state(row),
                .value.type = row->range.type,
                .on_battery = st->battery > 0 || (row->flags & SETTING_ON_BATTERY),
                .line = b->text->tokens[st->name].line,
                .column = b->text->tokens[st->name].column,
        };
}

static int read_setting(BlockReader *b, const Setting *row, const Statement *st) {
        Assignment a = assignment_of(b, row, st), *before;
        const Setting **before_row;
        int r;

        r = statement_read_value(b->text, st, row->name, &row->range, &a.value, &a.keep);
        if (r < 0)
                return r;
        a.withheld = r == 0;

        before = find_assignment(b, &a);
        if (!before)
                return add_assignment(b, &a, row);

        before_row = &b->rows[before - b->block.assignments];
        if (*before_row == row) {
                before->withheld = true;
                return config_text_error(b->text, st->name,
                                         "\"%s\" stands here a second time (the first is in line %u); neither is "
                                         "applied",
                                         row->name, before->line);
        }

        r = config_text_warning(b->text, st->name,
                                "\"%s\" and \"%s\" (in line %u) set the same thing; this one, the later, wins",
                                row->name, (*before_row)->name, before->line);
        *before = a;
        *before_row = row;
        return r;
}

/* Whether the match may go on: in something that is no statement (match = "/dev/"; "sda";), or behind where the block's
 * end was guessed, or in a comment that also hides that end. `next` is what stands behind it, or NULL. */
static bool match_is_cut(const BlockReader *b, const Statement *st, const Statement *next) {
        if (next && next->value == 0 && !token_starts_statement(b->text, next->name)) {
                char buf[TOKEN_NAME_MAX];

                token_copy(b->text, next->name, buf);
                if (b->text->tokens[next->name].type != TOKEN_REFUSED && !is_own_key(buf) &&
                    !setting_find(b->table, buf))
                        return true;
        }

        return b->section->broken && (st->end == b->section->end || !gap_is_blank(b->text, st->end - 1));
}

static int read_match(BlockReader *b, const Statement *st, const Statement *next) {
        _cleanup_(match_done) Match m = {};
        int r;

        if (b->match_meant) {
                /* Which of them is meant? Then it is not known. */
                b->match_known = false;
                return config_text_error(b->text, st->name,
                                         "a second match; a block has one, all of whose keys must hold");
        }

        b->match_meant = true;
        r = statement_read_match(b->text, st, &m);
        if (r <= 0)
                return r;

        if (match_is_cut(b, st, next))
                return 0;

        b->match_known = true;
        b->block.match = m;
        m = (Match){};
        return 0;
}

static int read_battery(BlockReader *b, const Statement *st) {
        const Token *value = &b->text->tokens[st->value];

        if (b->battery > 0) {
                b->battery_withheld = true;
                return config_text_error(b->text, st->name,
                                         "\"" CONFIG_ON_BATTERY
                                         "\" stands here a second time (the first is in line %u); neither is applied",
                                         b->text->tokens[b->battery].line);
        }

        b->battery = st->name;
        if (!st->sound)
                return 0;

        if (value->type != TOKEN_GROUP) {
                b->block.broken = b->obscure = true;
                return config_text_error(b->text, st->value,
                                         CONFIG_ON_BATTERY " is a group of settings: " CONFIG_ON_BATTERY " = { … };");
        }
        if (value->partner == st->value + 1)
                return config_text_warning(b->text, st->value, "this " CONFIG_ON_BATTERY " is empty, it does nothing");

        return 0;
}

/* The settings first, so that a mistyped one can tell whether the one it was meant to be is there. */
static int read_known(BlockReader *b, const Statement *st, const Statement *next) {
        char buf[TOKEN_NAME_MAX];
        const char *name = token_copy(b->text, st->name, buf);
        const Setting *row;
        int r;

        if (st->battery > 0 && !token_is_name(b->text, st->battery, CONFIG_ON_BATTERY))
                b->battery_withheld = true; /* what is around it is mistyped */

        if (st->battery > 0 && is_own_key(name)) {
                b->battery_withheld = true;
                return config_text_error(b->text, st->name,
                                         CONFIG_ON_BATTERY " holds settings only, no %s; nothing of it is applied",
                                         name);
        }

        if (streq(name, CONFIG_ON_BATTERY))
                return read_battery(b, st);

        if (streq(name, KEY_MATCH))
                return read_match(b, st, next);

        if (streq(name, KEY_ALLOW_DANGEROUS)) {
                r = statement_read_boolean(b->text, st, &b->block.allow_dangerous);
                return r < 0 ? r : 0;
        }

        row = setting_find(b->table, name);
        return row ? read_setting(b, row, st) : 0;
}

static int complain_unknown(BlockReader *b, const Statement *st, const char *nearest) {
        if (nearest)
                return config_text_error(b->text, st->name, "unknown setting \"%.*s\"; did you mean \"%s\"?",
                                         TOKEN_QUOTED(b->text, st->name), nearest);

        return config_text_error(b->text, st->name, "unknown setting \"%.*s\"", TOKEN_QUOTED(b->text, st->name));
}

static int read_unknown(BlockReader *b, const Statement *st) {
        char buf[TOKEN_NAME_MAX];
        Nearest n = { .typed = token_copy(b->text, st->name, buf) };
        const Setting *row;
        Assignment a;
        MatchKey key;
        int r;

        if (is_own_key(buf) || setting_find(b->table, buf))
                return 0;

        SETTING_TABLE_FOREACH(s, b->table)
                nearest_offer(&n, s->name);

        key = match_key_from_string(buf);
        if (key >= 0 && !(n.word && n.distance == 0)) {
                /* Without it the match fits more drives than were meant. */
                b->block.broken = true;
                return config_text_error(b->text, st->name, "\"%s\" tells drives apart: write it into match = { … }",
                                         buf);
        }

        nearest_offer(&n, KEY_MATCH);
        nearest_offer(&n, KEY_ALLOW_DANGEROUS);
        nearest_offer(&n, CONFIG_ON_BATTERY);
        for (key = 0; key < MATCH_PROPERTY; key++)
                nearest_offer(&n, match_key_to_string(key));

        /* A statement that is no sound one was complained about; its name may be anything. */
        if (st->sound || n.word || st->value > 0) {
                r = complain_unknown(b, st, n.word);
                if (r < 0)
                        return r;
        }
        if (!n.word) {
                b->obscure = b->obscure || token_is_wordy(b->text, st->name);
                /* There are no other groups: a match, or what is for battery. */
                b->block.broken = b->block.broken || b->text->tokens[st->value].type == TOKEN_GROUP;
        }
        if (!n.word || streq(n.word, KEY_ALLOW_DANGEROUS))
                return 0;

        if (streq(n.word, CONFIG_ON_BATTERY)) {
                if (b->text->tokens[st->value].type == TOKEN_GROUP)
                        return 0; /* what is in it has been read, and is withheld */
                b->obscure = true;
        }

        row = setting_find(b->table, n.word);
        if (!row) {
                b->block.broken = true;
                b->match_meant = b->match_meant || streq(n.word, KEY_MATCH);
                return 0;
        }

        /* Most likely this setting was meant, so an earlier block's value for it must not come through. */
        a = assignment_of(b, row, st);
        a.withheld = true;
        return find_assignment(b, &a) ? 0 : add_assignment(b, &a, row);
}

static int check_block(BlockReader *b, const Section *section, size_t n_statements) {
        if (!b->match_meant && !section->broken)
                return config_text_error(b->text, section->start,
                                         "this block has no match; if it is for every drive, write match = {};");

        if (n_statements == 1 && b->match_known && !b->block.broken)
                return config_text_warning(b->text, section->start,
                                           "this block has a match but no settings, it does nothing");

        return 0;
}

int block_read(ConfigText *t, const SettingTable *table, const Section *section, Statements *statements, Block *ret) {
        _cleanup_(block_reader_done) BlockReader b = {
                .text = t,
                .table = table,
                .section = section,
                .block = {
                        .file = t->file,
                        .line = t->tokens[section->start].line,
                        .column = t->tokens[section->start].column,
                        .broken = section->broken || section->misnamed,
                },
        };
        int r;

        r = statements_read(t, section, statements);
        if (r < 0)
                return r;
        if (r == 0)
                b.block.broken = true;

        for (size_t i = 0; i < statements->n_items; i++) {
                const Statement *next = i + 1 < statements->n_items ? &statements->items[i + 1] : NULL;

                r = read_known(&b, &statements->items[i], next);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < statements->n_items; i++) {
                r = read_unknown(&b, &statements->items[i]);
                if (r < 0)
                        return r;
        }

        r = check_block(&b, section, statements->n_items);
        if (r < 0)
                return r;

        if (!b.match_known || (b.battery > 0 && section->brace_behind))
                b.block.broken = true;
        if (b.block.broken)
                b.block.obscure = b.obscure || section_hides_statements(t, section, statements);
        for (size_t i = 0; i < b.block.n_assignments; i++) {
                Assignment *a = &b.block.assignments[i];

                a->withheld = a->withheld || b.block.broken || (a->on_battery && b.battery_withheld);
        }

        *ret = b.block;
        b.block = (Block){};
        return b.match_known;
}
