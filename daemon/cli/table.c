/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <iconv.h>
#include <libsmartcols.h>
#include <wchar.h>

#include "must.h"
#include "table.h"
#include "text.h"
#include "verdict.h"

struct Table {
        struct libscols_table *scols;
        struct libscols_line *line; /* the last row */
        const Column *columns;
        size_t n_columns;
        char *text;   /* as it was rendered last … */
        size_t width; /* … and for which width */
};

/* What the library returns: it fails for want of memory alone. */
static void check(int r) {
        if (r < 0)
                (void) must(NULL);
}

Table *table_free(Table *t) {
        if (!t)
                return NULL;

        scols_unref_table(t->scols);
        free(t->text);
        free(t);
        return NULL;
}

Table *table_new(const Column *columns, size_t n_columns) {
        Table *t = must(calloc(1, sizeof *t));

        assert(n_columns > 0);

        t->columns = columns;
        t->n_columns = n_columns;
        t->scols = must(scols_new_table());
        /* Cells are escaped here, in the one way that all output has; the library would escape the escapes. */
        check(scols_table_enable_noencoding(t->scols, 1));
        for (size_t i = 0; i < n_columns; i++)
                (void) must(scols_table_new_column(t->scols, columns[i].title, 0,
                                                   (columns[i].right ? SCOLS_FL_RIGHT : 0) |
                                                                   (columns[i].wrap ? SCOLS_FL_WRAP : 0)));
        return t;
}

/* Into the characters that this locale has ("..." for "…"): the library loops for ever over a long cell with bytes that
 * are no characters there. *text is replaced; what cannot be said in them ends it. */
static void locale_adapt(char **text) {
        size_t n = strlen(*text), left = 4 * n;
        char *in = *text, *adapted, *out;
        iconv_t ic;

        if (mbstowcs(NULL, *text, 0) != (size_t) -1)
                return;

        out = adapted = must(calloc(1, left + 1));
        ic = iconv_open("ASCII//TRANSLIT", "UTF-8");
        if (ic != (iconv_t) -1) {
                (void) iconv(ic, &in, &n, &out, &left);
                (void) iconv_close(ic);
        }
        free(*text);
        *text = adapted;
}

void table_row(Table *t) {
        t->line = must(scols_table_new_line(t->scols, NULL));
        for (size_t i = 0; i < t->n_columns; i++)
                check(scols_line_set_data(t->line, i, "-"));
}

/* Green for what is as wanted, yellow for what may become so or is by nature of the drive, red for what went wrong. */
static const char *const verdict_colors[_VERDICT_MAX] = {
        [VERDICT_APPLIED] = "green",   [VERDICT_UNCHANGED] = "green",  [VERDICT_UNVERIFIABLE] = "green",
        [VERDICT_ADJUSTED] = "yellow", [VERDICT_DRIFTED] = "yellow",   [VERDICT_UNSUPPORTED] = "yellow",
        [VERDICT_DEFERRED] = "yellow", [VERDICT_FORBIDDEN] = "yellow", [VERDICT_IGNORED] = "red",
        [VERDICT_REFUSED] = "red",     [VERDICT_QUARANTINED] = "red",  [VERDICT_FAILED] = "red",
        [VERDICT_VANISHED] = "red",
};

static void cell_set(Table *t, size_t column, const char *text) {
        const Column *c = t->columns + column;
        _cleanup_free_ char *escaped = must(text_escape(c->path ? base_name(text) : text, NULL));
        Verdict v = c->verdict ? verdict_from_string(text) : _VERDICT_INVALID;

        locale_adapt(&escaped);
        check(scols_line_set_data(t->line, column, escaped));
        if (v != _VERDICT_INVALID)
                check(scols_cell_set_color(scols_line_get_cell(t->line, column), verdict_colors[v]));
}

void table_set(Table *t, const char *key, const char *text) {
        assert(t->line);

        for (size_t i = 0; i < t->n_columns; i++)
                if (streq(t->columns[i].key, key))
                        cell_set(t, i, text && *text ? text : "-");
}

/* Is no line wider than the terminal? */
static bool lines_fit(const char *text, size_t width) {
        size_t used = 0;
        wchar_t c;

        for (int n; (n = mbtowc(&c, text, MB_CUR_MAX)) > 0; text += n) {
                used = c == L'\n' ? 0 : used + (size_t) MAX(wcwidth(c), 0);
                if (used > width)
                        return false;
        }

        return true;
}

/* Makes the text anew, as wide as it is (`width` 0) or wrapped. Does it fit into `limit` columns (0: into whatever there is)? */
static bool render(Table *t, size_t width, size_t limit) {
        free(TAKE_PTR(t->text));
        t->width = width;
        check(scols_table_set_termforce(t->scols, width > 0 ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER));
        check(scols_table_set_termwidth(t->scols, width));
        check(scols_print_table_to_string(t->scols, &t->text));
        return limit == 0 || lines_fit(t->text, limit);
}

static void column_add_flag(Table *t, size_t i, int flag) {
        struct libscols_column *c = scols_table_get_column(t->scols, i);

        check(scols_column_set_flags(c, scols_column_get_flags(c) | flag));
}

const char *table_format(Table *t, size_t width, bool colored) {
        bool fits = render(t, 0, width);

        for (size_t i = t->n_columns; i-- > 0 && !fits;)
                if (t->columns[i].spared) {
                        column_add_flag(t, i, SCOLS_FL_HIDDEN);
                        fits = render(t, 0, width);
                }
        if (!fits && !render(t, width, width)) {
                /* The library narrows all columns that may be wrapped at once, so the others join only when it must be. */
                for (size_t i = 0; i < t->n_columns; i++)
                        column_add_flag(t, i, SCOLS_FL_WRAP);
                (void) render(t, width, width);
        }

        /* Once more in the width that was found to fit: escape sequences take no room. */
        if (colored) {
                check(scols_table_enable_colors(t->scols, 1));
                (void) render(t, t->width, 0);
                (void) scols_table_enable_colors(t->scols, 0);
        }
        return t->text;
}

/* Is `fd` a terminal that shows colour, to somebody who has not said no to it (https://no-color.org)? */
static bool color_is_welcome(int fd) {
        const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

        return isatty(fd) && !(no && *no) && term && *term && !streq(term, "dumb");
}

void table_print(Table *t) {
        /* A new table has the width of the terminal from the library. */
        size_t width = isatty(STDOUT_FILENO) ? scols_table_get_termwidth(t->scols) : 0;

        (void) puts(table_format(t, width, color_is_welcome(STDOUT_FILENO)));
}
