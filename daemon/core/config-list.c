/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The list of drives: where its blocks begin and end, however broken it is. */

#include "config-reader.h"

/* Whether another block, even without its '{', follows the bracket at r->i: then it is not the end of the list. */
static bool block_follows(const Reader *r) {
        TokenType type = token_type(r, r->i + 1);
        size_t k = r->i + 1 + token_separates(type);

        return token_type(r, k) == TOKEN_GROUP || token_is_name(r->text, k, CONFIG_MATCH) ||
               (type != TOKEN_SEMICOLON && token_starts_statement(r->text, k) && !reader_at_option(r, k));
}

static bool ends_list(TokenType type) {
        return type == TOKEN_LIST_END || type == TOKEN_ARRAY_END;
}

/* What the list goes on with may be a part of the block read last. */
static void doubt_last_block(const Reader *r) {
        Block *b = r->n_blocks > 0 ? &r->config->blocks[r->n_blocks - 1] : NULL;

        if (b)
                b->broken = b->obscure = true;
}

static void read_block(Reader *r, bool guessed) {
        _cleanup_(block_done) Block block = {};
        size_t start = r->i;

        r->n_blocks = 0;
        if (!block_read(r, guessed, &block))
                r->lost = r->lost ?: &r->text->tokens[start];
        else if (config_add_block(r->config, &block) < 0)
                r->text->error = -ENOMEM;
        else
                r->n_blocks = r->config->n_blocks;
}

/* A '}' between blocks. */
static void read_brace(Reader *r) {
        config_text_error(r->text, r->i, "here is one \"}\" too many; the block before it is not applied");
        while (token_type(r, r->i) == TOKEN_GROUP_END)
                r->i++;

        if (r->n_blocks > 0)
                r->config->blocks[r->n_blocks - 1].broken = true;
}

/* Anything between blocks that is none. What it was meant to be is not known, so it counts as a block whose match is not. */
static void read_debris(Reader *r) {
        if (token_starts_statement(r->text, r->i)) {
                /* A match begins a block; anything else may be the rest of the one before. */
                if (!token_is_name(r->text, r->i, CONFIG_MATCH))
                        doubt_last_block(r);
                config_text_error(r->text, r->i, "this stands between blocks; is a \"{\" missing before it?");
                read_block(r, true);
                return;
        }

        if (token_type(r, r->i) == TOKEN_LIST && token_type(r, r->i + 1) == TOKEN_GROUP) {
                config_text_error(r->text, r->i++, "here is one \"(\" too many");
                return;
        }

        config_text_error(r->text, r->i, "a block { … } must stand here, not \"%s\"", TOKEN_QUOTED(r->text, r->i));
        r->lost = r->lost ?: &r->text->tokens[r->i];
        for (;; r->i++) {
                TokenType type = token_type(r, r->i);

                if (type == TOKEN_END || type == TOKEN_GROUP || type == TOKEN_GROUP_END || ends_list(type) ||
                    token_separates(type) || token_starts_statement(r->text, r->i))
                        break;
        }
        r->unclosed = r->i; /* what begins there is as doubtful */
}

/* Between the blocks of a list, from behind its '('. `bare`: it has none. */
static void read_list(Reader *r, size_t start, bool bare) {
        bool separated = true;

        for (;;) {
                TokenType type = token_type(r, r->i);

                if (type == TOKEN_END || reader_at_option(r, r->i)) {
                        if (!bare)
                                config_text_error(r->text, start, "this list is not closed; write \");\"");
                        return;
                }

                if ((ends_list(type) || (bare && type == TOKEN_SEMICOLON)) && !block_follows(r)) {
                        r->i++;
                        return;
                }

                switch (type) {
                case TOKEN_GROUP:
                        if (!separated)
                                config_text_error(r->text, r->i,
                                                  "a comma is missing between this block and the one before it");
                        if (token_type(r, r->i + 1) == TOKEN_GROUP_END) {
                                config_text_warning(r->text, r->i, "this block is empty");
                                r->i += 2;
                        } else
                                /* Behind a block that is not closed, it may be a part of that. */
                                read_block(r, r->unclosed == r->i && !token_is_name(r->text, r->i + 1, CONFIG_MATCH));
                        /* Where a block was not closed, its comma is not the next thing to say. */
                        separated = r->unclosed == r->i;
                        continue;
                case TOKEN_GROUP_END:
                        read_brace(r);
                        continue;
                case TOKEN_COMMA:
                case TOKEN_REFUSED:
                        r->i++;
                        break;
                case TOKEN_SEMICOLON:
                        config_text_error(r->text, r->i++, "between blocks stands a comma, not \";\"");
                        break;
                case TOKEN_LIST_END:
                case TOKEN_ARRAY_END:
                        config_text_error(r->text, r->i++, "here the list is closed, but more blocks follow");
                        break;
                default:
                        read_debris(r);
                }
                separated = true;
        }
}

bool reader_list(Reader *r) {
        size_t name = r->i, start;
        bool named = token_is_name(r->text, name, CONFIG_DRIVES), assigned = token_starts_statement(r->text, name);
        TokenType bracket;

        start = name + (assigned ? 2 : named);
        bracket = token_type(r, start);
        if (named ? bracket != TOKEN_LIST && bracket != TOKEN_GROUP && bracket != TOKEN_ARRAY
                  : !(bracket == TOKEN_LIST && token_type(r, start + 1) == TOKEN_GROUP) &&
                                            !(bracket == TOKEN_GROUP && !assigned))
                return false;

        r->i = start + (bracket != TOKEN_GROUP);
        r->misnamed = assigned && !named;
        r->n_blocks = 0;

        if (r->misnamed)
                config_text_error(r->text, name,
                                  "the list of blocks is called \"drives\", not \"%s\"; nothing of it is applied",
                                  TOKEN_QUOTED(r->text, name));
        else if (!named) /* a bracket alone */
                config_text_error(r->text, name, "blocks stand in the list of drives only: drives = ( { … }, { … } );");
        else if (!assigned)
                config_text_error(r->text, start, "a \"=\" is missing before this");

        if (named && r->drives > 0)
                config_text_error(r->text, name, "a second list of drives (the first: line %u); one holds all blocks",
                                  r->text->tokens[r->drives].line);
        else if (named)
                r->drives = start;

        if (named && bracket == TOKEN_GROUP)
                config_text_error(r->text, start, "drives is a list, also of one block: drives = ( { … } );");
        else if (bracket == TOKEN_ARRAY)
                config_text_error(r->text, start, "the list of drives begins with \"(\"");

        read_list(r, start, bracket == TOKEN_GROUP);
        return true;
}
