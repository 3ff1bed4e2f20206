/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <json.h>
#include <stdarg.h>
#include <stdio.h>

#include "output.h"
#include "text.h"

#define DEPTH_MAX 8U

struct Output {
        bool json;
        int error; /* the first one; 0: none */

        struct json_object *document;
        struct json_object *open[DEPTH_MAX]; /* from the document to the innermost */
        size_t n_open;

        const Column *columns;
        size_t n_columns;
        Table *table; /* NULL: no row yet */
        bool in_row;
        char *notes;
        size_t notes_size;
        FILE *notes_file; /* NULL: no note yet */
};

Output *output_free(Output *o) {
        if (!o)
                return NULL;

        (void) json_object_put(o->document);
        (void) table_free(o->table);
        if (o->notes_file)
                (void) fclose(o->notes_file);
        free(o->notes);
        free(o);
        return NULL;
}

int output_new(bool json, const Column *columns, size_t n_columns, Output **ret) {
        Output *o;

        o = calloc(1, sizeof *o);
        if (!o)
                return -ENOMEM;

        o->json = json;
        o->columns = columns;
        o->n_columns = n_columns;
        *ret = o;
        return 0;
}

bool output_is_json(const Output *o) {
        return o->json;
}

static void output_fail(Output *o, int r) {
        if (r < 0 && o->error == 0)
                o->error = r;
}

/* ---- JSON ---- */

/* Into the innermost. Takes the child over; NULL: it could not be made. */
static void json_add(Output *o, const char *key, struct json_object *child) {
        struct json_object *parent;
        int r = -1;

        assert(o->n_open > 0);

        parent = o->open[o->n_open - 1];
        if (child && o->error == 0)
                r = json_object_is_type(parent, json_type_array) ? json_object_array_add(parent, child)
                                                                 : json_object_object_add(parent, key, child);
        if (r < 0) {
                (void) json_object_put(child);
                output_fail(o, -ENOMEM);
        }
}

static void json_open(Output *o, const char *key, struct json_object *child) {
        assert(o->n_open < DEPTH_MAX);

        if (o->n_open > 0)
                json_add(o, key, child);
        else {
                assert(!o->document);
                o->document = child;
                output_fail(o, child ? 0 : -ENOMEM);
        }
        o->open[o->n_open++] = child;
}

static void json_add_text(Output *o, const char *key, const char *text) {
        _cleanup_free_ char *escaped = NULL;

        if (text) {
                escaped = text_escape(text, NULL);
                json_add(o, key, escaped ? json_object_new_string(escaped) : NULL);
        } else if (o->error == 0 && json_object_object_add(o->open[o->n_open - 1], key, NULL) < 0)
                output_fail(o, -ENOMEM);
}

static int json_print(struct json_object *o) {
        const char *text;

        text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                                 JSON_C_TO_STRING_NOSLASHESCAPE);
        if (!text)
                return -ENOMEM;

        (void) puts(text);
        return 0;
}

/* ---- both ---- */

void output_object(Output *o, const char *key) {
        if (o->json)
                json_open(o, key, json_object_new_object());
}

void output_array(Output *o, const char *key) {
        if (o->json)
                json_open(o, key, json_object_new_array());
}

void output_row(Output *o) {
        if (o->json) {
                output_object(o, NULL);
                return;
        }

        assert(!o->in_row);
        o->in_row = true;
        if (!o->table)
                output_fail(o, table_new(o->columns, o->n_columns, &o->table));
        if (o->error == 0)
                output_fail(o, table_row(o->table));
}

void output_end(Output *o) {
        assert(!o->json || o->n_open > 0);

        if (o->json)
                o->n_open--;
        o->in_row = false;
}

void output_text(Output *o, const char *key, const char *text) {
        if (o->json)
                json_add_text(o, key, text);
        else
                output_cell(o, key, text);
}

void output_textf(Output *o, const char *key, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&text, format, ap) < 0) {
                text = NULL;
                output_fail(o, -ENOMEM);
        }
        va_end(ap);
        output_text(o, key, text);
}

void output_number(Output *o, const char *key, uint64_t n) {
        if (o->json)
                json_add(o, key, json_object_new_uint64(n));
}

void output_signed(Output *o, const char *key, int64_t n) {
        if (o->json)
                json_add(o, key, json_object_new_int64(n));
}

void output_boolean(Output *o, const char *key, bool b) {
        if (o->json)
                json_add(o, key, json_object_new_boolean(b));
        else
                output_cell(o, key, b ? "yes" : "no");
}

/* ---- for people ---- */

void output_cell(Output *o, const char *key, const char *text) {
        if (o->in_row && o->error == 0)
                output_fail(o, table_set(o->table, key, text));
}

static void print_escaped(Output *o, FILE *f, const char *format, va_list ap) {
        _cleanup_free_ char *text = NULL, *escaped = NULL;

        if (vasprintf(&text, format, ap) < 0)
                text = NULL;
        escaped = text ? text_escape(text, NULL) : NULL;
        if (escaped)
                fprintf(f, "%s\n", escaped);
        else
                output_fail(o, -ENOMEM);
}

void output_line(Output *o, const char *format, ...) {
        va_list ap;

        if (o->json)
                return;

        va_start(ap, format);
        print_escaped(o, stdout, format, ap);
        va_end(ap);
}

void output_heading(Output *o, const char *title) {
        if (!o->json)
                printf("\n%s\n", title);
}

void output_note(Output *o, const char *format, ...) {
        va_list ap;

        if (o->json)
                return;
        if (!o->notes_file)
                o->notes_file = open_memstream(&o->notes, &o->notes_size);
        if (!o->notes_file) {
                output_fail(o, -ENOMEM);
                return;
        }

        va_start(ap, format);
        print_escaped(o, o->notes_file, format, ap);
        va_end(ap);
}

int output_print(Output *o) {
        _cleanup_(table_freep) Table *table = TAKE_PTR(o->table);
        FILE *notes = TAKE_PTR(o->notes_file);
        int r;

        if (notes && fclose(notes) != 0)
                output_fail(o, -ENOMEM);
        if (o->error < 0)
                return o->error;
        if (o->json)
                return json_print(o->document);

        r = table ? table_print(table) : 0;
        if (r >= 0 && notes)
                (void) fputs(o->notes, stdout);
        free(TAKE_PTR(o->notes));
        return r;
}
