/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "shell-text.h"

#define SPLIT "\x1f" /* in a word: the blank of a variable that stands without quotes */
#define VALUE_MAX 4096U

bool script_is_open(const char *word) {
        return strpbrk(word, "$`");
}

static size_t name_length(const char *s) {
        size_t n = 0;

        while (isalnum((unsigned char) s[n]) || s[n] == '_')
                n++;
        return isdigit((unsigned char) *s) ? 0 : n;
}

size_t shell_assignment_length(const char *word) {
        size_t n = name_length(word);

        return word[n + (word[n] == '+')] == '=' ? n : 0;
}

const char *shell_find_variable(const ShellText *s, const char *name, size_t n) {
        for (size_t i = s->variables.n_items; i-- > 0;)
                if (strncmp(s->variables.items[i], name, n) == 0 && s->variables.items[i][n] == '=')
                        return s->variables.items[i];

        return NULL;
}

void shell_set_variable(ShellText *s, const char *name, size_t n, const char *value) {
        _cleanup_free_ char *pair = must_format("%.*s=%s", (int) n, name, value);

        words_add(&s->variables, pair, strlen(pair));
}

/* $NAME and ${NAME}: the value; of a variable that is not known its name. */
static void put_variable(ShellText *s, FILE *word, bool quoted) {
        bool braces = s->at[1] == '{';
        const char *name = s->at + 1 + braces, *pair;
        size_t n = name_length(name);

        pair = n > 0 && (!braces || name[n] == '}') ? shell_find_variable(s, name, n) : NULL;
        s->at = name + (braces ? strcspn(name, "}\n") : n);
        s->at += braces && *s->at == '}';
        if (!pair || script_is_open(pair) || strlen(pair) + (size_t) ftell(word) > VALUE_MAX) {
                fprintf(word, "$%.*s", (int) n, name);
                return;
        }
        for (const char *p = pair + n + 1; *p; p++)
                fputc(!quoted && isspace((unsigned char) *p) ? *SPLIT : *p, word);
}

/* ( … ), ((…)) and $( … ) as they stand, and ` … ` as $( … ). */
static void put_substitution(ShellText *s, FILE *word) {
        bool group = *s->at == '(', tick = *s->at == '`';
        const char *begin = s->at + (group || tick ? 1 : 2), *p;
        unsigned depth = 1;

        begin += strspn(begin, " \t");
        for (p = begin; *p && depth > 0; p++) {
                p = starts_with(p, "case") && isspace((unsigned char) p[4]) ? strstr(p, "esac") ?: p
                    : *p == '#' && isspace((unsigned char) p[-1])           ? strchr(p, '\n') ?: p
                    : *p == '"' || *p == '\''                               ? strchr(p + 1, *p) ?: p
                    : *p == '\\' && p[1]                                    ? p + 1
                                                                            : p;
                depth += *p == '(' && !tick;
                depth -= *p == (tick ? '`' : ')');
        }
        /* Arithmetic that sets something. */
        if (*begin == '(' &&
            (group || memchr(begin, '=', (size_t) (p - begin)) || memmem(begin, (size_t) (p - begin), "++", 2) ||
             memmem(begin, (size_t) (p - begin), "--", 2)))
                words_done(&s->variables);
        fprintf(word, "%s(%.*s)", group ? "" : "$", (int) (p - begin) - (depth == 0), begin);
        s->at = p;
}

static void put_word(ShellText *s, FILE *word) {
        char quote = '\0';

        while (*s->at && (quote || !strchr(" \t\r\n;&|)<>", *s->at))) {
                char c = *s->at;

                if (c == '(' && !quote) {
                        put_substitution(s, word);
                        return; /* "f(){" */
                }
                if (quote != '\'' && (c == '$' || c == '`')) {
                        (s->at[1] == '(' || c == '`') ? put_substitution(s, word) : put_variable(s, word, quote);
                        continue;
                }

                s->at++;
                if (c == quote)
                        quote = '\0';
                else if (!quote && (c == '"' || c == '\''))
                        quote = c;
                else if (c == '\\' && quote != '\'' && *s->at) {
                        c = *s->at++;
                        if (quote && !strchr("\\\"$`\n", c))
                                fputc('\\', word);
                        if (c != '\n')
                                fputc(c, word);
                } else
                        fputc(c, word);
        }
}

void shell_read_words(ShellText *s, Words *to) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        put_word(s, f);
        must_close(f);

        /* A value is expanded where it is used. */
        if (shell_assignment_length(text) > 0) {
                words_add(to, text, size);
                return;
        }
        for (char *rest = text, *part; (part = strsep(&rest, SPLIT));)
                if ((*part == '/' || starts_with(part, "{/")) && !strpbrk(part, " \t\n"))
                        words_add_braces(to, part);
                else if (*part)
                        words_add(to, part, strlen(part));
}
