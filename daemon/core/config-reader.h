/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How config_parse() reads one file, however broken, so that one typo costs one block: tokens (config-text.h), the list of drives
 * and its blocks, their statements, the statements' values. What is wrong is complained about where it is found; that memory was
 * short stands in Complaints.error, and reading goes on, so that nobody has to ask at each step. */

#include "config-text.h"
#include "config.h"

typedef struct Reader {
        ConfigText *text;
        const SettingTable *table;
        Config *config;
        size_t i; /* the next token */

        uint64_t options_seen; /* a bit for each */
        size_t list;           /* where the list of drives began; 0: not yet, as it cannot begin with the first token */
        bool open;             /* it has not ended */
        bool misnamed;         /* this may be a list with another name: its blocks are not applied */
        bool in_section;       /* below a [section] of another program's file: its keys are none of ours */
        bool separated;        /* a block may follow */
        bool reported;   /* there was a complaint since the last block or option, which goes for what is here, too */
        size_t n_blocks; /* of the Config up to the block read last; 0: that one is not among them */
        size_t unclosed; /* the token at which a block was found not to be closed; 0: none */
        const Token *unmatched; /* the first block whose match is not known; NULL: none */

        bool broken; /* the block: there is an error of syntax, or it was to be for fewer drives */
} Reader;

static inline TokenType token_type(const Reader *r, size_t i) {
        return r->text->tokens[i].type;
}

static inline size_t skip_separators(const Reader *r, size_t i) {
        while (token_separates(token_type(r, i)))
                i++;
        return i;
}

/* config-statement.c. Behind the statement at `name`, of which the value begins at name + 2; at most `end`. 0: it is in error, which
 * was complained about; then the block is broken, and no more is complained about until it ends. */
size_t reader_statement(Reader *r, size_t name, size_t end);
bool reader_at_option(const Reader *r, size_t i); /* its name, and "=" */

/* Whether the token before it, on its line, is of the same kind; and a complaint where that is one too many. */
bool reader_is_twice(const Reader *r, size_t token);
bool reader_complain_twice(Reader *r, size_t token);

/* A complaint if the token is "/", the rest of "//". */
bool reader_complain_slash(Reader *r, size_t token);

/* From inside braces, the '}' that closes them; else where something begins that cannot be in them, and they are not closed. */
size_t reader_find_closing(const Reader *r, size_t i);

/* config-block.c. Reads the block at r->i, with or without its '{', into an empty one, and goes behind it. `guessed`: that it begins
 * here is a guess, which was complained about. False: its match is not known; then it must not be applied, and neither may any general
 * rule that it was to protect its drives from. */
bool block_read(Reader *r, bool guessed, Block *ret);

/* config-match.c. False: it is not known, which was complained about. */
bool reader_match(Reader *r, size_t value, Match *m);

/* config-value.c, by libconfig: the value at `token`. False, NULL: there is none, which was complained about.
 * A value in `range` for the key `name`; one that cannot be held exactly is a warning. `ret_keep` may be NULL where "keep" means
 * nothing. */
bool reader_value(Reader *r, size_t token, const char *name, const ValueRange *range, Value *ret, bool *ret_keep);
char *reader_string(Reader *r, size_t token);
