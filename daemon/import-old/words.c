/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "words.h"

#define EXPANSIONS_MAX 1000U

int words_add(Words *w, const char *s, size_t n) {
        char **items, *copy;

        /* In steps that double. */
        if ((w->n_items & (w->n_items - 1)) == 0) {
                items = reallocarray(w->items, MAX(w->n_items * 2, 1U), sizeof(char *));
                if (!items)
                        return -ENOMEM;
                w->items = items;
        }

        copy = strndup(s, n);
        if (!copy)
                return -ENOMEM;
        w->items[w->n_items++] = copy;
        w->n_bytes += n;
        return 0;
}

int words_add_copy(Words *w, const Words *from) {
        int r = 0;

        for (size_t i = 0; i < from->n_items && r >= 0; i++)
                r = words_add(w, from->items[i], strlen(from->items[i]));
        return r;
}

char *words_join(const Words *w, size_t first) {
        char *text = NULL;
        size_t size;
        FILE *f;

        f = open_memstream(&text, &size);
        if (!f)
                return NULL;
        for (size_t i = first; i < w->n_items; i++)
                fprintf(f, "%s%s", i > first ? " " : "", w->items[i]);
        if (fclose(f) != 0) {
                free(text);
                return NULL;
        }

        return text;
}

static bool is_listed(const char *word, const char *list, int (*compare)(const char *, const char *, size_t)) {
        size_t n = strlen(word);

        for (const char *end; (end = strchr(list, ' ')); list = end + 1)
                if ((size_t) (end - list) == n && compare(list, word, n) == 0)
                        return true;

        return false;
}

bool word_is_one_of(const char *word, const char *list) {
        return is_listed(word, list, strncmp);
}

bool word_is_one_of_any_case(const char *word, const char *list) {
        return is_listed(word, list, strncasecmp);
}

void words_done(Words *w) {
        for (size_t i = 0; i < w->n_items; i++)
                free(w->items[i]);
        free(w->items);
        *w = (Words){};
}

/* The word at `s` up to a blank or to what is a word of its own. */
static size_t conf_word_length(const char *s) {
        bool path = *s == '/';
        size_t n = 0, depth = 0;

        for (; s[n] && !isspace((unsigned char) s[n]); n++) {
                if (s[n] == '=' && !path)
                        break;
                /* "/dev/sda,/dev/sdb" */
                if (path && depth == 0 && s[n] == ',' && s[n + 1] == '/')
                        return n + 1;
                if (s[n] == '{') {
                        /* In a path {a,b} may stand; a brace behind which it does not go on begins a block. */
                        size_t k = path ? strcspn(s + n, "} \t") : 0;

                        if (s[n + k] != '}' || !memchr(s + n, ',', k))
                                break;
                        depth++;
                } else if (s[n] == '}') {
                        if (depth == 0)
                                break;
                        depth--;
                }
        }

        return MAX(n, 1U);
}

char *conf_unquote(char *s) {
        size_t n = strlen(s);

        if (n < 2 || (s[0] != '"' && s[0] != '\'') || s[n - 1] != s[0])
                return s;
        s[n - 1] = '\0';
        return s + 1;
}

bool conf_is_comment(const char *s) {
        return *s == '#' || *s == ';' || strncmp(s, "//", 2) == 0;
}

int words_split_conf(const char *line, Words *ret) {
        int r = 0;

        while (r >= 0) {
                size_t n;

                while (isspace((unsigned char) *line))
                        line++;
                if (!*line)
                        break;

                n = conf_word_length(line);
                r = words_add(ret, line, n);
                line += n;
        }

        return r;
}

/* The first brace that holds a list or range: where it begins and ends. */
static bool find_braces(const char *s, size_t *ret_begin, size_t *ret_end) {
        for (const char *open = strchr(s, '{'); open; open = strchr(open + 1, '{')) {
                size_t n = strcspn(open + 1, "{}");

                if (open[n + 1] != '}')
                        continue;
                if (memchr(open, ',', n + 1) || (n == 4 && open[2] == '.' && open[3] == '.')) {
                        *ret_begin = (size_t) (open - s);
                        *ret_end = *ret_begin + n + 1;
                        return true;
                }
        }

        return false;
}

static int join(Words *to, const char *s, size_t begin, size_t end, const char *part, size_t n) {
        _cleanup_free_ char *word = NULL;

        if (asprintf(&word, "%.*s%.*s%s", (int) begin, s, (int) n, part, s + end + 1) < 0) {
                word = NULL;
                return -ENOMEM;
        }
        return words_add(to, word, strlen(word));
}

/* Replaces the first braces of `s`. */
static int expand_once(Words *to, const char *s, size_t begin, size_t end) {
        const char *part = s + begin + 1;
        int r = 0;

        if (!memchr(part, ',', end - begin - 1)) {
                for (char c = part[0]; c <= part[3] && r >= 0; c++) {
                        r = join(to, s, begin, end, &c, 1);
                        if (c == part[3])
                                break;
                }
                return r;
        }

        while (r >= 0) {
                size_t n = strcspn(part, ",}");

                r = join(to, s, begin, end, part, n);
                if (part[n] != ',' || part + n >= s + end)
                        break;
                part += n + 1;
        }

        return r;
}

int words_expand_braces(const char *s, size_t n, int (*each)(void *userdata, const char *word), void *userdata) {
        _cleanup_(words_done) Words todo = {};
        int r;

        r = words_add(&todo, s, n);
        for (size_t i = 0; i < todo.n_items && r >= 0; i++) {
                size_t begin, end;

                if (todo.n_items < EXPANSIONS_MAX && find_braces(todo.items[i], &begin, &end)) {
                        _cleanup_free_ char *word = strdup(todo.items[i]);

                        r = word ? expand_once(&todo, word, begin, end) : -ENOMEM;
                } else
                        r = each(userdata, todo.items[i]);
        }

        return r;
}
