/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Splits the text of a configuration file into tokens with line and column. libconfig 1.5 stops at the first error, reports no columns,
 * wraps integers and decodes \x20. Therefore this scanner reads the file first, and libconfig gets single valid statements
 * (config-value.c). The input may contain any bytes. */

#include "complaint.h"

typedef enum TokenType {
        TOKEN_COMMA = ',',
        TOKEN_SEMICOLON = ';',
        TOKEN_EQUALS = '=', /* also the type of ':' */
        TOKEN_GROUP = '{',
        TOKEN_GROUP_END = '}',
        TOKEN_LIST = '(',
        TOKEN_LIST_END = ')',
        TOKEN_ARRAY = '[',
        TOKEN_ARRAY_END = ']',

        TOKEN_END = 256, /* end of file; added twice, for lookahead. Words and strings have the types that follow */
        TOKEN_NAME,
        TOKEN_STRING,
        TOKEN_WORD,    /* any other word: 7, 20min, /dev/sda, 'sda' */
        TOKEN_REFUSED, /* already reported: @include, an unclosed string, bytes that are not UTF-8 */
} TokenType;

typedef struct Token {
        TokenType type;
        uint32_t offset, length;
        uint32_t line, column; /* count from 1; a tab is one column */
        bool secret;           /* the token may be part of a password, and is never quoted (config-file.c) */
        bool doubtful;         /* the token may be wrong: its line has an unpaired quote, which was reported */
} Token;

typedef struct ConfigText {
        const char *file; /* name of the file in complaints */
        const char *text;
        size_t size;
        GROWING_ARRAY(Token, tokens);
        Token at;        /* position of the scanner */
        size_t doubtful; /* tokens from this index on may belong to an unclosed comment; SIZE_MAX: none */
        Complaints *complaints;
        size_t n_complaints; /* number of complaints about this file */
        bool muted; /* the first syntax error of the block was reported; suppress further complaints about the block */
} ConfigText;

/* Scans the text. The caller sets file, text, size and complaints. A file with a NUL byte yields only TOKEN_END. Returns
 * Complaints.error. */
int config_text_scan(ConfigText *t);
void config_text_done(ConfigText *t);

/* Add a complaint about a token. Always return false, which callers can return in turn. At most 100 complaints about a file are kept. */
#define config_text_error(t, token, ...) config_text_complain(t, COMPLAINT_ERROR, (t)->tokens + (token), __VA_ARGS__)
#define config_text_warning(t, token, ...) \
        config_text_complain(t, COMPLAINT_WARNING, (t)->tokens + (token), __VA_ARGS__)
bool config_text_complain(ConfigText *t, ComplaintLevel level, const Token *at, const char *format, ...) _printf_(4, 5);

/* Copies the text of the token, without the quotes of a string, and returns buf. Cuts text that does not fit: no known name is that long. */
#define TOKEN_TEXT_MAX 128U /* enough for a link below /dev/disk/by-id */
const char *token_copy(const ConfigText *t, size_t token, char buf[static TOKEN_TEXT_MAX]);

/* Like token_copy(), for complaints: returns "..." for a secret token. The result need not be in buf. */
const char *token_quote(const ConfigText *t, size_t token, char buf[static TOKEN_TEXT_MAX]);
#define TOKEN_QUOTED(t, token) token_quote(t, token, (char[TOKEN_TEXT_MAX]){})

bool token_is_name(const ConfigText *t, size_t token, const char *name);
bool token_separates(TokenType type); /* true: "," or ";" */
/* Returns true if the token is a word or string, and "=" follows. */
bool token_starts_statement(const ConfigText *t, size_t token);
