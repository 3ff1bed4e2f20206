/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A configuration file's text as tokens, each with its line and column. libconfig 1.5 stops at the first error, knows
 * no columns, wraps integers and decodes \x20, so this reads first and libconfig gets only sound statements, one by
 * one (config-value.c). Any bytes are fine as input. */

#include "complaint.h"

typedef enum TokenType {
        TOKEN_COMMA = ',',
        TOKEN_SEMICOLON = ';',
        TOKEN_EQUALS = '=', /* ':' too */
        TOKEN_GROUP = '{',
        TOKEN_GROUP_END = '}',
        TOKEN_LIST = '(',
        TOKEN_LIST_END = ')',
        TOKEN_ARRAY = '[',
        TOKEN_ARRAY_END = ']',

        TOKEN_END = 256, /* of the file: always the last one, and two of them, to look ahead; behind it what can be a word */
        TOKEN_NAME,
        TOKEN_STRING,
        TOKEN_WORD,    /* none of these: 7, 20min, /dev/sda, 'sda' */
        TOKEN_REFUSED, /* complained about already: @include, a string that is not closed, bytes that are not UTF-8 */
} TokenType;

typedef struct Token {
        TokenType type;
        uint32_t offset, length;
        uint32_t line, column; /* from 1; a tab counts as one character */
        bool secret;           /* never quoted: it may be (part of) a password (config-file.c) */
        bool doubtful;         /* a quote in its line has no partner, which was told: perhaps it is another token */
} Token;

typedef struct ConfigText {
        const char *file; /* its name in complaints */
        const char *text;
        size_t size;
        GROWING_ARRAY(Token, tokens);
        Token at;        /* where the scanner stands */
        size_t doubtful; /* from this token on all may be part of a comment that is not closed; SIZE_MAX: none */
        Complaints *complaints;
        size_t n_complaints; /* from this file */
        bool muted;          /* no more complaints about this block: its first error of syntax was told */
} ConfigText;

/* `t` has file, text, size and complaints filled in. Of a file that cannot be text there is just TOKEN_END. Returns its
 * Complaints.error. */
int config_text_scan(ConfigText *t);
void config_text_done(ConfigText *t);

/* At a token. All return false, for whoever has nothing to give then. Behind the hundredth complaint from one file the rest are not
 * kept. */
#define config_text_error(t, token, ...) config_text_complain(t, COMPLAINT_ERROR, (t)->tokens + (token), __VA_ARGS__)
#define config_text_warning(t, token, ...) \
        config_text_complain(t, COMPLAINT_WARNING, (t)->tokens + (token), __VA_ARGS__)
bool config_text_complain(ConfigText *t, ComplaintLevel level, const Token *at, const char *format, ...) _printf_(4, 5);

/* The token's text without a string's quotes, cut to fit: a longer name cannot be a known one. Returns buf. */
#define TOKEN_TEXT_MAX 128U /* holds a link below /dev/disk/by-id */
const char *token_copy(const ConfigText *t, size_t token, char buf[static TOKEN_TEXT_MAX]);

/* The same for complaints: "..." for what is secret. It may not be in buf. */
const char *token_quote(const ConfigText *t, size_t token, char buf[static TOKEN_TEXT_MAX]);
#define TOKEN_QUOTED(t, token) token_quote(t, token, (char[TOKEN_TEXT_MAX]){})

bool token_is_name(const ConfigText *t, size_t token, const char *name);
bool token_separates(TokenType type);                           /* "," or ";" */
bool token_starts_statement(const ConfigText *t, size_t token); /* something like a name, and "=" */
