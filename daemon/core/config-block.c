/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-reader.h"
#include "nearest.h"

/* What a block has besides settings. */
static const struct {
        const char *name;
        size_t offset;  /* the bool of Block that it is; 0: it is none */
        bool narrowing; /* without it the block would be for more drives, or do more to them */
} block_keys[] = {
        { CONFIG_MATCH, 0, true },
        { CONFIG_ON_BATTERY, 0, true },
        { "allow_dangerous", offsetof(Block, allow_dangerous), false },
        { "permanent", offsetof(Block, permanent), false },
        { "wake", offsetof(Block, wake), false },
        { "only_in_raid", offsetof(Block, only_in_raid), true },
};

/* Its index, or the number of keys. */
static size_t find_key(const char *name) {
        size_t i = 0;

        while (i < ELEMENTSOF(block_keys) && !streq(name, block_keys[i].name))
                i++;
        return i;
}

bool block_has_key(const char *name) {
        return find_key(name) < ELEMENTSOF(block_keys);
}

typedef struct BlockReader {
        Reader *r;
        Block *block;
        bool match_known;
        bool match_meant;      /* there is something that was to be a match, and was complained about */
        bool behind_match;     /* a statement would be the first one behind the match */
        size_t n_own;          /* statements that stand in no group */
        bool battery;          /* the statement is one of on_battery */
        bool battery_meant;    /* there is an on_battery … */
        bool battery_withheld; /* … which is in error as a whole */
} BlockReader;

/* The one that `a` would be the second of. */
static Assignment *find_assignment(BlockReader *b, const Assignment *a) {
        for (size_t i = 0; i < b->block->n_assignments; i++) {
                Assignment *before = &b->block->assignments[i];

                if (streq(before->name, a->name) && before->on_battery == a->on_battery)
                        return before;
        }

        return NULL;
}

static void add_assignment(BlockReader *b, const Assignment *a) {
        if (GREW(b->block->assignments, b->block->n_assignments))
                b->block->assignments[b->block->n_assignments++] = *a;
        else
                b->r->text->error = -ENOMEM;
}

static Assignment assignment_of(const BlockReader *b, const Setting *row, size_t name) {
        return (Assignment){
                .name = setting_state(row),
                .value.type = row->range.type,
                .optical = row->backend == BACKEND_OPTICAL,
                .on_battery = b->battery || (row->flags & SETTING_ON_BATTERY),
                .line = b->r->text->tokens[name].line,
                .column = b->r->text->tokens[name].column,
                .row = row,
        };
}

/* This setting was meant, most likely, so an earlier block's value for it must not come through. */
static void withhold(BlockReader *b, const Setting *row, size_t name) {
        Assignment a = assignment_of(b, row, name);

        a.withheld = true;
        if (!find_assignment(b, &a))
                add_assignment(b, &a);
}

static void read_setting(BlockReader *b, const Setting *row, const Statement *st) {
        Assignment a = assignment_of(b, row, st->name), *before;
        ConfigText *t = b->r->text;

        a.withheld = !st->sound || !reader_value(b->r, st->value, row->name, &row->range, &a.value, &a.keep);
        if (!a.withheld && !a.keep && (row->flags & (SETTING_DEAD | SETTING_EXCLUDED)))
                config_text_warning(t, st->name, "\"%s\" is never written: %s", row->name, row->instead);

        before = find_assignment(b, &a);
        if (!before)
                add_assignment(b, &a);
        else if (before->row == row) {
                before->withheld = true;
                config_text_error(t, st->name,
                                  "\"%s\" stands here a second time (the first is in line %u); neither is applied",
                                  row->name, before->line);
        } else {
                config_text_warning(t, st->name,
                                    "\"%s\" and \"%s\" (in line %u) set the same thing; this one, the later, wins",
                                    row->name, before->row->name, before->line);
                *before = a;
        }
}

static void read_match(BlockReader *b, const Statement *st) {
        if (b->match_meant) {
                /* Which of them is meant? Then it is not known. */
                b->match_known = false;
                config_text_error(b->r->text, st->name, "a second match; a block has one, all of whose keys must hold");
        } else {
                b->match_meant = b->behind_match = true;
                b->match_known = statement_read_match(b->r, st, &b->block->match);
        }
}

static void read_battery(BlockReader *b, const Statement *st) {
        if (b->battery_meant) {
                b->battery_withheld = true;
                config_text_error(b->r->text, st->name,
                                  "\"" CONFIG_ON_BATTERY "\" stands here a second time; neither is applied");
                return;
        }

        b->battery_meant = true;
        if (!st->sound)
                return;

        if (token_type(b->r, st->value) != TOKEN_GROUP) {
                b->r->broken = b->block->obscure = true;
                config_text_error(b->r->text, st->value,
                                  CONFIG_ON_BATTERY " is a group of settings: " CONFIG_ON_BATTERY " = { … };");
        } else if (st->end == st->value + 2)
                config_text_warning(b->r->text, st->value, "this " CONFIG_ON_BATTERY " is empty, it does nothing");
}

/* The known name that is nearest to a mistyped one. */
static Nearest find_nearest(const BlockReader *b, const char *name) {
        Nearest n = { .typed = name };

        SETTING_TABLE_FOREACH(s, b->r->table)
                nearest_offer(&n, s->name);
        for (size_t i = 0; i < ELEMENTSOF(block_keys); i++)
                nearest_offer(&n, block_keys[i].name);
        for (MatchKey key = 0; key < MATCH_PROPERTY; key++)
                nearest_offer(&n, match_key_to_string(key));

        return n;
}

static void read_unknown(BlockReader *b, const Statement *st) {
        bool group = st->value > 0 && token_type(b->r, st->value) == TOKEN_GROUP;
        char name[TOKEN_TEXT_MAX];
        const Setting *row;
        Nearest n;

        token_copy(b->r->text, st->name, name);
        if ((st->group > 0 && !st->battery) || block_has_key(name) || setting_find(b->r->table, name))
                return;

        if (config_is_option(name)) {
                config_text_error(b->r->text, st->name,
                                  "\"%s\" is no setting of drives: write it outside drives = ( … );", name);
                return;
        }

        n = find_nearest(b, name);
        row = n.word ? setting_find(b->r->table, n.word) : NULL;
        if (match_key_from_string(name) >= 0 && !(row && n.distance == 0)) {
                /* Without it the match fits more drives than were meant. */
                b->r->broken = true;
                config_text_error(b->r->text, st->name, "\"%s\" tells drives apart: write it into match = { … }", name);
                return;
        }

        /* That something is no name, or no statement, has been said; then it may be anything. */
        if (n.word && token_type(b->r, st->name) == TOKEN_NAME)
                config_text_error(b->r->text, st->name, "unknown setting \"%s\"; did you mean \"%s\"?", name, n.word);
        else if (st->value > 0 && token_type(b->r, st->name) == TOKEN_NAME)
                config_text_error(b->r->text, st->name, "unknown setting \"%s\"", name);

        if (row)
                withhold(b, row, st->name);
        else if (!n.word) {
                b->block->obscure = true;
                b->r->broken = b->r->broken || group; /* perhaps a match */
        } else if (streq(n.word, CONFIG_ON_BATTERY)) {
                /* What is in the group has been read, and is withheld. */
                if (!group)
                        b->r->broken = b->block->obscure = true;
        } else {
                size_t key = find_key(n.word);

                if (key == ELEMENTSOF(block_keys) || block_keys[key].narrowing)
                        b->r->broken = true;
                b->match_meant = b->match_meant || streq(n.word, CONFIG_MATCH);
        }
}

/* The settings first, so that a mistyped one can tell whether the one it was meant to be is there. */
static void read_known(BlockReader *b, const Statement *st) {
        static const ValueRange boolean = { .type = VALUE_BOOL };
        char buf[TOKEN_TEXT_MAX];
        const char *name = token_copy(b->r->text, st->name, buf);
        const Setting *row = setting_find(b->r->table, name);
        size_t key = find_key(name);
        Value v;

        if (st->group > 0 && !st->battery)
                return;

        if (st->group == 0) {
                /* Something that is no statement may be the rest of the match: match = "/dev/"; "sda"; */
                if (b->behind_match && st->value == 0 && !row && key == ELEMENTSOF(block_keys) &&
                    token_type(b->r, st->name) != TOKEN_REFUSED)
                        b->match_known = false;
                b->behind_match = false;
                b->n_own++;
        } else if (!token_is_name(b->r->text, st->group, CONFIG_ON_BATTERY))
                b->battery_withheld = true; /* what is around it is mistyped */

        if (row)
                read_setting(b, row, st);
        else if (key == ELEMENTSOF(block_keys))
                return;
        else if (st->group > 0) {
                b->battery_withheld = true;
                config_text_error(b->r->text, st->name,
                                  CONFIG_ON_BATTERY " holds settings only, no %s; nothing of it is applied", name);
        } else if (streq(name, CONFIG_MATCH))
                read_match(b, st);
        else if (streq(name, CONFIG_ON_BATTERY))
                read_battery(b, st);
        else if (st->sound && reader_value(b->r, st->value, name, &boolean, &v, NULL))
                *(bool *) ((char *) b->block + block_keys[key].offset) = v.number;
        else if (block_keys[key].narrowing)
                b->r->broken = true;
}

/* Of what can only fight within one block, nothing is applied. Between blocks the plan decides (plan_new()). */
static void check_exclusions(BlockReader *b) {
        for (size_t i = 0; i < b->block->n_assignments; i++)
                for (size_t k = 0; k < b->block->n_assignments; k++) {
                        Assignment *x = &b->block->assignments[i], *y = &b->block->assignments[k];
                        const Token at = { .line = x->line, .column = x->column };

                        if (x->keep || y->keep || x->withheld || y->withheld || x->on_battery != y->on_battery ||
                            !setting_rules_out(x->row, &x->value, y->row, &y->value))
                                continue;

                        x->withheld = y->withheld = true;
                        config_text_complain(b->r->text, COMPLAINT_ERROR, &at,
                                             "%s and %s (in line %u) exclude each other; neither is applied", x->name,
                                             y->name, y->line);
                }
}

/* Whether a broken block may have been meant to have more statements than were found: there are more "=", in what was gone over
 * behind an error, or in what has become a string. */
static bool hides_statements(const Reader *r, size_t inside, size_t end) {
        size_t n = 0;

        for (size_t i = inside; i < end; i++) {
                const Token *k = &r->text->tokens[i];

                /* One that is only typed twice hides nothing. */
                if (k->type == TOKEN_EQUALS)
                        n += k[-1].type != TOKEN_EQUALS;
                else
                        n += memchr(r->text->text + k->offset, '=', k->length) != NULL;
        }
        for (size_t i = 0; i < r->n_statements; i++)
                n -= r->statements[i].value > 0;

        return n > 0;
}

bool block_read(Reader *r, bool guessed, Block *ret) {
        size_t start = r->i, inside = start + (token_type(r, start) == TOKEN_GROUP),
               end = reader_find_closing(r, inside);
        bool closed = token_type(r, end) == TOKEN_GROUP_END;
        BlockReader b = { .r = r, .block = ret };
        ConfigText *t = r->text;

        ret->file = t->file;
        ret->line = t->tokens[start].line;
        ret->column = t->tokens[start].column;

        r->broken = r->misnamed;
        t->muted = guessed = guessed || end >= t->doubtful;
        r->n_statements = 0;
        reader_statements(r, inside, end, 0);
        r->i = end + closed;

        for (size_t i = 0; i < r->n_statements; i++) {
                b.battery = r->statements[i].battery;
                read_known(&b, &r->statements[i]);
        }
        for (size_t i = 0; i < r->n_statements; i++) {
                b.battery = r->statements[i].battery;
                read_unknown(&b, &r->statements[i]);
        }
        if (!closed)
                config_text_error(t, start, "this block is not closed; write \"}\" at its end, in line %u or above",
                                  t->tokens[end].line);
        else if (!b.match_meant)
                config_text_error(t, start, "this block has no match; if it is for every drive, write match = {};");
        else if (b.n_own == 1 && b.match_known && !r->broken)
                config_text_warning(t, start, "this block has a match but no settings, it does nothing");
        check_exclusions(&b);
        t->muted = false;

        if (!closed)
                r->unclosed = end;
        guessed = guessed || !closed;
        ret->broken = r->broken || guessed;
        ret->obscure = guessed || (ret->broken && (ret->obscure || hides_statements(r, inside, end)));
        for (size_t i = 0; i < ret->n_assignments; i++)
                if (ret->assignments[i].on_battery && b.battery_withheld)
                        ret->assignments[i].withheld = true;

        /* A match that is the last thing before a guessed end perhaps goes on behind it. */
        return b.match_known && !(guessed && b.behind_match);
}
