/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "config-block.h"
#include "config-parse.h"
#include "nearest.h"

#define NAME_TEXT_MAX 64U

#define KEY_MATCH "match"
#define KEY_ALLOW_DANGEROUS "allow_dangerous"

typedef struct BlockReader {
        ConfigText *text;
        const SettingTable *table;
        const Section *section;
        Block block;
        const Setting **rows; /* of block.assignments: the keys as they were written */
        bool obscure;         /* there is something, perhaps a setting's name, that means nothing */
        bool match_known;
        bool match_meant; /* there is something that was to be a match, and was complained about */
} BlockReader;

static void block_reader_done(BlockReader *b) {
        block_done(&b->block);
        free(b->rows);
}

/* A longer name cannot be a known one. */
static const char *name_copy(const ConfigText *t, const Statement *st, char buf[static NAME_TEXT_MAX]) {
        size_t n = MIN((size_t) token_quote_length(t, st->name), NAME_TEXT_MAX - 1);

        memcpy(buf, token_text(t, st->name), n);
        buf[n] = '\0';
        return buf;
}

/* Whether no comment stands between this token and the next. */
static bool gap_is_blank(const ConfigText *t, size_t token) {
        const Token *k = &t->tokens[token];

        for (size_t i = k->offset + k->length; i < k[1].offset; i++)
                if (!isspace((unsigned char) t->text[i]))
                        return false;

        return true;
}

static Assignment *find_assignment(BlockReader *b, const char *state) {
        for (size_t i = 0; i < b->block.n_assignments; i++)
                if (streq(b->block.assignments[i].name, state))
                        return &b->block.assignments[i];

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

static Assignment assignment_at(const BlockReader *b, const Setting *row, size_t token) {
        return (Assignment){
                .name = setting_state(row),
                .value.type = row->range.type,
                .line = b->text->tokens[token].line,
                .column = b->text->tokens[token].column,
        };
}

static int read_setting(BlockReader *b, const Setting *row, const Statement *st) {
        Assignment a = assignment_at(b, row, st->name), *before;
        const Setting **before_row;
        int r;

        r = statement_read_value(b->text, st, row->name, &row->range, &a.value, &a.keep);
        if (r < 0)
                return r;
        a.withheld = r == 0;

        before = find_assignment(b, a.name);
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
                char buf[NAME_TEXT_MAX];

                if (b->text->tokens[next->name].type != TOKEN_REFUSED &&
                    !setting_find(b->table, name_copy(b->text, next, buf)))
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

/* The settings first, so that a mistyped one can tell whether the one it was meant to be is there. */
static int read_known(BlockReader *b, const Statement *st, const Statement *next) {
        char buf[NAME_TEXT_MAX];
        const char *name = name_copy(b->text, st, buf);
        const Setting *row;
        int r;

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

static bool is_wordy(TokenType type) {
        return type == TOKEN_NAME || type == TOKEN_WORD || type == TOKEN_STRING || type == TOKEN_UNCLOSED ||
               type == TOKEN_REFUSED;
}

/* Whether there is a "name =" that is no statement of the block, nor inside its match: in a bracket too many, say. */
static bool has_stray_assignment(const ConfigText *t, const Section *section, const Statements *statements) {
        size_t k = 0;

        for (size_t i = section->inside; i < section->end; i++) {
                const Statement *st = k < statements->n_items ? &statements->items[k] : NULL;

                if (st && st->name == i) {
                        k++;
                        if (st->sound && token_is_name(t, i, KEY_MATCH))
                                i = st->end - 1;
                        else
                                i++;
                } else if (t->tokens[i].type == TOKEN_EQUALS && t->tokens[i - 1].type != TOKEN_EQUALS)
                        return true; /* one that is only typed twice hides nothing */
        }

        return false;
}

/* Whether a broken block's statements may stand in what is now a string (for want of a quote) or, in one whose bounds
 * are a guess, a comment. */
static bool hides_statements(const ConfigText *t, const Section *section, const Statements *statements) {
        /* Cut off within a statement: the others may stand behind it. */
        if (section->broken && statements->n_items > 0 && !statements->items[statements->n_items - 1].sound)
                return true;

        for (size_t i = section->start; i < section->end; i++) {
                const Token *k = &t->tokens[i];
                size_t end = k->offset + k->length;

                if (is_wordy(k->type) && memchr(t->text + k->offset, '=', k->length))
                        return true;
                if (section->broken && memchr(t->text + end, '=', k[1].offset - end))
                        return true;
        }

        return false;
}

static int read_unknown(BlockReader *b, const Statement *st) {
        char buf[NAME_TEXT_MAX];
        Nearest n = { .typed = name_copy(b->text, st, buf) };
        const Setting *row;
        MatchKey key;
        int r;

        if (streq(buf, KEY_MATCH) || streq(buf, KEY_ALLOW_DANGEROUS) || setting_find(b->table, buf))
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
        for (key = 0; key < MATCH_PROPERTY; key++)
                nearest_offer(&n, match_key_to_string(key));

        /* A statement that is no sound one was complained about; its name may be anything. */
        if (st->sound || n.word || st->value > 0) {
                r = complain_unknown(b, st, n.word);
                if (r < 0)
                        return r;
        }
        if (!n.word)
                b->obscure = b->obscure || is_wordy(b->text->tokens[st->name].type);
        if (!n.word || streq(n.word, KEY_ALLOW_DANGEROUS))
                return 0;

        row = setting_find(b->table, n.word);
        if (!row) {
                b->block.broken = true;
                b->match_meant = b->match_meant || streq(n.word, KEY_MATCH);
                return 0;
        }

        /* Most likely this setting was meant, so an earlier block's value for it must not come through. */
        if (!find_assignment(b, setting_state(row))) {
                Assignment a = assignment_at(b, row, st->name);

                a.withheld = true;
                return add_assignment(b, &a, row);
        }

        return 0;
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

        if (!b.match_known)
                b.block.broken = true;
        if (b.block.broken) {
                b.block.obscure = b.obscure || has_stray_assignment(t, section, statements) ||
                                  hides_statements(t, section, statements);
                for (size_t i = 0; i < b.block.n_assignments; i++)
                        b.block.assignments[i].withheld = true;
        }

        *ret = b.block;
        b.block = (Block){};
        return b.match_known;
}
