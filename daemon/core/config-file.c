/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads one file: the list of drives with its blocks, and the options outside the list. Also marks text that complaints
 * must not quote. If the match of a block cannot be read, the general rules of the file are not applied either. */

#include "config-reader.h"
#include "text.h"

/* Marks values that may be passwords as secret, so that no complaint quotes them. The values of unknown keys are secret,
 * because the file may belong to another program. The value of a setting that drivekeep never writes (SETTING_EXCLUDED) is
 * secret, too. A secret value ends at the next known key that has an "=". */
static void hide_secrets(ConfigText *t, const SettingTable *table) {
        char name[TOKEN_TEXT_MAX];
        bool hidden = true;

        for (size_t i = 0; t->tokens[i].type != TOKEN_END; i++) {
                const Setting *row = setting_find(table, token_copy(t, i, name));
                bool excluded = row && (row->flags & SETTING_EXCLUDED);

                if (token_starts_statement(t, i) || excluded)
                        hidden = excluded || !config_is_key(name, table);
                else
                        t->tokens[i].secret = hidden && t->tokens[i].type > TOKEN_END && !config_is_key(name, table);
        }
}

static bool opens_list(const ConfigText *t, size_t i) {
        TokenType type = t->tokens[i].type;

        return type == TOKEN_LIST || type == TOKEN_GROUP || type == TOKEN_ARRAY;
}

/* Returns true if the file has text but is not a configuration: it has no list of blocks, and no known key is followed by "=" (or by ":"
 * and a bracket). No text of such a file is quoted: the colons of /etc/shadow, for example, would make words look like keys. */
static bool is_foreign(const ConfigText *t, const SettingTable *table) {
        char name[TOKEN_TEXT_MAX];
        size_t i = 0;

        for (; t->tokens[i].type != TOKEN_END; i++) {
                const Token *next = &t->tokens[i + 1];

                if ((t->tokens[i].type == TOKEN_LIST && next->type == TOKEN_GROUP) ||
                    (next->type == TOKEN_EQUALS && (t->text[next->offset] == '=' || opens_list(t, i + 2)) &&
                     config_is_key(token_copy(t, i, name), table)))
                        return false;
        }

        return i > 0;
}

/* Returns true if only the opening bracket of the list is missing: drives = { match = ...; }, { ... } ); */
static bool lacks_bracket(const Reader *r, size_t i) {
        if (token_type(r, i) != TOKEN_GROUP)
                return false;
        i = reader_find_closing(r, i + 1);
        if (token_type(r, i) == TOKEN_GROUP_END)
                i++;
        return token_type(r, i) == TOKEN_COMMA || token_type(r, i) == TOKEN_LIST_END;
}

static void read_list(Reader *r) {
        size_t name = r->i, bracket = name + 1 + (token_type(r, name + 1) == TOKEN_EQUALS);
        TokenType type = token_type(r, bracket);
        bool braced = type == TOKEN_GROUP &&
                      token_type(r, bracket + 1) == TOKEN_GROUP; /* "{ {" is a list with the wrong bracket */

        if (braced || type == TOKEN_ARRAY)
                config_text_error(r->text, bracket,
                                  "the list of drives needs round brackets: write \"(\" here, and \");\" at its end");
        else if (type == TOKEN_LIST && bracket == name + 1)
                config_text_error(r->text, name, "a \"=\" is missing after \"" CONFIG_DRIVES "\"");
        else if (type == TOKEN_EQUALS)
                reader_complain_twice(r, bracket);
        else if (r->list == 0 && lacks_bracket(r, bracket))
                config_text_error(r->text, bracket, "a \"(\" is missing before this block");
        else if (type != TOKEN_LIST)
                config_text_error(r->text, name, "drives is a list of blocks: drives = ( { ... }, { ... } );");
        else if (r->list > 0)
                config_text_error(r->text, name,
                                  "a second list of drives (first in line %u); write all blocks into one list",
                                  r->text->tokens[r->list].line);

        if (type == TOKEN_EQUALS)
                type = token_type(r, ++bracket);
        r->open = r->separated = type == TOKEN_LIST || type == TOKEN_ARRAY || braced;
        r->reported = !r->open;
        r->misnamed = r->in_section = false;
        r->n_blocks = 0;
        r->list = bracket;
        r->i = bracket + r->open;
}

/* Returns true at the end of the list. "}" ends a list that began with "{". */
static bool at_list_end(const Reader *r) {
        TokenType type = token_type(r, r->i);

        return type == TOKEN_LIST_END || type == TOKEN_ARRAY_END ||
               (type == TOKEN_GROUP_END && token_type(r, r->list) == TOKEN_GROUP);
}

static void end_list(Reader *r) {
        bool open = r->open && !at_list_end(r) && token_type(r, r->list) != TOKEN_GROUP,
             ended = open && token_type(r, r->i - 1) == TOKEN_SEMICOLON;
        size_t before = r->i - ended;

        /* An unclosed list is not reported after another complaint, because its closing bracket may be inside an unclosed string. */
        if (open && !r->reported && !ended && token_type(r, r->i) == TOKEN_END)
                config_text_error(r->text, r->list, "this list is not closed; write \");\" at the end of the file");
        else if (open && !r->reported)
                config_text_error(r->text, r->list,
                                  "this list is not closed; write \"%s\" before \"%s\" in line %u, column %u",
                                  ended ? ")" : ");", TOKEN_QUOTED(r->text, before), r->text->tokens[before].line,
                                  r->text->tokens[before].column);
        r->open = false;
}

static void read_block(Reader *r) {
        _cleanup_(block_done) Block block = {};
        Config *c = r->config;
        size_t start = r->i;
        bool braced = token_type(r, start) == TOKEN_GROUP, follows_unclosed = r->unclosed == start;

        if (r->reported)
                ;
        else if (!braced)
                config_text_error(r->text, start, "a match belongs in a block; is a \"{\" missing before it?");
        else if (!r->open)
                config_text_error(r->text, start,
                                  "blocks belong in the list of drives: drives = ( { ... }, { ... } );");
        else if (!r->separated && !follows_unclosed)
                config_text_error(r->text, start, "a comma is missing between this block and the previous one");
        r->reported = !r->open;
        r->separated = false;
        r->n_blocks = 0;

        if (braced && token_type(r, start + 1) == TOKEN_GROUP_END) {
                config_text_warning(r->text, start, "this block is empty");
                r->i += 2;
                return;
        }

        /* If the previous block is not closed, a group without a match may belong to that block: the start of the new block is a guess. */
        if (!block_read(r, !braced || (follows_unclosed && !token_is_name(r->text, start + 1, CONFIG_MATCH)), &block)) {
                r->unmatched = r->unmatched ?: &r->text->tokens[start];
                return;
        }

        block.broken = block.broken || r->misnamed;
        if (!GREW(c, blocks)) {
                c->complaints.error = -ENOMEM;
                return;
        }
        c->blocks[c->n_blocks++] = block;
        block = (Block){};
        r->n_blocks = c->n_blocks;
}

/* Returns true at a section header such as "[sda]", which a configuration never contains. */
static bool is_section(const Reader *r, size_t i) {
        return !r->open && token_type(r, i) == TOKEN_ARRAY && token_type(r, i + 1) > TOKEN_END &&
               token_type(r, i + 2) == TOKEN_ARRAY_END;
}

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
                                  "\"%s\" is a drive setting: write it inside a block of drives = ( ... );", name);
        else
                config_text_error(r->text, token, "unknown option \"%s\"", name);
}

/* Reads a statement outside the list. Returns false if the statement has a syntax error: the text after the
 * statement may be part of its value. */
static bool read_option(Reader *r) {
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
                config_text_error(r->text, token, "\"%s\" is given twice; the first value is used", name);
                return true;
        }
        r->options_seen |= UINT64_C(1) << option;

        if (reader_value(r, token + 2, name, &config_options[option].range, &v, NULL) && token < r->text->doubtful)
                *(uint64_t *) ((char *) r->config + config_options[option].offset) = (uint64_t) v.number;
        return true;
}

/* Skips a token that is not allowed here. Several such tokens in a row cause one complaint. Between blocks, a token may
 * belong to the previous block, so that block is not applied. A word may also belong to a block whose match is not
 * known, so the general rules of the file are not applied either. */
static void read_stray(Reader *r) {
        Block *last = r->open && r->n_blocks > 0 ? &r->config->blocks[r->n_blocks - 1] : NULL;
        bool word = token_type(r, r->i) > TOKEN_END;
        char name[TOKEN_TEXT_MAX];

        if (r->reported || token_type(r, r->i) == TOKEN_REFUSED || reader_complain_slash(r, r->i))
                ;
        else if (is_section(r, r->i)) {
                config_text_error(
                                r->text, r->i,
                                "sections as in INI files are not supported; write drives = ( { match = ...; ... } );");
                r->in_section = true;
        } else if (word && config_is_option(token_copy(r->text, r->i, name)))
                config_text_error(r->text, r->i, "a \"=\" is missing after \"%s\"", name);
        else if (!word && reader_is_twice(r, r->i))
                reader_complain_twice(r, r->i);
        else
                config_text_error(r->text, r->i,
                                  last      ? "\"%s\" is not expected between blocks; the previous block is not applied"
                                  : r->open ? "\"%s\" is not expected here; a block begins with \"{\""
                                            : "\"%s\" is not expected here; a file holds drives = ( ... ); and options",
                                  TOKEN_QUOTED(r->text, r->i));
        r->reported = r->separated = true;

        if (last) {
                last->broken = true;
                last->obscure = last->obscure || word;
        }
        if (word && (r->open || r->misnamed))
                r->unmatched = r->unmatched ?: &r->text->tokens[r->i];
        r->i++;
}

static void read_next(Reader *r) {
        TokenType type = token_type(r, r->i);

        if (token_is_name(r->text, r->i, CONFIG_DRIVES))
                read_list(r);
        else if (type == TOKEN_GROUP || token_is_name(r->text, r->i, CONFIG_MATCH))
                read_block(r);
        else if (token_separates(type)) {
                if (type == TOKEN_SEMICOLON && r->open && !r->reported && token_type(r, r->i + 1) != TOKEN_END &&
                    token_type(r, r->i + 1) != TOKEN_GROUP_END && !reader_at_option(r, r->i + 1))
                        config_text_error(r->text, r->i, "write \",\" instead of \";\" between blocks");
                r->separated = true;
                r->i++;
        } else if (r->open && at_list_end(r)) {
                end_list(r);
                r->i++;
        } else if (r->open ? reader_at_option(r, r->i) : token_starts_statement(r->text, r->i)) {
                end_list(r);
                r->reported = r->misnamed = !read_option(r);
        } else
                read_stray(r);
}

/* Marks the general rules of the file as broken, because they might match the drives of a block whose match could not be read. A broken
 * rule stays in the list and still overrides earlier rules, so their values are not applied either. */
static void break_general(const Reader *r, size_t first_block) {
        bool any = false;

        for (size_t i = first_block; i < r->config->n_blocks; i++)
                if (match_is_general(&r->config->blocks[i].match))
                        any = r->config->blocks[i].broken = true;

        if (any)
                config_text_complain(
                                r->text, COMPLAINT_NOTICE, r->unmatched,
                                "the drives of this block are not known, so the general rules of this file are not applied");
}

static void read_file(Reader *r) {
        size_t first_block = r->config->n_blocks;

        while (token_type(r, r->i) != TOKEN_END)
                read_next(r);
        end_list(r);
        if (r->unmatched)
                break_general(r, first_block);

        for (size_t i = first_block; i < r->config->n_blocks; i++)
                for (size_t n = 0; r->config->blocks[i].broken && n < r->config->blocks[i].n_assignments; n++)
                        r->config->blocks[i].assignments[n].withheld = true;
}

int config_parse(Config *c, const SettingTable *t, const char *file, const char *text, size_t size) {
        _cleanup_(config_text_done) ConfigText tokens = { .text = text, .size = size, .complaints = &c->complaints };
        Reader reader = { .text = &tokens, .table = t, .config = c };
        uint64_t *hashes;
        char **files;
        int r;

        files = reallocarray(c->files, c->n_files + 2, sizeof(char *));
        if (!files)
                return -ENOMEM;
        c->files = files;
        hashes = reallocarray(c->hashes, c->n_files + 1, sizeof(uint64_t));
        if (!hashes)
                return -ENOMEM;
        c->hashes = hashes;
        hashes[c->n_files] = text_hash(text, size);
        tokens.file = files[c->n_files] = strdup(file);
        if (!tokens.file)
                return -ENOMEM;
        files[++c->n_files] = NULL;

        r = config_text_scan(&tokens);
        if (r < 0)
                return r;

        if (!is_foreign(&tokens, t)) {
                hide_secrets(&tokens, t);
                read_file(&reader);
        } else if (tokens.n_complaints == 0) /* otherwise an earlier complaint explains the fault */
                config_text_error(
                                &tokens, 0,
                                "this is not a drivekeep configuration: it has neither drives = ( ... ) nor an option");

        return c->complaints.error;
}
