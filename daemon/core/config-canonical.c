/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A sound statement in the form that libconfig 1.5 reads as the user meant it. */

#include <stdio.h>

#include "config-statement.h"

/* Escapes that libconfig would decode (\x20) or does not know (\*) keep their backslash. */
static void put_string(FILE *f, const char *s, size_t n) {
        for (size_t i = 0; i < n; i++) {
                if (s[i] == '\\' && i + 1 < n) {
                        if (!strchr("\\\"nrtf", s[i + 1]))
                                fputc('\\', f);
                        fputc(s[i++], f);
                }
                fputc(s[i], f);
        }
}

/* libconfig has 32 bits without the L and wraps silently in both. */
static void put_integer(FILE *f, const char *s, size_t n) {
        char digits[32];
        long long v;

        while (n > 1 && s[n - 1] == 'L')
                n--;
        if (n < sizeof digits) {
                memcpy(digits, s, n);
                digits[n] = '\0';
                errno = 0;
                v = strtoll(digits, NULL, n > 2 && (s[1] == 'x' || s[1] == 'X') ? 16 : 10);
                if (errno == 0) {
                        fprintf(f, v >= INT32_MIN && v <= INT32_MAX ? "%lld" : "%lldL", v);
                        return;
                }
        }

        /* As a string it is out of every range, and the complaint can quote it. */
        fprintf(f, "\"%.*s\"", (int) n, s);
}

static void put_token(FILE *f, const ConfigText *t, size_t token) {
        const Token *k = &t->tokens[token];
        const char *s = t->text + k->offset;

        fputc(' ', f);
        if (k->type == TOKEN_STRING)
                put_string(f, s, k->length);
        else if (k->type == TOKEN_INTEGER)
                put_integer(f, s, k->length);
        else
                fprintf(f, "%.*s", (int) k->length, s);
}

int statement_to_text(const ConfigText *t, const Statement *s, char **ret) {
        _cleanup_free_ char *text = NULL;
        TokenType last = TOKEN_END;
        size_t size;
        FILE *f;

        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;

        for (size_t i = s->name; i < s->end; i++) {
                TokenType type = t->tokens[i].type, next = t->tokens[i + 1].type;

                if ((type == TOKEN_COMMA || type == TOKEN_SEMICOLON) &&
                    (last == TOKEN_COMMA || last == TOKEN_SEMICOLON || last == TOKEN_GROUP || next == TOKEN_LIST_END ||
                     next == TOKEN_ARRAY_END))
                        continue;
                put_token(f, t, i);
                last = type;
        }
        fputc(';', f);

        if (fclose(f) != 0)
                return -ENOMEM;

        *ret = TAKE_PTR(text);
        return 0;
}
