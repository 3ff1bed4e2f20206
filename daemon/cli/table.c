/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <iconv.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <wchar.h>

#include "table.h"
#include "text.h"
#include "verdict.h"

struct Table {
        struct libscols_table *scols;
        struct libscols_line *line; /* the last row */
        const Column *columns;
        size_t n_columns;
        size_t width; /* as it was rendered last */
};

Table *table_free(Table *t) {
        if (!t)
                return NULL;

        if (t->scols)
                scols_unref_table(t->scols);
        free(t);
        return NULL;
}

int table_new(const Column *columns, size_t n_columns, Table **ret) {
        _cleanup_(table_freep) Table *t = NULL;
        int r;

        assert(n_columns > 0);

        t = calloc(1, sizeof *t);
        if (!t)
                return -ENOMEM;

        t->columns = columns;
        t->n_columns = n_columns;
        t->scols = scols_new_table();
        if (!t->scols)
                return -ENOMEM;

        /* Cells are escaped here, in the one way that all output has; the library would escape the escapes. */
        r = scols_table_enable_noencoding(t->scols, 1);
        if (r < 0)
                return r;

        for (size_t i = 0; i < n_columns; i++)
                if (!scols_table_new_column(t->scols, columns[i].title, 0,
                                            (columns[i].right ? SCOLS_FL_RIGHT : 0) |
                                                            (columns[i].wrap ? SCOLS_FL_WRAP : 0)))
                        return -ENOMEM;

        *ret = TAKE_PTR(t);
        return 0;
}

/* Into the characters that this locale has ("..." for "…"): the library loops for ever over a long cell with bytes that
 * are no characters there. *text is replaced. */
static int locale_adapt(char **text) {
        _cleanup_free_ char *adapted = NULL;
        size_t n = strlen(*text), left = 4 * n + 1;
        char *in = *text, *out;
        iconv_t ic;
        size_t r;

        if (mbstowcs(NULL, *text, 0) != (size_t) -1)
                return 0;

        out = adapted = calloc(1, left + 1);
        if (!adapted)
                return -ENOMEM;

        ic = iconv_open("ASCII//TRANSLIT", "UTF-8");
        if (ic == (iconv_t) -1)
                return -errno;
        r = iconv(ic, &in, &n, &out, &left);
        (void) iconv_close(ic);
        if (r == (size_t) -1)
                return -errno;

        free(*text);
        *text = TAKE_PTR(adapted);
        return 0;
}

int table_row(Table *t) {
        int r = 0;

        t->line = scols_table_new_line(t->scols, NULL);
        if (!t->line)
                return -ENOMEM;

        for (size_t i = 0; i < t->n_columns && r >= 0; i++)
                r = scols_line_set_data(t->line, i, "-");
        return r;
}

/* Green for what is as wanted, yellow for what may become so or is by nature of the drive, red for what went wrong. */
static const char *const verdict_colors[_VERDICT_MAX] = {
        [VERDICT_APPLIED] = "green",   [VERDICT_UNCHANGED] = "green",  [VERDICT_UNVERIFIABLE] = "green",
        [VERDICT_ADJUSTED] = "yellow", [VERDICT_DRIFTED] = "yellow",   [VERDICT_UNSUPPORTED] = "yellow",
        [VERDICT_DEFERRED] = "yellow", [VERDICT_FORBIDDEN] = "yellow", [VERDICT_IGNORED] = "red",
        [VERDICT_REFUSED] = "red",     [VERDICT_QUARANTINED] = "red",  [VERDICT_FAILED] = "red",
        [VERDICT_VANISHED] = "red",
};

static int cell_set(Table *t, size_t column, const char *text) {
        const Column *c = t->columns + column;
        _cleanup_free_ char *escaped = NULL;
        Verdict v = c->verdict ? verdict_from_string(text) : _VERDICT_INVALID;
        int r;

        escaped = text_escape(c->path ? base_name(text) : text, NULL);
        if (!escaped)
                return -ENOMEM;

        r = locale_adapt(&escaped);
        if (r >= 0)
                r = scols_line_set_data(t->line, column, escaped);
        if (r >= 0 && v != _VERDICT_INVALID)
                r = scols_cell_set_color(scols_line_get_cell(t->line, column), verdict_colors[v]);
        return r;
}

int table_set(Table *t, const char *key, const char *text) {
        assert(t->line);

        for (size_t i = 0; i < t->n_columns; i++)
                if (streq(t->columns[i].key, key))
                        return cell_set(t, i, text && *text ? text : "-");

        return 0;
}

/* Is no line wider than the terminal? Bytes that are no characters in this locale count one each. */
static bool lines_fit(const char *text, size_t width) {
        mbstate_t state = {};
        size_t used = 0;

        while (*text) {
                wchar_t c;
                size_t n = mbrtowc(&c, text, MB_CUR_MAX, &state);

                if (n == (size_t) -1 || n == (size_t) -2) {
                        state = (mbstate_t){};
                        c = L'?';
                        n = 1;
                }

                used = c == L'\n' ? 0 : used + (size_t) MAX(wcwidth(c), 0);
                if (used > width)
                        return false;
                text += n;
        }

        return true;
}

/* Makes *text anew, as wide as it is (`width` 0) or wrapped. */
static int table_render(Table *t, size_t width, char **text) {
        int r;

        free(TAKE_PTR(*text));
        t->width = width;

        r = scols_table_set_termforce(t->scols, width > 0 ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
        if (r < 0)
                return r;
        r = scols_table_set_termwidth(t->scols, width);
        if (r < 0)
                return r;

        return scols_print_table_to_string(t->scols, text);
}

static int column_add_flag(Table *t, size_t i, int flag) {
        struct libscols_column *c = scols_table_get_column(t->scols, i);

        return scols_column_set_flags(c, scols_column_get_flags(c) | flag);
}

static int table_fit(Table *t, size_t width, char **text) {
        int r;

        for (size_t i = t->n_columns; i > 0; i--) {
                if (!t->columns[i - 1].spared)
                        continue;

                r = column_add_flag(t, i - 1, SCOLS_FL_HIDDEN);
                if (r >= 0)
                        r = table_render(t, 0, text);
                if (r < 0)
                        return r;
                if (lines_fit(*text, width))
                        return 0;
        }

        r = table_render(t, width, text);
        if (r < 0 || lines_fit(*text, width))
                return r;

        /* The library narrows all columns that may be wrapped at once, so the others join only when it must be. */
        for (size_t i = 0; i < t->n_columns; i++) {
                r = column_add_flag(t, i, SCOLS_FL_WRAP);
                if (r < 0)
                        return r;
        }

        return table_render(t, width, text);
}

int table_format(Table *t, size_t width, bool colored, char **ret) {
        _cleanup_free_ char *text = NULL;
        int r;

        r = table_render(t, 0, &text);
        if (r >= 0 && width > 0 && !lines_fit(text, width))
                r = table_fit(t, width, &text);
        /* Once more in the width that was found to fit: escape sequences take no room. */
        if (r >= 0 && colored) {
                r = scols_table_enable_colors(t->scols, 1);
                if (r >= 0)
                        r = table_render(t, t->width, &text);
                (void) scols_table_enable_colors(t->scols, 0);
        }
        if (r < 0)
                return r;

        *ret = TAKE_PTR(text);
        return 0;
}

/* Is `fd` a terminal that shows colour, to somebody who has not said no to it (https://no-color.org)? */
static bool color_is_welcome(int fd) {
        const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

        return isatty(fd) && !(no && *no) && term && *term && !streq(term, "dumb");
}

int table_print(Table *t) {
        _cleanup_free_ char *text = NULL;
        size_t width;
        int r;

        /* A new table has the width of the terminal from the library. */
        width = isatty(STDOUT_FILENO) ? scols_table_get_termwidth(t->scols) : 0;
        r = table_format(t, width, color_is_welcome(STDOUT_FILENO), &text);
        if (r < 0)
                return r;

        if (*text)
                (void) puts(text);
        return 0;
}
