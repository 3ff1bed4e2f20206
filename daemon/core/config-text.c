/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "config-text.h"
#include "config.h"
#include "text.h"

#define COMPLAINTS_MAX 100U

/* Where the scanner stands. */
typedef struct Scanner {
        ConfigText *text;
        size_t i;
        uint32_t line, column;
        bool garbled; /* bytes that are not UTF-8 were complained about */
} Scanner;

bool config_text_complain(ConfigText *t, ComplaintLevel level, const Token *at, const char *format, ...) {
        char sentence[1024];
        va_list ap;
        int r = 0;

        if (t->muted)
                return false;

        va_start(ap, format);
        (void) vsnprintf(sentence, sizeof sentence, format, ap);
        va_end(ap);

        if (t->n_complaints < COMPLAINTS_MAX)
                r = complain(t->complaints, level, t->file, at->line, at->column, "%s", sentence);
        else if (t->n_complaints == COMPLAINTS_MAX)
                r = complain(t->complaints, COMPLAINT_ERROR, t->file, at->line, at->column,
                             "there were %u complaints up to here, what follows is not told", COMPLAINTS_MAX);
        t->n_complaints++;
        if (r < 0)
                t->error = r;
        return false;
}

/* Where the scanner stands, which may be before the first token. */
#define scanner_error(s, ...)                                                                                  \
        config_text_complain((s)->text, COMPLAINT_ERROR, &(Token){ .line = (s)->line, .column = (s)->column }, \
                             __VA_ARGS__)

static char peek(const Scanner *s, size_t ahead) {
        return s->i + ahead < s->text->size ? s->text->text[s->i + ahead] : '\0';
}

static void advance(Scanner *s, size_t n) {
        for (; n > 0 && s->i < s->text->size; n--) {
                char c = s->text->text[s->i++];

                if (c == '\n') {
                        s->line++;
                        s->column = 1;
                } else if (((unsigned char) c & 0xc0) != 0x80)
                        s->column++;
        }
}

/* The number of bytes from here to `c`, or to the end of the text. */
static size_t distance_to(const Scanner *s, char c) {
        const char *p = s->text->text + s->i, *found;

        found = memchr(p, c, s->text->size - s->i);
        return found ? (size_t) (found - p) : s->text->size - s->i;
}

/* Adds the next `length` bytes as a token and goes behind it. */
static void add_token(Scanner *s, TokenType type, size_t length) {
        ConfigText *t = s->text;

        if (GREW(t->tokens, t->n_tokens))
                t->tokens[t->n_tokens++] = (Token){
                        .type = type,
                        .offset = s->i,
                        .length = length,
                        .line = s->line,
                        .column = s->column,
                };
        else
                t->error = -ENOMEM;
        advance(s, length);
}

/* A string or a word of any bytes: what is not UTF-8 is refused, with one complaint per file. */
static void add_checked_token(Scanner *s, TokenType type, size_t length) {
        bool sound = text_is_utf8(s->text->text + s->i, length);

        if (!sound && !s->garbled)
                scanner_error(s, "this is not UTF-8 text; save the file in that encoding");
        s->garbled = s->garbled || !sound;
        add_token(s, sound ? type : TOKEN_REFUSED, length);
}

static void scan_string(Scanner *s) {
        size_t n = 1;

        /* libconfig would read on to the next quote, however many blocks further down. */
        while (s->i + n < s->text->size && peek(s, n) != '"' && peek(s, n) != '\n')
                n += peek(s, n) == '\\' && s->i + n + 1 < s->text->size && peek(s, n + 1) != '\n' ? 2 : 1;

        if (peek(s, n) == '"')
                add_checked_token(s, TOKEN_STRING, n + 1);
        else {
                scanner_error(s,
                              "the closing quote of this string is missing on its line, or here is a quote too many");
                add_token(s, TOKEN_REFUSED, n);
        }
}

static TokenType classify_word(const char *p, size_t n) {
        if (!isalpha((unsigned char) p[0]) && p[0] != '*')
                return TOKEN_WORD;

        for (size_t i = 1; i < n; i++)
                if (!isalnum((unsigned char) p[i]) && !strchr("-_*", p[i]))
                        return TOKEN_WORD;

        return TOKEN_NAME;
}

static void scan_word(Scanner *s) {
        const char *p = s->text->text + s->i;
        size_t n = 1, left = s->text->size - s->i;

        for (; n < left && !isspace((unsigned char) p[n]) && !strchr(",;:={}()[]\"#", p[n]); n++)
                /* "127//why" has a comment, but in a path without quotes a glob may follow the slash. */
                if (p[0] != '/' && p[n] == '/' && n + 1 < left && (p[n + 1] == '/' || p[n + 1] == '*'))
                        break;

        if (n == strlen("@include") && memcmp(p, "@include", n) == 0) {
                scanner_error(s, "@include is not read; put the file into drivekeep.conf.d instead");
                add_token(s, TOKEN_REFUSED, distance_to(s, '\n'));
        } else
                add_checked_token(s, classify_word(p, n), n);
}

static void skip_comment(Scanner *s) {
        const char *p = s->text->text + s->i, *end = NULL;

        if (peek(s, 0) == '/' && peek(s, 1) == '*') {
                /* Not looked for again once there was none. */
                if (s->text->doubtful == SIZE_MAX)
                        end = memmem(p + 2, s->text->size - s->i - 2, "*/", 2);
                if (!end) {
                        s->text->doubtful = MIN(s->text->doubtful, s->text->n_tokens);
                        scanner_error(s, "this comment is not closed; nothing behind it is applied");
                }
        }

        advance(s, end ? (size_t) (end - p) + 2 : distance_to(s, '\n'));
}

static void scan_tokens(Scanner *s) {
        while (s->i < s->text->size) {
                char c = peek(s, 0);

                if (isspace((unsigned char) c))
                        advance(s, 1);
                else if (c == '#' || (c == '/' && (peek(s, 1) == '/' || peek(s, 1) == '*')))
                        skip_comment(s);
                else if (c == ':')
                        add_token(s, TOKEN_EQUALS, 1);
                else if (strchr(",;={}()[]", c))
                        add_token(s, (TokenType) c, 1);
                else if (c == '"')
                        scan_string(s);
                else
                        scan_word(s);
        }
}

/* Complains about what is no text file. */
static bool is_text(Scanner *s) {
        ConfigText *t = s->text;
        const char *nul;

        if (t->size > CONFIG_FILE_MAX)
                return config_text_complain(t, COMPLAINT_ERROR, &(Token){},
                                            "the file is larger than 1 MiB, it is ignored");

        if (t->size >= 2 && (memcmp(t->text, "\xff\xfe", 2) == 0 || memcmp(t->text, "\xfe\xff", 2) == 0))
                return scanner_error(s, "the file is UTF-16, it is ignored; save it as UTF-8");

        nul = memchr(t->text, '\0', t->size);
        if (nul) {
                advance(s, (size_t) (nul - t->text));
                return scanner_error(s, "here is a NUL byte: this is no text file, it is ignored");
        }

        return true;
}

int config_text_scan(ConfigText *t) {
        Scanner s = { .text = t, .line = 1, .column = 1 };

        t->doubtful = SIZE_MAX;
        if (is_text(&s)) {
                if (t->size >= 3 && memcmp(t->text, "\xef\xbb\xbf", 3) == 0)
                        s.i = 3; /* a byte order mark */
                scan_tokens(&s);
        }
        add_token(&s, TOKEN_END, 0);
        add_token(&s, TOKEN_END, 0);

        return t->error;
}

void config_text_done(ConfigText *t) {
        free(t->tokens);
        t->tokens = NULL;
}

const char *token_copy(const ConfigText *t, size_t token, char buf[static TOKEN_TEXT_MAX]) {
        const Token *k = &t->tokens[token];
        bool quoted = k->type == TOKEN_STRING;
        size_t n = MIN(k->length - 2 * quoted, TOKEN_TEXT_MAX - 1);

        memcpy(buf, t->text + k->offset + quoted, n);
        buf[n] = '\0';
        return buf;
}

const char *token_quote(const ConfigText *t, size_t token, char buf[static TOKEN_TEXT_MAX]) {
        return t->tokens[token].secret ? "…" : token_copy(t, token, buf);
}

bool token_is_name(const ConfigText *t, size_t token, const char *name) {
        const Token *k = &t->tokens[token];

        return k->type == TOKEN_NAME && k->length == strlen(name) && memcmp(t->text + k->offset, name, k->length) == 0;
}

bool token_separates(TokenType type) {
        return type == TOKEN_COMMA || type == TOKEN_SEMICOLON;
}

bool token_starts_statement(const ConfigText *t, size_t token) {
        switch (t->tokens[token].type) {
        case TOKEN_NAME:
        case TOKEN_WORD:
        case TOKEN_STRING:
        case TOKEN_REFUSED:
                return t->tokens[token + 1].type == TOKEN_EQUALS;
        default:
                return false;
        }
}
