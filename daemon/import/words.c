/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdlib.h>

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

/* Adds one alternative of a brace expression: the text before `open`, the alternative, and the text after `close`. */
static void add_part(Words *w, const char *s, const char *open, const char *close, const char *part, size_t n) {
        _cleanup_free_ char *word = must_format("%.*s%.*s%s", (int) (open - s), s, (int) n, part, close + 1);

        words_add_braces(w, word);
}

/* Reads one end of a range, `n` characters long: a letter, or a number of at most three digits. Returns -1 for anything else. */
static int read_bound(const char *s, size_t n) {
        if (n == 1 && isalpha((unsigned char) *s))
                return (unsigned char) *s;
        return n > 0 && n <= 3 && strspn(s, "0123456789") == n ? (int) strtol(s, NULL, 10) : -1;
}

/* Expands {a..c}, {3..0} and {08..11}. Returns false for other forms and for ranges of too many words. */
static bool add_range(Words *w, const char *s, const char *open, const char *close) {
        const char *first = open + 1, *dots = strstr(open, ".."), *last = dots ? dots + 2 : close;
        size_t n_first, n_last;
        int from, to, width = 0;

        if (!dots || last > close)
                return false;
        n_first = (size_t) (dots - first);
        n_last = (size_t) (close - last);
        from = read_bound(first, n_first);
        to = read_bound(last, n_last);
        if (from < 0 || to < 0 || !isdigit((unsigned char) *first) != !isdigit((unsigned char) *last) ||
            !islower((unsigned char) *first) != !islower((unsigned char) *last) ||
            (size_t) abs(to - from) >= EXPANSIONS_MAX - w->n_items)
                return false;
        /* A leading zero pads all numbers to the same width. */
        if ((*first == '0' && n_first > 1) || (*last == '0' && n_last > 1))
                width = (int) MAX(n_first, n_last);
        for (int i = from, step = from <= to ? 1 : -1; i != to + step; i += step) {
                _cleanup_free_ char *part =
                                isalpha((unsigned char) *first) ? must_format("%c", i) : must_format("%0*d", width, i);

                add_part(w, s, open, close, part, strlen(part));
        }
        return true;
}

void words_add_braces(Words *w, const char *s) {
        const char *open = strrchr(s, '{'), *close = open ? strchr(open, '}') : NULL;
        bool expands = close && w->n_items < EXPANSIONS_MAX && strlen(s) < 4096;

        if (expands && memchr(open, ',', (size_t) (close - open)))
                for (const char *part = open + 1; part <= close; part += strcspn(part, ",}") + 1)
                        add_part(w, s, open, close, part, strcspn(part, ",}"));
        else if (!expands || !add_range(w, s, open, close))
                words_add(w, s, strlen(s));
}

bool words_have(const Words *w, const char *word) {
        for (size_t i = 0; i < w->n_items; i++)
                if (streq(w->items[i], word))
                        return true;

        return false;
}

bool words_add_new(Words *w, const char *word) {
        if (words_have(w, word))
                return false;
        words_add(w, word, strlen(word));
        return true;
}

char *words_join(const Words *w, size_t first, const char *separator) {
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        for (size_t i = first; i < w->n_items; i++)
                fprintf(f, "%s%s", i > first ? separator : "", w->items[i]);
        must_close(f);
        return text;
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

bool joined_lines_next(Lines *l, LineStyle style, char **ret) {
        _cleanup_free_ char *line = NULL;
        bool any = false, more = true;
        unsigned first = l->line;
        size_t size;
        FILE *f;

        free(*ret);
        *ret = NULL;
        f = must(open_memstream(ret, &size));
        for (const char *start = l->next; more && lines_next(l, false, &line); start = l->next) {
                size_t raw = strcspn(start, "\n"), n;

                if (style == LINES_SYSTEMD && *line && strchr("#;", *line))
                        continue;
                first = any ? first : l->line;
                any = true;
                if (style == LINES_SMARTD)
                        line[strcspn(line, "#")] = '\0';
                n = strlen(text_strip(line));
                /* Only smartd accepts blanks after the backslash. */
                more = style == LINES_SMARTD ? n > 0 && line[n - 1] == '\\' : raw > 0 && start[raw - 1] == '\\';
                fprintf(f, "%.*s%s", (int) (n - more), line, more ? " " : "");
        }
        must_close(f);
        l->line = first;
        return any;
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
