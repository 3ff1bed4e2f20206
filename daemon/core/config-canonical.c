/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A sound statement in the form that libconfig 1.5 reads as the user meant it. */

#include <stdio.h>

#include "config-statement.h"

/* What a token may need besides its own characters twice: a blank, quotes, a number's digits. */
#define TOKEN_ROOM 32U

/* All put something at `p`, and return its end. No stdio stream: this is done for every value of every file, and the
 * making of a stream costs more than all else. */

/* Escapes that libconfig would decode (\x20) or does not know (\*) keep their backslash. */
static char *put_string(char *p, const char *s, size_t n) {
        for (size_t i = 0; i < n; i++) {
                if (s[i] == '\\' && i + 1 < n) {
                        if (!strchr("\\\"nrtf", s[i + 1]))
                                *p++ = '\\';
                        *p++ = s[i++];
                }
                *p++ = s[i];
        }
        return p;
}

/* libconfig has 32 bits without the L and wraps silently in both. */
static char *put_integer(char *p, const char *s, size_t n) {
        char digits[32];
        long long v;

        while (n > 1 && s[n - 1] == 'L')
                n--;
        if (n < sizeof digits) {
                memcpy(digits, s, n);
                digits[n] = '\0';
                errno = 0;
                v = strtoll(digits, NULL, n > 2 && (s[1] == 'x' || s[1] == 'X') ? 16 : 10);
                if (errno == 0)
                        return p + sprintf(p, v >= INT32_MIN && v <= INT32_MAX ? "%lld" : "%lldL", v);
        }

        /* As a string it is out of every range, and the complaint can quote it. */
        *p++ = '"';
        p = mempcpy(p, s, n);
        *p++ = '"';
        return p;
}

static char *put_token(char *p, const ConfigText *t, size_t token) {
        const Token *k = &t->tokens[token];
        const char *s = t->text + k->offset;

        *p++ = ' ';
        if (k->type == TOKEN_STRING)
                return put_string(p, s, k->length);
        if (k->type == TOKEN_INTEGER)
                return put_integer(p, s, k->length);
        return mempcpy(p, s, k->length);
}

int statement_to_text(const ConfigText *t, const Statement *s, char **ret) {
        TokenType last = TOKEN_END;
        size_t size = sizeof ";";
        char *text, *p;

        for (size_t i = s->name; i < s->end; i++)
                size += 2 * t->tokens[i].length + TOKEN_ROOM;
        text = p = malloc(size);
        if (!text)
                return -ENOMEM;

        for (size_t i = s->name; i < s->end; i++) {
                TokenType type = t->tokens[i].type, next = t->tokens[i + 1].type;

                if ((type == TOKEN_COMMA || type == TOKEN_SEMICOLON) &&
                    (last == TOKEN_COMMA || last == TOKEN_SEMICOLON || last == TOKEN_GROUP || next == TOKEN_LIST_END ||
                     next == TOKEN_ARRAY_END))
                        continue;
                p = put_token(p, t, i);
                last = type;
        }
        (void) strcpy(p, ";");

        *ret = text;
        return 0;
}
