/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <ctype.h>
#include <json.h>
#include <libsmartcols.h>
#include <limits.h>
#include <stdio.h>
#include <systemd/sd-id128.h>
#include <time.h>
#include <wchar.h>

#include "clock.h"
#include "output.h"
#include "verdict-word.h"

/* Version of the JSON schema. Must be increased when a key is removed or changes its meaning. */
#define JSON_VERSION 2

#define DEPTH_MAX 8U
#define JSON_FLAGS (JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

/* Functions of libsmartcols and json-c fail only for lack of memory. */
struct Output {
        bool json;

        struct json_object *open[DEPTH_MAX]; /* the open objects and arrays, from the document to the innermost one */
        size_t n_open;

        const Column *columns;
        size_t n_columns;
        struct libscols_table *table;
        struct libscols_line *row; /* the row to which values are added; NULL if none is open */
        char *text;                /* the table as rendered last */
        FILE *notes_file;
        char *notes;
        size_t notes_size;
};

void warn_complaint(const Complaint *c) {
        _cleanup_free_ char *line = must(complaint_format(c)), *escaped = format_escaped("%s", line);

        fprintf(stderr, "%s\n", escaped);
}

Output *output_free(Output *o) {
        if (!o)
                return NULL;

        (void) json_object_put(o->open[0]);
        scols_unref_table(o->table);
        free(o->text);
        (void) fclose(o->notes_file);
        free(o->notes);
        free(o);
        return NULL;
}

/* Static variables, since all outputs of the process share standard output. */
static bool legend_is_hidden, document_was_printed;

void output_hide_legend(void) {
        legend_is_hidden = true;
}

Output *output_new(bool json, const Column *columns, size_t n_columns) {
        Output *o = must(calloc(1, sizeof *o));

        o->json = json;
        o->columns = columns;
        o->n_columns = n_columns;
        o->notes_file = must(open_memstream(&o->notes, &o->notes_size));
        o->table = must(scols_new_table());
        /* Cells are escaped by text_escape(), like all output. libsmartcols would escape the escapes again. */
        must_work(scols_table_enable_noencoding(o->table, 1));
        must_work(scols_table_enable_noheadings(o->table, legend_is_hidden));
        for (const Column *c = columns; c < columns + n_columns; c++)
                (void) must(scols_table_new_column(o->table, c->title, 0, c->right ? SCOLS_FL_RIGHT : 0));
        return o;
}

/* ---- JSON ---- */

/* Adds `child` to the innermost object or array; NULL: JSON null. */
static void json_add(Output *o, const char *key, struct json_object *child) {
        struct json_object *parent;

        assert(o->n_open > 0);

        parent = o->open[o->n_open - 1];
        must_work(json_object_is_type(parent, json_type_array) ? json_object_array_add(parent, child)
                                                               : json_object_object_add(parent, key, child));
}

static void json_open(Output *o, const char *key, struct json_object *child) {
        assert(o->n_open < DEPTH_MAX);
        assert(o->n_open > 0 || !o->open[0]);

        if (o->n_open > 0)
                json_add(o, key, child);
        o->open[o->n_open++] = child;
}

void output_object(Output *o, const char *key) {
        if (o->json)
                json_open(o, key, must(json_object_new_object()));
}

void output_array(Output *o, const char *key) {
        if (o->json)
                json_open(o, key, must(json_object_new_array()));
}

void output_document(Output *o, const char *list) {
        char host[HOST_NAME_MAX + 1], boot_id[SD_ID128_STRING_MAX];
        sd_id128_t boot;

        if (!o->json)
                return;

        json_open(o, NULL, must(json_object_new_object()));
        output_number(o, "version", true, JSON_VERSION);
        output_text(o, "host", gethostname(host, sizeof host) < 0 ? NULL : host);
        output_text(o, "boot_id", sd_id128_get_boot(&boot) < 0 ? NULL : sd_id128_to_string(boot, boot_id));
        if (list)
                output_array(o, list);
}

/* ---- the table ---- */

/* Green: the wanted value. Yellow: not yet the wanted value, or impossible for this drive. Red: an error. */
static const char *const verdict_colors[_VERDICT_MAX] = {
        [VERDICT_APPLIED] = "green",   [VERDICT_UNCHANGED] = "green",  [VERDICT_UNVERIFIABLE] = "green",
        [VERDICT_ADJUSTED] = "yellow", [VERDICT_DRIFTED] = "yellow",   [VERDICT_UNSUPPORTED] = "yellow",
        [VERDICT_DEFERRED] = "yellow", [VERDICT_FORBIDDEN] = "yellow", [VERDICT_IGNORED] = "red",
        [VERDICT_REFUSED] = "red",     [VERDICT_QUARANTINED] = "red",  [VERDICT_FAILED] = "red",
        [VERDICT_VANISHED] = "red",
};

static void cell_set(Output *o, size_t column, const char *text) {
        const Column *c = o->columns + column;
        _cleanup_free_ char *escaped = must(text_escape(c->path ? base_name(text) : text, NULL));
        Verdict v = c->verdict ? verdict_from_string(text) : _VERDICT_INVALID;

        /* Without a UTF-8 locale (see main.c), libsmartcols loops forever over bytes that are not ASCII. */
        for (char *p = escaped; MB_CUR_MAX == 1 && *p; p++)
                *p = isascii(*p) ? *p : '?';
        must_work(scols_line_set_data(o->row, column, escaped));
        if (v != _VERDICT_INVALID)
                must_work(scols_cell_set_color(scols_line_get_cell(o->row, column), verdict_colors[v]));
}

/* Returns true if the table, as last rendered, fits into `width` columns; always true for width 0. */
static bool table_fits(const Output *o, size_t width) {
        size_t used = 0;

        for (size_t i = 0; i < o->n_columns; i++) {
                const struct libscols_column *c = scols_table_get_column(o->table, i);

                if (!scols_column_is_hidden(c))
                        used += scols_column_get_width(c) + (used > 0);
        }
        return width == 0 || used <= width;
}

/* Renders the table again; width 0: without a limit. */
static void render(Output *o, size_t width) {
        free(TAKE_PTR(o->text));
        must_work(scols_table_set_termforce(o->table, width > 0 ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER));
        must_work(scols_table_set_termwidth(o->table, width));
        must_work(scols_print_table_to_string(o->table, &o->text));
}

static void column_add_flag(Output *o, size_t i, int flag) {
        struct libscols_column *c = scols_table_get_column(o->table, i);

        must_work(scols_column_set_flags(c, scols_column_get_flags(c) | flag));
}

/* Returns the length in bytes of the first line of `text`. A line has at most `width` columns. Lines break at blanks. A word that is
 * wider than a line is broken within the word. */
static size_t line_length(const char *text, size_t width) {
        size_t n = 0, used = 0, blank = 0, indent = strspn(text, " ");
        mbstate_t state = {};

        while (text[n]) {
                wchar_t c;
                size_t bytes = mbrtowc(&c, text + n, MB_LEN_MAX, &state);
                int columns;

                if (bytes == 0 || bytes > MB_LEN_MAX) { /* an invalid byte, which counts as one column */
                        bytes = 1;
                        c = L'?';
                        state = (mbstate_t){};
                }
                columns = MAX(wcwidth(c), 0);
                if (used + (size_t) columns > width && text[n] != ' ')
                        return blank ?: MAX(n, bytes);
                if (text[n] == ' ' && n > indent)
                        blank = n;
                if (text[n] == ' ' && used + 1 > width)
                        return n;
                used += (size_t) columns;
                n += bytes;
        }
        return n;
}

/* Wraps the cells of a column at blanks, since libsmartcols wraps within words. The column must have its width from render(). */
static void break_cells(Output *o, size_t column) {
        struct libscols_column *c = scols_table_get_column(o->table, column);
        size_t width = MAX(scols_column_get_width(c), 1U);

        for (size_t i = 0; i < scols_table_get_nlines(o->table); i++) {
                struct libscols_cell *cell = scols_line_get_cell(scols_table_get_line(o->table, i), column);
                char *broken = NULL;
                size_t size;
                FILE *f = must(open_memstream(&broken, &size));

                for (const char *rest = scols_cell_get_data(cell); *rest;) {
                        size_t n = line_length(rest, width);

                        fprintf(f, "%.*s", (int) n, rest);
                        rest += n;
                        rest += *rest == ' ';
                        fputs(*rest ? "\n" : "", f);
                }
                must_close(f);
                must_work(scols_cell_refer_data(cell, broken));
        }
        must_work(scols_column_set_wrapfunc(c, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL));
}

const char *output_format_table(Output *o, size_t width, bool colored) {
        bool wrapped = false;

        must_work(scols_table_enable_colors(o->table, colored));
        render(o, 0);
        for (unsigned rank = 1; rank <= COLUMN_HIDE_RANK_MAX; rank++)
                for (size_t i = o->n_columns; i-- > 0 && !table_fits(o, width);)
                        if (o->columns[i].hide_rank == rank) {
                                column_add_flag(o, i, SCOLS_FL_HIDDEN);
                                render(o, 0);
                        }
        /* Wraps the cells of columns marked `wrap`. If the table is still too wide, wraps the cells of the other columns, too. The other
         * columns get SCOLS_FL_WRAP only in this second round, because libsmartcols narrows all columns that have this flag. */
        for (unsigned others = 0; others < 2 && !table_fits(o, width); others++) {
                for (size_t i = 0; i < o->n_columns; i++)
                        if (o->columns[i].wrap || others)
                                column_add_flag(o, i, SCOLS_FL_WRAP);
                render(o, width);
                wrapped = true;
        }
        if (wrapped) {
                for (size_t i = 0; i < o->n_columns; i++) {
                        struct libscols_column *c = scols_table_get_column(o->table, i);

                        if (scols_column_is_wrap(c) && !scols_column_is_hidden(c))
                                break_cells(o, i);
                }
                render(o, width);
        }
        return o->text;
}

/* Returns true if `fd` is a terminal with colours and the user has not disabled colours (https://no-color.org). */
static bool color_is_welcome(int fd) {
        const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

        return isatty(fd) && !(no && *no) && term && *term && !streq(term, "dumb");
}

/* ---- tables and JSON ---- */

void output_row(Output *o) {
        assert(!o->row);

        output_object(o, NULL);
        if (o->json || o->n_columns == 0)
                return;

        o->row = must(scols_table_new_line(o->table, NULL));
        /* Fills each column, so that scripts can split a row into words. */
        for (size_t i = 0; i < o->n_columns; i++)
                must_work(scols_line_set_data(o->row, i, "-"));
}

void output_end(Output *o) {
        assert(!o->json || o->n_open > 0);

        if (o->json)
                o->n_open--;
        o->row = NULL;
}

void output_text(Output *o, const char *key, const char *text) {
        _cleanup_free_ char *escaped = o->json && text ? must(text_escape(text, NULL)) : NULL;

        if (o->json)
                json_add(o, key, escaped ? must(json_object_new_string(escaped)) : NULL);
        else
                output_cell(o, key, text);
}

void output_time(Output *o, const char *key, uint64_t when) {
        char text[HUMAN_MAX];

        output_text(o, key, o->json ? time_format_rfc3339(when, text) : time_format_short(when, now_usec(), text));
}

void output_number(Output *o, const char *key, bool known, int64_t n) {
        if (o->json)
                json_add(o, key, known ? must(json_object_new_int64(n)) : NULL);
}

void output_decimal(Output *o, const char *key, bool known, double n) {
        _cleanup_free_ char *text = must_format("%.1f", n);

        if (o->json)
                json_add(o, key, known ? must(json_object_new_double_s(n, text)) : NULL);
}

void output_boolean(Output *o, const char *key, int b) {
        if (o->json)
                json_add(o, key, b < 0 ? NULL : must(json_object_new_boolean(b)));
        else
                output_cell(o, key, b < 0 ? NULL : b ? "yes" : "no");
}

void output_cell(Output *o, const char *key, const char *text) {
        for (size_t i = 0; i < o->n_columns && o->row; i++)
                if (streq(o->columns[i].key, key))
                        cell_set(o, i, text && *text ? text : "-");
}

/* libsmartcols gives a new table the width of the terminal. */
size_t output_width(const Output *o) {
        return isatty(STDOUT_FILENO) ? scols_table_get_termwidth(o->table) : 0;
}

/* Wraps the text at blanks; the terminal would break within words. `used`: columns already printed on the first line; `indent`: blanks
 * at the start of each further line. */
static void print_broken(FILE *f, const char *text, size_t used, size_t indent, size_t width) {
        while (width > indent && strlen(text) + used > width) {
                size_t n = line_length(text, width - used);

                if (!text[n] || text[n] != ' ') { /* a word wider than a line, such as a path */
                        n += strcspn(text + n, " ");
                        if (!text[n])
                                break;
                }
                (void) fprintf(f, "%.*s\n%*s", (int) n, text, (int) indent, "");
                text += n + 1;
                used = indent;
        }
        (void) fprintf(f, "%s\n", text);
}

#define FACT_INDENT 12U

void output_fact(Output *o, const char *title, const char *key, const char *text) {
        _cleanup_free_ char *escaped = text ? must(text_escape(text, NULL)) : NULL;

        if (key)
                output_text(o, key, text);
        if (!escaped || o->row || o->json)
                return;
        (void) printf("%*s: ", (int) FACT_INDENT - 2, title);
        print_broken(stdout, escaped, FACT_INDENT, FACT_INDENT, output_width(o));
}

void output_take_line(Output *o, bool below, char *text) {
        _cleanup_free_ char *line = text;

        if (!o->json)
                print_broken(below ? o->notes_file : stdout, line, 0, strspn(line, " ") + 2, output_width(o));
}

void output_take_head(Output *o, char *text) {
        if (legend_is_hidden)
                free(text);
        else
                output_take_line(o, false, text);
}

void output_print(Output *o) {
        if (o->json)
                (void) puts(must((char *) json_object_to_json_string_ext(o->open[0], JSON_FLAGS)));
        document_was_printed = document_was_printed || o->json;
        if (!scols_table_is_empty(o->table))
                (void) puts(output_format_table(o, output_width(o), color_is_welcome(STDOUT_FILENO)));
        must_work(fflush(o->notes_file));
        if (!legend_is_hidden)
                (void) fputs(o->notes, stdout);
}

void output_print_empty(const char *list) {
        _cleanup_(output_freep) Output *o = output_new(true, NULL, 0);

        if (document_was_printed)
                return;
        output_document(o, list);
        output_print(o);
}

int output_print_line(Output *o) {
        if (o->json)
                (void) puts(must((char *) json_object_to_json_string_ext(
                                o->open[0], JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)));
        return fflush(stdout) != 0 ? -errno : 0;
}

/* ---- numbers and times ---- */

const char *capacity_format(uint64_t bytes, char buf[static HUMAN_MAX]) {
        static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
        double n = (double) bytes;
        size_t i = 0;

        if (bytes == 0)
                return NULL;

        /* Switches to the next unit if the number, rounded to one decimal, would be 1000.0. */
        while (n >= (i == 0 ? 1000 : 999.95)) {
                n /= 1000;
                i++;
        }

        (void) snprintf(buf, HUMAN_MAX, "%.*f %s", i > 0, n, units[i]);
        return buf;
}

const char *time_format_short(uint64_t when, uint64_t now, char buf[static HUMAN_MAX]) {
        time_t w = (time_t) (when / 1000000), n = (time_t) (now / 1000000);
        struct tm a, b;

        if (when == 0 || !localtime_r(&w, &a) || !localtime_r(&n, &b))
                return NULL;

        if (a.tm_year != b.tm_year)
                (void) strftime(buf, HUMAN_MAX, "%Y", &a);
        else if (a.tm_yday != b.tm_yday)
                (void) strftime(buf, HUMAN_MAX, "%b %e", &a);
        else
                (void) strftime(buf, HUMAN_MAX, "%H:%M", &a);

        return buf;
}

const char *duration_format_short(uint64_t usec, char buf[static VALUE_TEXT_MAX]) {
        static const ValueRange range = { .type = VALUE_DURATION };
        uint64_t seconds = usec / 1000000;
        Value v = { .type = VALUE_DURATION };

        if (seconds >= 3600)
                seconds -= seconds % 60;
        v.number = (int64_t) seconds * 1000;
        return value_format(&range, &v, buf);
}

const char *time_format_rfc3339(uint64_t when, char buf[static HUMAN_MAX]) {
        time_t w = (time_t) (when / 1000000);
        struct tm t;

        if (when == 0 || !gmtime_r(&w, &t))
                return NULL;

        return strftime(buf, HUMAN_MAX, "%Y-%m-%dT%H:%M:%SZ", &t) > 0 ? buf : NULL;
}
