/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "config-text.h"
#include "config.h"
#include "text.h"

#define COMPLAINTS_MAX 100U

bool config_text_complain(ConfigText *t, ComplaintLevel level, const Token *at, const char *format, ...) {
        _cleanup_free_ char *sentence = NULL;
        va_list ap;
        int n;

        if (t->muted || (at->doubtful && level != COMPLAINT_NOTICE))
                return false;

        va_start(ap, format);
        n = vasprintf(&sentence, format, ap);
        va_end(ap);
        if (n < 0) {
                sentence = NULL; /* vasprintf() leaves the pointer undefined */
                t->complaints->error = -ENOMEM;
        } else if (t->n_complaints < COMPLAINTS_MAX)
                complain(t->complaints, level, t->file, at->line, at->column, "%s", sentence);
        else if (t->n_complaints == COMPLAINTS_MAX)
                complain(t->complaints, COMPLAINT_ERROR, t->file, at->line, at->column,
                         "%u problems were reported up to here; later ones are not shown", COMPLAINTS_MAX);
        t->n_complaints++;
        return false;
}

static char peek(const ConfigText *t, size_t ahead) {
        return t->at.offset + ahead < t->size ? t->text[t->at.offset + ahead] : '\0';
}

static void advance(ConfigText *t, size_t n) {
        for (; n > 0 && t->at.offset < t->size; n--) {
                char c = t->text[t->at.offset++];

                if (c == '\n') {
                        t->at.line++;
                        t->at.column = 1;
                } else if (((unsigned char) c & 0xc0) != 0x80)
                        t->at.column++;
        }
}

/* Returns the number of bytes up to `c`, or up to the end of the text. */
static size_t distance_to(const ConfigText *t, char c) {
        const char *p = t->text + t->at.offset, *found;

        found = memchr(p, c, t->size - t->at.offset);
        return found ? (size_t) (found - p) : t->size - t->at.offset;
}

/* Adds the next `length` bytes as a token, and advances past the token. */
static void add_token(ConfigText *t, TokenType type, size_t length) {
        Token k = t->at;

        k.type = type;
        k.length = length;
        if (GREW(t, tokens))
                t->tokens[t->n_tokens++] = k;
        else
                t->complaints->error = -ENOMEM;
        advance(t, length);
}

/* Marks all tokens on this line that were already scanned: they are doubtful, and cause no more errors and
 * warnings. */
static void doubt_line(ConfigText *t, unsigned line) {
        for (Token *k = t->tokens + t->n_tokens; k-- > t->tokens && k->line == line;)
                k->doubtful = true;
}

/* Finds the first full-width form of an ASCII character (U+FF01 to U+FF5E), which Chinese and Japanese input methods produce. NULL:
 * none. */
static const char *find_full_width(const char *s, size_t size, char *ret) {
        for (const unsigned char *p = (const unsigned char *) s; size >= 3; p++, size--) {
                int c = (p[1] - 0xbc) * 0x40 + (p[2] - 0x80);

                if (p[0] == 0xef && p[1] >= 0xbc && c >= 0x01 && c <= 0x5e) {
                        *ret = (char) (c + ' ');
                        return (const char *) p;
                }
        }

        return NULL;
}

/* Adds a string or word. Refuses text that is not UTF-8, and words with invisible or full-width characters. */
static void add_checked_token(ConfigText *t, TokenType type, size_t length) {
        const char *p = t->text + t->at.offset, *name, *found = text_find_invisible(p, length, &name);
        Token at = t->at;
        char ascii = 0;

        if (!found && type != TOKEN_STRING)
                found = find_full_width(p, length, &ascii);
        for (; found && p < found; p++)
                at.column += ((unsigned char) *p & 0xc0) != 0x80;

        if (!text_is_utf8(t->text + t->at.offset, length)) {
                config_text_complain(t, COMPLAINT_ERROR, &t->at, "this is not UTF-8 text; save the file as UTF-8");
                type = TOKEN_REFUSED;
        } else if (found && type == TOKEN_STRING)
                config_text_complain(t, COMPLAINT_WARNING, &at, "this string contains %s, which is invisible", name);
        else if (ascii) {
                config_text_complain(t, COMPLAINT_ERROR, &at, "this is a full-width \"%c\"; write the ASCII character",
                                     ascii);
                type = TOKEN_REFUSED;
        } else if (found) {
                config_text_complain(t, COMPLAINT_ERROR, &at,
                                     "this is %s, an invisible character; delete it, or write a space", name);
                type = TOKEN_REFUSED;
        }
        add_token(t, type, length);
        if (ascii)
                doubt_line(t, at.line);
}

/* Returns true if the previous token, a string or word on the same line, ends where this token begins. Two words on one line count as
 * joined even if blanks are between them. */
static bool is_joined(const ConfigText *t, const Token *at) {
        const Token *before = at - 1;

        if (at == t->tokens || before->type < TOKEN_NAME || before->line != at->line)
                return false;
        return before->offset + before->length == at->offset ||
               (before->type != TOKEN_STRING && (at->type == TOKEN_NAME || at->type == TOKEN_WORD));
}

/* Complains about a quote without a partner on its line. The mistake may be in an earlier token that is joined to the
 * quote, so the complaint is about the first of the joined tokens. Example: in `"x; apm = "y"` the quote after x is
 * missing, so the first string ends at the quote before y. */
static void complain_quote(ConfigText *t, const Token *quote) {
        const Token *at = quote;

        while (is_joined(t, at))
                at--;

        if (at->type == TOKEN_STRING && (at->length == 2 || at[1].type == TOKEN_STRING || at + 1 == quote))
                config_text_complain(t, COMPLAINT_ERROR, at->length == 2 ? at : at + 1,
                                     "one quote too many; delete one");
        else if (at != quote && at->type != TOKEN_STRING)
                config_text_complain(
                                t, COMPLAINT_ERROR, at,
                                "the opening quote of this string is missing, or its closing quote is one too many");
        else
                config_text_complain(
                                t, COMPLAINT_ERROR, at,
                                "the closing quote of this string is missing on its line, or this quote is one too many");

        doubt_line(t, quote->line);
}

static void scan_string(ConfigText *t) {
        size_t n = 1;

        /* A string ends at the end of its line, so that a missing quote does not affect later blocks. */
        while (t->at.offset + n < t->size && peek(t, n) != '"' && peek(t, n) != '\n')
                n += peek(t, n) == '\\' && t->at.offset + n + 1 < t->size && peek(t, n + 1) != '\n' ? 2 : 1;

        if (peek(t, n) == '"')
                add_checked_token(t, TOKEN_STRING, n + 1);
        else {
                add_token(t, TOKEN_REFUSED, n);
                if (t->complaints->error >= 0)
                        complain_quote(t, t->tokens + t->n_tokens - 1);
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

static void scan_word(ConfigText *t) {
        const char *p = t->text + t->at.offset;
        size_t n = 1, left = t->size - t->at.offset;

        for (; n < left && !isspace((unsigned char) p[n]) && !strchr(",;:={}()[]\"#", p[n]); n++)
                /* A comment ends the word, as in 127//why. But a word that begins with '/' is a path, where '*' may follow a '/'. */
                if (p[0] != '/' && p[n] == '/' && n + 1 < left && (p[n + 1] == '/' || p[n + 1] == '*'))
                        break;

        if (n == strlen("@include") && memcmp(p, "@include", n) == 0) {
                config_text_complain(t, COMPLAINT_ERROR, &t->at,
                                     "@include is not supported; put the file into drivekeep.conf.d instead");
                add_token(t, TOKEN_REFUSED, distance_to(t, '\n'));
        } else
                add_checked_token(t, classify_word(p, n), n);
}

static void skip_comment(ConfigText *t) {
        const char *p = t->text + t->at.offset, *end = NULL;

        if (peek(t, 0) == '/' && peek(t, 1) == '*') {
                /* If an earlier comment has no end, this comment has no end either: do not search again. */
                if (t->doubtful == SIZE_MAX)
                        end = memmem(p + 2, t->size - t->at.offset - 2, "*/", 2);
                if (!end) {
                        t->doubtful = MIN(t->doubtful, t->n_tokens);
                        config_text_complain(t, COMPLAINT_ERROR, &t->at,
                                             "this comment is not closed; nothing after it is applied");
                }
        }

        advance(t, end ? (size_t) (end - p) + 2 : distance_to(t, '\n'));
}

static void scan_tokens(ConfigText *t) {
        while (t->at.offset < t->size) {
                char c = peek(t, 0);

                if (isspace((unsigned char) c))
                        advance(t, 1);
                else if (c == '#' || (c == '/' && (peek(t, 1) == '/' || peek(t, 1) == '*')))
                        skip_comment(t);
                else if (c == ':')
                        add_token(t, TOKEN_EQUALS, 1);
                else if (strchr(",;={}()[]", c))
                        add_token(t, (TokenType) c, 1);
                else if (c == '"')
                        scan_string(t);
                else
                        scan_word(t);
        }
}

int config_text_scan(ConfigText *t) {
        const char *nul = memchr(t->text, '\0', t->size);

        assert(t->size <= CONFIG_FILE_MAX);

        t->at = (Token){ .line = 1, .column = 1 };
        t->doubtful = SIZE_MAX;
        if (nul) {
                advance(t, (size_t) (nul - t->text));
                config_text_complain(t, COMPLAINT_ERROR, &t->at,
                                     "this is a NUL byte, which text cannot contain; the file is ignored");
        } else {
                if (t->size >= 3 && memcmp(t->text, "\xef\xbb\xbf", 3) == 0)
                        t->at.offset = 3; /* a byte order mark */
                scan_tokens(t);
        }
        add_token(t, TOKEN_END, 0);
        add_token(t, TOKEN_END, 0);

        return t->complaints->error;
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
        return t->tokens[token].secret ? "..." : token_copy(t, token, buf);
}

bool token_is_name(const ConfigText *t, size_t token, const char *name) {
        const Token *k = &t->tokens[token];

        return k->type == TOKEN_NAME && k->length == strlen(name) && memcmp(t->text + k->offset, name, k->length) == 0;
}

bool token_separates(TokenType type) {
        return type == TOKEN_COMMA || type == TOKEN_SEMICOLON;
}

bool token_starts_statement(const ConfigText *t, size_t token) {
        return t->tokens[token].type > TOKEN_END && t->tokens[token + 1].type == TOKEN_EQUALS;
}
