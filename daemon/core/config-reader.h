/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The steps of config_parse(): tokens (config-text.h), the list of drives and its blocks, statements, values. A broken file is read as far
 * as possible, so that a typo affects only its block. Each step adds its own complaints. If memory runs out, Complaints.error is set and
 * reading continues, so that callers need not check each step. */

#include "config-text.h"
#include "config.h"

typedef struct Reader {
        ConfigText *text;
        const SettingTable *table;
        Config *config;
        size_t i; /* index of the next token */

        uint64_t options_seen; /* a bit for each option read so far, by its index in config_options */
        size_t list;     /* token at which the list of drives began; 0: not found yet (token 0 cannot begin the list) */
        bool open;       /* the list has begun and not ended */
        bool misnamed;   /* the name of the list may be mistyped; the blocks of the list are not applied */
        bool in_section; /* after a [section], as in files of other programs: unknown keys cause no complaint */
        bool separated;  /* a separator was read, so a block may follow */
        bool reported;   /* the text since the last block or option has a complaint: the next token causes no other */
        size_t n_blocks; /* Config.n_blocks when the previous block was added; 0: no previous block, or the block was not added */
        size_t unclosed;        /* the token at which an unclosed block was detected; 0: none */
        const Token *unmatched; /* the first token of a block whose match could not be read; NULL: none */

        bool broken; /* the current block has a syntax error, or would match more drives than intended */
} Reader;

static inline TokenType token_type(const Reader *r, size_t i) {
        return r->text->tokens[i].type;
}

static inline size_t skip_separators(const Reader *r, size_t i) {
        while (token_separates(token_type(r, i)))
                i++;
        return i;
}

/* Returns the index of the token after the statement at `name`, at most `end` (config-statement.c). The value of the statement begins at
 * name + 2. 0: the statement has an error, which was reported; the block is then broken, and its later errors are not reported. */
size_t reader_statement(Reader *r, size_t name, size_t end);
bool reader_at_option(const Reader *r, size_t i); /* true: an option's name and "=" are at `i` */

/* Returns true if the token repeats the previous token: both have the same type and are on the same line. reader_complain_twice() reports
 * the repeated token. */
bool reader_is_twice(const Reader *r, size_t token);
bool reader_complain_twice(Reader *r, size_t token);

/* Complains if the token is "/", which is probably a mistyped "//". */
bool reader_complain_slash(Reader *r, size_t token);

/* Returns the '}' that closes the braces around token `i`. If the braces are not closed, returns the first token that cannot be inside
 * them. */
size_t reader_find_closing(const Reader *r, size_t i);

/* Reads the block at r->i, with or without its '{', into an empty Block, and advances r->i past the block (config-block.c). `guessed`:
 * the beginning of the block is a guess, because of an error that was reported. False: the match could not be read. The caller must
 * then apply neither the block nor general rules, which might match the drives of the block. */
bool block_read(Reader *r, bool guessed, Block *ret);

/* Reads a match (config-match.c). False: the match has an error, which was reported. */
bool reader_match(Reader *r, size_t value, Match *m);

/* Reads the value of key `name` at `token` by libconfig (config-value.c). A value that is rounded to fit `range` causes a warning.
 * `ret_keep` may be NULL if the key does not accept "keep". False: the value has an error, which was reported. */
bool reader_value(Reader *r, size_t token, const char *name, const ValueRange *range, Value *ret, bool *ret_keep);
/* Returns the string at `token`; the caller frees the string. NULL: the value is not a string, which was reported, or
 * memory ran out. */
char *reader_string(Reader *r, size_t token);
