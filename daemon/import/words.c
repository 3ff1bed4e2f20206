/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "text.h"
#include "words.h"

#define EXPANSIONS_MAX 100U

void words_add(Words *w, const char *s, size_t n) {
        must_grow(w, items);
        w->items[w->n_items++] = must(strndup(s, n));
}

void words_split(Words *w, const char *s) {
        for (size_t n; *(s += strspn(s, " \t")); s += n) {
                n = strcspn(s, " \t");
                words_add(w, s, n);
        }
}

void words_done(Words *w) {
        for (size_t i = 0; i < w->n_items; i++)
                free(w->items[i]);
        free(w->items);
        *w = (Words){};
}

void words_add_braces(Words *w, const char *s) {
        const char *open = strrchr(s, '{');
        size_t n = open ? strcspn(open, "}") : 0;

        if (!open || !open[n] || !memchr(open, ',', n) || w->n_items >= EXPANSIONS_MAX || strlen(s) >= 4096) {
                words_add(w, s, strlen(s));
                return;
        }
        for (const char *part = open + 1; part <= open + n; part += strcspn(part, ",}") + 1) {
                _cleanup_free_ char *word = must_format("%.*s%.*s%s", (int) (open - s), s, (int) strcspn(part, ",}"),
                                                        part, open + n + 1);

                words_add_braces(w, word);
        }
}

bool word_is_program_or_drive(const char *word) {
        return starts_with(word, "/dev/") || strstr(word, "/block/") || strstr(word, "bin/");
}

bool lines_next(Lines *l, bool continued, char **ret) {
        const char *s = l->next;
        char *copy;
        size_t n;

        if (*s == '\0')
                return false;

        l->line = ++l->behind;
        for (n = strcspn(s, "\n"); continued && n > 0 && s[n] && s[n - 1] == '\\'; n += 1 + strcspn(s + n + 1, "\n"))
                l->behind++;
        l->next = s + n + (s[n] == '\n');

        copy = must(strndup(s, n));
        for (char *p = copy; (p = strstr(p, "\\\n"));)
                p[0] = p[1] = ' ';
        free(*ret);
        *ret = copy;
        s = text_strip(copy);
        memmove(copy, s, strlen(s) + 1);
        return true;
}

bool line_split(char *line, char **ret_value) {
        size_t n = strcspn(line, "= \t#\"'");
        char *value = line + n + strspn(line + n, " \t"), *end;

        if (n == 0 || *value != '=')
                return false;
        value = text_strip(value + 1);

        if (*value == '"' || *value == '\'') {
                end = strchr(value + 1, *value);
                if (!end)
                        return false;
                *end = '\0';
                value++;
        }
        line[n] = '\0';
        *ret_value = value;
        return true;
}

Pairs pairs_read(const char *text, bool continued) {
        _cleanup_free_ char *line = NULL;
        const char *section = NULL;
        Lines l = { .next = text };
        Pairs p = {};

        while (lines_next(&l, continued, &line)) {
                Pair *pair;

                if (*line == '\0' || *line == '#')
                        continue;
                if (*line == '[') {
                        line[strcspn(line, "]")] = '\0';
                        section = line + 1;
                }
                must_grow(&p, items);
                pair = &p.items[p.n_items++];
                *pair = (Pair){ .section = section, .name = TAKE_PTR(line), .line = l.line };
                (void) line_split(pair->name, &pair->value);
        }
        return p;
}

const Pair *pairs_last(const Pairs *p, const char *section, const char *name) {
        for (size_t i = p->n_items; i-- > 0;)
                if (p->items[i].value && streq(p->items[i].name, name) &&
                    (!section || streq_ptr(p->items[i].section, section)))
                        return &p->items[i];

        return NULL;
}

void pairs_done(Pairs *p) {
        for (size_t i = 0; i < p->n_items; i++)
                free(p->items[i].name);
        free(p->items);
        *p = (Pairs){};
}
