/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads one block: its match, its settings and its group on_battery. */

#include "config-reader.h"
#include "text.h"

static const ValueWord spindown_words[] = {
        { "drive", SPINDOWN_BY_DRIVE },
        { "service", SPINDOWN_BY_SERVICE },
        { "auto", SPINDOWN_BY_AUTO },
        {},
};

typedef struct BlockReader {
        Reader *r;
        Block *block;
        size_t n_statements; /* number of statements, including those in on_battery */
        bool closed;         /* the block has its "}" */
        bool has_match;      /* a match was found, possibly with an error */
        bool match_known;    /* the match was read without an error */
        bool after_match;    /* the last statement read is the match */
        bool in_battery;     /* the reader is inside on_battery = { … } */
        bool has_battery;    /* an on_battery was found */
} BlockReader;

static void add_assignment(BlockReader *b, const Assignment *a) {
        if (GREW(b->block, assignments))
                b->block->assignments[b->block->n_assignments++] = *a;
        else
                b->r->config->complaints.error = -ENOMEM;
}

/* Overwrites `old` with `a`, at the end of the list. The order matters: if two settings exclude each other, the later
 * setting wins. */
static void replace_assignment(BlockReader *b, Assignment *old, const Assignment *a) {
        Assignment *last = b->block->assignments + b->block->n_assignments - 1;

        memmove(old, old + 1, (last - old) * sizeof *old);
        *last = *a;
}

static Assignment assignment_of(const BlockReader *b, const Setting *row, size_t name) {
        return (Assignment){
                .name = setting_state(row),
                .value.type = row->range.type,
                .on_battery = b->in_battery || (row->flags & SETTING_ON_BATTERY),
                .line = b->r->text->tokens[name].line,
                .column = b->r->text->tokens[name].column,
                .row = row,
        };
}

/* Adds an assignment that is withheld (never written) for the setting that the user probably meant. The assignment also
 * keeps an earlier block's value of this setting from being written. */
static void withhold(BlockReader *b, const Setting *row, size_t name) {
        Assignment a = assignment_of(b, row, name);

        a.withheld = a.guessed = true;
        if (!block_find(b->block, a.name, a.on_battery))
                add_assignment(b, &a);
}

/* Complains if the value is invalid for the setting `row`, and valid for a setting that has the name of `row` in other programs. */
static bool complain_namesake(BlockReader *b, const Setting *row, size_t value) {
        const Setting *other = setting_called(b->r->table, row->name);
        char text[TOKEN_TEXT_MAX];
        Value v;

        if (!other || token_type(b->r, value) < TOKEN_END)
                return false;
        token_copy(b->r->text, value, text);
        if (value_parse(&row->range, text, &v) >= 0 || value_parse(&other->range, text, &v) < 0)
                return false;
        config_text_error(b->r->text, value, "\"%s\" is not a valid value for %s; did you mean %s = \"%s\"?", text,
                          row->name, other->name, text);
        return true;
}

static void read_setting(BlockReader *b, const Setting *row, size_t name) {
        Assignment a = assignment_of(b, row, name), *before;
        ConfigText *t = b->r->text;

        a.withheld = complain_namesake(b, row, name + 2) ||
                     !reader_value(b->r, name + 2, row->name, &row->range, &a.value, &a.keep);
        if (!a.withheld && !a.keep && (row->flags & (SETTING_DEAD | SETTING_EXCLUDED)))
                config_text_warning(t, name, "\"%s\" is never written: %s", row->name, row->instead);

        before = block_find(b->block, a.name, a.on_battery);
        if (!before)
                add_assignment(b, &a);
        else if (before->guessed)
                replace_assignment(b, before, &a);
        else if (before->row == row) {
                before->withheld = true;
                config_text_error(t, name,
                                  "\"%s\" is set twice in this block (first in line %u); neither value is applied",
                                  row->name, before->line);
        } else {
                config_text_warning(
                                t, name,
                                "\"%s\" overrides \"%s\" in line %u: both change the same setting, and the later one wins",
                                row->name, before->row->name, before->line);
                replace_assignment(b, before, &a);
        }
}

/* Returns true if the key belongs in the block itself, not in its match or on_battery. Returns false for a match key
 * inside the match, even if a setting has the same name ("rotational"). */
static bool is_for_block(const BlockReader *b, const char *key, bool match) {
        if (match && match_key_from_string(key) >= 0)
                return false;
        return block_has_key(key) || (match && setting_find(b->r->table, key));
}

/* Finds a missing "}": two adjacent ";" show that it is missing between them. Returns the second ";"; 0: not found. */
static size_t find_missing_brace(const Reader *r, size_t i, size_t end) {
        for (; i + 1 < end; i++)
                if (token_type(r, i) == TOKEN_SEMICOLON && token_type(r, i + 1) == TOKEN_SEMICOLON)
                        return i + 1;

        return 0;
}

/* Returns true if the setting also occurs earlier in on_battery. In this case the "}" of on_battery is missing, and the second
 * occurrence belongs to the block. */
static bool is_repeated(const BlockReader *b, size_t first, size_t name) {
        char key[TOKEN_TEXT_MAX];

        if (!setting_find(b->r->table, token_copy(b->r->text, name, key)))
                return false;
        while (first < name && !(token_starts_statement(b->r->text, first) && token_is_name(b->r->text, first, key)))
                first++;
        return first < name;
}

static void complain_group(BlockReader *b, size_t value, const char *name, size_t key, size_t end) {
        ConfigText *t = b->r->text;
        size_t brace = find_missing_brace(b->r, value + 1, key > 0 ? key : end);

        if (brace > 0)
                config_text_error(t, value, "this %s is not closed; write \"}\" before \";\" in line %u, column %u",
                                  name, t->tokens[brace].line, t->tokens[brace].column);
        else if (key > 0)
                config_text_error(t, value,
                                  "this %s is not closed; write \"};\" after its last key, before \"%s\" in line %u",
                                  name, TOKEN_QUOTED(t, key), t->tokens[key].line);
        else
                config_text_error(t, value, "this %s or its block is not closed; write \"}\" at its end", name);
        b->r->broken = t->muted = true;
}

/* Returns true if the group at `value` is not closed: the block has no "}", and a key of the block is inside the group. Adds
 * one complaint for the whole group. */
static bool group_is_open(BlockReader *b, size_t value, const char *name) {
        bool match = streq(name, CONFIG_MATCH);
        ConfigText *t = b->r->text;
        char key[TOKEN_TEXT_MAX];
        size_t end = value;

        if (!b->closed && token_type(b->r, value) == TOKEN_GROUP)
                end = reader_find_closing(b->r, value + 1);
        for (size_t i = value + 1; i < end; i++) {
                if (!token_starts_statement(t, i) ||
                    (!is_for_block(b, token_copy(t, i, key), match) && (match || !is_repeated(b, value + 1, i))))
                        continue;
                complain_group(b, value, name, i, end);
                return true;
        }

        return false;
}

static void read_match(BlockReader *b, size_t name) {
        bool first = !b->has_match;

        if (first) {
                b->block->match_at.line = b->r->text->tokens[name + 2].line;
                b->block->match_at.column = b->r->text->tokens[name + 2].column;
        }
        b->match_known = first && !group_is_open(b, name + 2, CONFIG_MATCH) &&
                         reader_match(b->r, name + 2, &b->block->match);
        b->has_match = b->after_match = true;
        if (!first)
                config_text_error(b->r->text, name, "a second match in this block; write all keys into one match");
}

static void read_statements(BlockReader *b, size_t i, size_t end);

static void read_battery(BlockReader *b, size_t name) {
        size_t value = name + 2, end;

        if (b->has_battery) {
                b->r->broken = true;
                config_text_error(b->r->text, name, "\"" CONFIG_ON_BATTERY "\" is given twice in this block");
        }
        b->has_battery = true;

        if (token_type(b->r, value) != TOKEN_GROUP) {
                b->r->broken = b->block->obscure = true;
                config_text_error(b->r->text, value,
                                  CONFIG_ON_BATTERY " is a group of settings: " CONFIG_ON_BATTERY " = { ... };");
                return;
        }

        if (group_is_open(b, value, CONFIG_ON_BATTERY))
                return;
        end = reader_find_closing(b->r, value + 1);
        if (!b->closed && token_type(b->r, end + 1) != TOKEN_SEMICOLON && !token_starts_statement(b->r->text, end + 1))
                complain_group(b, value, CONFIG_ON_BATTERY, 0, end);
        if (end == value + 1)
                config_text_warning(b->r->text, value, "this " CONFIG_ON_BATTERY " is empty and has no effect");
        b->in_battery = true;
        read_statements(b, value + 1, end);
        b->in_battery = false;
}

/* Finds the known name that is nearest to the mistyped `name`. */
static Nearest find_nearest(const BlockReader *b, const char *name) {
        Nearest n = { .typed = name };

        setting_offer(b->r->table, &n);
        for (size_t i = 0; i < CONFIG_BLOCK_KEYS; i++)
                nearest_offer(&n, config_block_keys[i].name);
        for (MatchKey key = 0; key < MATCH_PROPERTY; key++)
                nearest_offer(&n, match_key_to_string(key));

        return n;
}

static void read_unknown(BlockReader *b, size_t name, const char *text) {
        bool group = token_type(b->r, name + 2) == TOKEN_GROUP;
        Nearest n = find_nearest(b, text);
        const Setting *row = n.word ? setting_find(b->r->table, n.word) : NULL;
        size_t key = n.word ? config_find_block_key(n.word) : 0;

        if (config_is_option(text)) {
                config_text_error(b->r->text, name, "\"%s\" is not a drive setting: write it outside drives = ( ... );",
                                  text);
                return;
        }
        if (match_key_from_string(text) >= 0 && !(row && n.distance == 0)) {
                /* Marks the block as broken, because without this criterion the match would include more drives than intended. */
                b->r->broken = true;
                config_text_error(b->r->text, name, "\"%s\" selects drives: write it inside match = { ... }", text);
                return;
        }

        if (n.word)
                config_text_error(b->r->text, name, "unknown setting \"%s\"; did you mean \"%s\"?", text, n.word);
        else
                config_text_error(b->r->text, name, "unknown setting \"%s\"", text);

        if (row)
                withhold(b, row, name);
        else if (n.word && (key == CONFIG_BLOCK_KEYS || config_block_keys[key].narrowing))
                b->r->broken = true;
        /* An unknown group also marks the block as broken, because the group may be a mistyped match or on_battery. */
        b->r->broken = b->r->broken || group;
        b->block->obscure = b->block->obscure || group || !n.word;
}

static void read_statement(BlockReader *b, size_t name) {
        static const ValueRange boolean = { .type = VALUE_BOOL },
                                spindown_by = { .type = VALUE_NAME, .words = spindown_words };
        char buf[TOKEN_TEXT_MAX];
        const char *text = token_copy(b->r->text, name, buf);
        const Setting *row = setting_find(b->r->table, text);
        size_t key = config_find_block_key(text);
        Value v;

        b->n_statements++;
        b->after_match = false;
        if (row)
                read_setting(b, row, name);
        else if (key == CONFIG_BLOCK_KEYS)
                read_unknown(b, name, text);
        else if (b->in_battery) {
                b->r->broken = true;
                config_text_error(b->r->text, name, CONFIG_ON_BATTERY " holds only settings, not %s", text);
        } else if (streq(text, CONFIG_MATCH))
                read_match(b, name);
        else if (streq(text, CONFIG_ON_BATTERY))
                read_battery(b, name);
        else if (streq(text, CONFIG_SPINDOWN_BY)) {
                if (reader_value(b->r, name + 2, text, &spindown_by, &v, NULL))
                        b->block->spindown_by = (SpindownBy) v.number;
        } else if (reader_value(b->r, name + 2, text, &boolean, &v, NULL))
                *(bool *) ((char *) b->block + config_block_keys[key].offset) = v.number;
        else if (config_block_keys[key].narrowing)
                b->r->broken = true;
}

/* Skips from a syntax error to the next statement. Marks the settings among the skipped tokens as withheld (never
 * written). If an unexpected value follows the match, the match counts as unreadable, because the value may belong to it:
 * match = "/dev/"; "sda"; */
static size_t skip_broken(BlockReader *b, size_t i, size_t end) {
        const ConfigText *t = b->r->text;
        char name[TOKEN_TEXT_MAX];

        if (b->after_match && !token_starts_statement(t, i) && !config_is_key(token_copy(t, i, name), b->r->table))
                b->match_known = false;
        b->after_match = false;

        do {
                const Token *k = &t->tokens[i];
                const Setting *row = setting_find(b->r->table, token_copy(t, i, name));

                if (row)
                        withhold(b, row, i);
                else if (k->type != TOKEN_EQUALS)
                        b->block->obscure = b->block->obscure || memchr(t->text + k->offset, '=', k->length);
                else if (k[-1].type != TOKEN_EQUALS && !config_is_key(token_copy(t, i - 1, name), b->r->table))
                        b->block->obscure = true;
        } while (++i < end && !token_starts_statement(t, i));

        return i;
}

static void read_statements(BlockReader *b, size_t i, size_t end) {
        while ((i = skip_separators(b->r, i)) < end) {
                size_t name = i;

                i = reader_statement(b->r, name, end);
                if (i > 0)
                        read_statement(b, name);
                else
                        i = skip_broken(b, name, end);
        }
}

/* Returns true if the "}" at `i` is one too many: a key of the block follows, or a ";" and another "}" follow. Returns
 * false if a match follows, because a match begins the next block. */
static bool is_surplus(const Reader *r, size_t i) {
        char name[TOKEN_TEXT_MAX];
        size_t brace = i;

        if (token_type(r, i) != TOKEN_GROUP_END)
                return false;
        do
                i++;
        while (token_type(r, i) == TOKEN_SEMICOLON);
        if (i > brace + 1 && token_type(r, i) == TOKEN_GROUP_END)
                return token_type(r, r->list) != TOKEN_GROUP; /* false if the second "}" ends a list begun by "{" */
        return token_starts_statement(r->text, i) && config_is_key(token_copy(r->text, i, name), r->table) &&
               !config_is_option(name) && !streq(name, CONFIG_MATCH);
}

/* Complains about an unclosed block. Proposes to write "}" after its last statement. */
static void complain_open(const BlockReader *b, size_t start, size_t end) {
        bool comma = token_type(b->r, end - 1) == TOKEN_COMMA, last = token_type(b->r, end) == TOKEN_END;
        bool brace = !comma && token_type(b->r, end) == TOKEN_GROUP;
        ConfigText *t = b->r->text;
        size_t before = end - comma;

        if (last && !comma)
                config_text_error(t, start, "this block is not closed; write \"}\" at the end of the file");
        else if (brace && token_type(b->r, end + 1) <= TOKEN_END)
                config_text_error(t, end, "write \"}\" here in place of \"{\"");
        else
                config_text_error(t, start,
                                  "this block is not closed; write \"%s\" before \"%s\" in line %u, column %u",
                                  brace ? "}," : "}", TOKEN_QUOTED(t, before), t->tokens[before].line,
                                  t->tokens[before].column);
}

/* Returns true if any token from `i` to `end` is on a line with an unpaired quote, which was reported earlier. */
static bool has_doubtful(const ConfigText *t, size_t i, size_t end) {
        while (i < end && !t->tokens[i].doubtful)
                i++;
        return i < end;
}

bool block_read(Reader *r, bool guessed, Block *ret) {
        size_t start = r->i, inside = start + (token_type(r, start) == TOKEN_GROUP),
               end = reader_find_closing(r, inside);
        BlockReader b = { .r = r, .block = ret };
        ConfigText *t = r->text;

        ret->file = t->file;
        ret->line = t->tokens[start].line;
        ret->column = t->tokens[start].column;

        r->broken = false;
        guessed = guessed || end >= t->doubtful;
        t->muted = guessed || has_doubtful(t, start, end);
        if (token_type(r, inside) == TOKEN_GROUP && reader_is_twice(r, inside))
                reader_complain_twice(r, inside++);
        while (is_surplus(r, end)) {
                if (reader_is_twice(r, end))
                        reader_complain_twice(r, end);
                else
                        config_text_error(t, end, "delete this \"}\": the block continues after it");
                guessed = t->muted = true;
                end = reader_find_closing(r, end + 1);
        }
        b.closed = token_type(r, end) == TOKEN_GROUP_END;
        read_statements(&b, inside, end);
        r->i = end + b.closed;

        if (!b.closed)
                complain_open(&b, start, end);
        else if (!b.has_match && !r->broken)
                config_text_error(t, start, "this block has no match; if it is for every drive, write match = {};");
        else if (b.n_statements == 1 && b.match_known && !r->broken)
                config_text_warning(t, start, "this block has a match but no settings, and has no effect");
        /* After a block with an error, suppresses complaints about the text that follows: the text may still belong to the block. */
        r->reported = r->reported || t->muted;
        t->muted = false;

        if (!b.closed)
                r->unclosed = end;
        guessed = guessed || !b.closed;
        ret->broken = r->broken || guessed;
        ret->obscure = guessed || (ret->broken && ret->obscure);

        /* If the end of the block is a guess, a match just before that end counts as unreadable, because the match may be incomplete. */
        return b.match_known && !(guessed && b.after_match);
}
