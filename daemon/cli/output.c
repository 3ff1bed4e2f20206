/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <json.h>
#include <stdio.h>

#include "output.h"
#include "text.h"

#define DEPTH_MAX 8U
#define JSON_FLAGS (JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

struct Output {
        bool json;

        struct json_object *open[DEPTH_MAX]; /* from the document to the innermost */
        size_t n_open;

        const Column *columns;
        size_t n_columns;
        Table *table; /* NULL: no row yet */
        bool in_row;
        FILE *notes_file; /* NULL: no note yet */
        char *notes;
        size_t notes_size;
};

Output *output_free(Output *o) {
        if (!o)
                return NULL;

        (void) json_object_put(o->open[0]);
        (void) table_free(o->table);
        if (o->notes_file)
                (void) fclose(o->notes_file);
        free(o->notes);
        free(o);
        return NULL;
}

Output *output_new(bool json, const Column *columns, size_t n_columns) {
        Output *o = must(calloc(1, sizeof *o));

        o->json = json;
        o->columns = columns;
        o->n_columns = n_columns;
        return o;
}

bool output_is_json(const Output *o) {
        return o->json;
}

/* Into the innermost; `child` NULL is JSON's null. */
static void json_add(Output *o, const char *key, struct json_object *child) {
        struct json_object *parent;
        int r;

        assert(o->n_open > 0);

        parent = o->open[o->n_open - 1];
        r = json_object_is_type(parent, json_type_array) ? json_object_array_add(parent, child)
                                                         : json_object_object_add(parent, key, child);
        if (r < 0)
                (void) must(NULL);
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

void output_row(Output *o) {
        assert(!o->in_row);

        o->in_row = true;
        if (o->json) {
                output_object(o, NULL);
                return;
        }

        if (!o->table)
                o->table = table_new(o->columns, o->n_columns);
        table_row(o->table);
}

void output_end(Output *o) {
        assert(!o->json || o->n_open > 0);

        if (o->json)
                o->n_open--;
        o->in_row = false;
}

void output_text(Output *o, const char *key, const char *text) {
        _cleanup_free_ char *escaped = NULL;

        if (!o->json) {
                output_cell(o, key, text);
                return;
        }

        escaped = text ? must(text_escape(text, NULL)) : NULL;
        json_add(o, key, text ? must(json_object_new_string(escaped)) : NULL);
}

void output_number(Output *o, const char *key, int64_t n) {
        if (o->json)
                json_add(o, key, must(json_object_new_int64(n)));
}

void output_boolean(Output *o, const char *key, bool b) {
        if (o->json)
                json_add(o, key, must(json_object_new_boolean(b)));
        else
                output_cell(o, key, b ? "yes" : "no");
}

void output_cell(Output *o, const char *key, const char *text) {
        if (!o->json && o->in_row)
                table_set(o->table, key, text);
}

void output_take_line(Output *o, char *text) {
        _cleanup_free_ char *line = text;

        if (!o->json)
                (void) puts(line);
}

void output_heading(Output *o, const char *title) {
        if (!o->json)
                printf("\n%s\n", title);
}

void output_take_note(Output *o, char *text) {
        _cleanup_free_ char *note = text;

        if (o->json)
                return;
        if (!o->notes_file)
                o->notes_file = must(open_memstream(&o->notes, &o->notes_size));
        fprintf(o->notes_file, "%s\n", note);
}

void output_print(Output *o) {
        FILE *notes = TAKE_PTR(o->notes_file);

        if (o->json)
                (void) puts(must((char *) json_object_to_json_string_ext(o->open[0], JSON_FLAGS)));
        if (o->table)
                table_print(o->table);
        o->table = table_free(o->table);
        if (notes) {
                must_close(notes);
                (void) fputs(o->notes, stdout);
        }
        free(TAKE_PTR(o->notes));
}
