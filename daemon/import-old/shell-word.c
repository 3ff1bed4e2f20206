/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdio.h>

#include "shell-word.h"

char text_peek(const ShellText *t, size_t ahead) {
        return (size_t) (t->end - t->at) > ahead ? t->at[ahead] : '\0';
}

char text_next(ShellText *t) {
        if (*t->at == '\n')
                t->line++;
        return *t->at++;
}

static bool is_plain(char c) {
        return isalnum((unsigned char) c) || (c && strchr("_./+-*", c));
}

/* Of $( … ) and ` … ` the first word: what comes of them is known only when they run. */
static void take_substitution(ShellText *t, FILE *word) {
        unsigned depth = 0;
        char close = *t->at == '`' ? '`' : ')';
        const char *p, *end;

        if (*t->at == '$')
                (void) text_next(t);
        for (p = t->at; p < t->end && p - t->at < 8 && !is_plain(*p) && *p != '\n'; p++)
                ;
        for (end = p; end < t->end && end - p < 40 && is_plain(*end); end++)
                ;
        fprintf(word, "$(%.*s)", (int) (end - p), p);

        do {
                char c = text_next(t);

                if (c == '(' && close == ')')
                        depth++;
                else if (c == close && close == ')')
                        depth--;
                else if (c == '`')
                        depth = depth == 0;
        } while (depth > 0 && t->at < t->end);
}

static bool ends_word(char c) {
        return isspace((unsigned char) c) || strchr(";&|()<>", c);
}

static void take_word(ShellText *t, FILE *word) {
        char quote = '\0';

        while (t->at < t->end) {
                char c = *t->at;

                if (quote != '\'' && (c == '`' || (c == '$' && text_peek(t, 1) == '('))) {
                        take_substitution(t, word);
                        continue;
                }
                if (quote == '\0' && ends_word(c))
                        return;

                (void) text_next(t);
                if (c == quote)
                        quote = '\0';
                else if (quote == '\0' && (c == '"' || c == '\''))
                        quote = c;
                else if (c == '\\' && quote != '\'' && t->at < t->end) {
                        c = text_next(t);
                        if (c == '\n')
                                continue;
                        if (quote == '"' && !strchr("\\\"$`", c))
                                fputc('\\', word);
                        fputc(c, word);
                } else
                        fputc(c, word);
        }
}

int shell_word(ShellText *t, char **ret) {
        char *text = NULL;
        size_t size;
        FILE *f;

        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;
        take_word(t, f);
        if (fclose(f) != 0) {
                free(text);
                return -ENOMEM;
        }

        *ret = text;
        return 0;
}

int shell_array(ShellText *t, char **word) {
        char *text = NULL;
        bool first = true;
        size_t size;
        FILE *f;

        f = open_memstream(&text, &size);
        if (!f)
                return -ENOMEM;

        fputs(*word, f);
        for ((void) text_next(t); t->at < t->end && *t->at != ')';) {
                if (*t->at == '#')
                        while (t->at < t->end && *t->at != '\n')
                                t->at++;
                else if (ends_word(*t->at))
                        (void) text_next(t);
                else {
                        if (!first)
                                fputc(' ', f);
                        first = false;
                        /* [KEY]=VALUE: which of them is used is known only when the script runs. */
                        if (*t->at == '[')
                                fputs("$(", f);
                        take_word(t, f);
                }
        }
        if (t->at < t->end)
                (void) text_next(t);

        if (fclose(f) != 0) {
                free(text);
                return -ENOMEM;
        }
        free(*word);
        *word = text;
        return 0;
}
