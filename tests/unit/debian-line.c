/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "debian-line.h"

void shell_line_done(ShellLine *l) {
        free(l->key);
        free(l->sep);
        free(l->value);
        *l = (ShellLine){};
}

/* Returns true for a field separator of the default IFS, except newline. */
static bool is_blank(char c) {
        return c == ' ' || c == '\t';
}

/* Skips empty lines and comments, which grep removes. Called at the beginning of a line. */
static void skip_lines(ShellReader *r) {
        while (r->i < r->size) {
                size_t i = r->i;

                while (i < r->size && strchr(" \t\v\f\r", r->text[i]))
                        i++;
                if (i < r->size && r->text[i] != '#' && r->text[i] != '\n')
                        return;

                while (i < r->size && r->text[i] != '\n')
                        i++;
                r->i = MIN(i + 1, r->size);
                r->line++;
        }
}

/* A byte of a line. `escaped`: the byte follows a backslash, and neither separates fields nor ends the line. */
typedef struct Byte {
        char c;
        bool escaped;
} Byte;

typedef struct Bytes {
        Byte *items;
        size_t n_items, n_allocated;
} Bytes;

static void bytes_done(Bytes *b) {
        free(b->items);
}

static int bytes_add(Bytes *b, char c, bool escaped) {
        if (b->n_items == b->n_allocated) {
                size_t n = MAX(2 * b->n_allocated, 128U);
                Byte *items = reallocarray(b->items, n, sizeof(Byte));

                if (!items)
                        return -ENOMEM;
                b->items = items;
                b->n_allocated = n;
        }

        b->items[b->n_items++] = (Byte){ c, escaped };
        return 0;
}

/* Returns the next byte of the text. At the end of the file, returns the newline that grep adds. */
static char take(ShellReader *r) {
        char c = r->i < r->size ? r->text[r->i++] : '\n';

        if (c == '\n')
                r->line++;
        return c;
}

/* Reads the next line and the lines that continue it. Returns 1. Returns 0 if the last line ends with a backslash. Returns a
 * negative errno on failure. */
static int join_line(ShellReader *r, Bytes *ret) {
        for (;;) {
                char c = take(r);
                bool escaped = c == '\\';
                int k;

                if (escaped)
                        c = take(r);
                if (c != '\n') {
                        k = bytes_add(ret, c, escaped);
                        if (k < 0)
                                return k;
                        continue;
                }
                if (!escaped)
                        return 1;

                skip_lines(r);
                if (r->i >= r->size)
                        return 0;
        }
}

static int copy_bytes(const Byte *bytes, size_t n, char **ret) {
        char *s;

        s = malloc(n + 1);
        if (!s)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                s[i] = bytes[i].c;
        s[n] = '\0';

        free(*ret);
        *ret = s;
        return 0;
}

static bool splits(const Byte *b) {
        return !b->escaped && is_blank(b->c);
}

/* Returns the end of the value that begins at `i`. dash drops trailing blanks, and trailing words that consist of a
 * backslash and one byte. The value ends before these blanks and words. */
static size_t value_end(const Byte *bytes, size_t i, size_t n) {
        for (;;) {
                while (n > i && splits(&bytes[n - 1]))
                        n--;
                if (n < i + 2 || !bytes[n - 1].escaped || !splits(&bytes[n - 2]))
                        return n;
                n--;
        }
}

static int split_line(const Byte *bytes, size_t n, ShellLine *ret) {
        char **fields[] = { &ret->key, &ret->sep, &ret->value };
        size_t i = 0;
        int r;

        for (size_t f = 0; f < ELEMENTSOF(fields); f++) {
                size_t end;

                while (i < n && splits(&bytes[i]))
                        i++;
                if (f == ELEMENTSOF(fields) - 1)
                        end = value_end(bytes, i, n);
                else
                        for (end = i; end < n && !splits(&bytes[end]); end++)
                                ;
                r = copy_bytes(bytes + i, end - i, fields[f]);
                if (r < 0)
                        return r;
                i = end;
        }

        return 0;
}

int shell_read(ShellReader *r, ShellLine *ret) {
        _cleanup_(bytes_done) Bytes bytes = {};
        int k;

        if (r->line == 0)
                r->line = 1;
        skip_lines(r);
        if (r->i >= r->size)
                return 0;

        ret->line = r->line;
        k = join_line(r, &bytes);
        if (k <= 0)
                return k;

        k = split_line(bytes.items, bytes.n_items, ret);
        return k < 0 ? k : 1;
}
