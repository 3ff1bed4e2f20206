/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A file to import, and parts of the expected output. */

#include <check.h>
#include <stdio.h>

#include "config.h"
#include "reader.h"
#include "settings.h"

typedef struct WrittenCase {
        const char *file, *text;
        const char *has[8]; /* expected parts of the output, in this order */
        const char *lacks;
} WrittenCase;

/* Returns the output of the import, which the caller frees. */
static inline char *import_to_text(const char *file, const char *text, size_t size, ImportKind kind) {
        _cleanup_(import_done) Import import = {};
        const char *objection = NULL;
        char *out = NULL;
        size_t out_size;
        FILE *f;

        ck_assert_msg(import_read(file, text, size, kind, &import, &objection) == 0, "%s: %s", file, objection);
        f = open_memstream(&out, &out_size);
        ck_assert_int_eq(emit(f, &import, 1, &all_settings), 0);
        ck_assert_int_eq(fclose(f), 0);
        return out;
}

/* Asserts that the output is valid configuration, and that is_fine() accepts each complaint of `drivekeep check` about the output. */
static inline Config *check_config(const char *file, const char *text,
                                   bool (*is_fine)(const Complaint *c, const char *line)) {
        Config *c;

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &all_settings, file, text, strlen(text)), 0);
        ck_assert_int_eq(config_check(c, &all_settings), 0);
        for (size_t i = 0; i < c->complaints.n_items; i++) {
                _cleanup_free_ char *line = complaint_format(&c->complaints.items[i]);

                ck_assert_msg(is_fine(&c->complaints.items[i], line), "%s\nin:\n%s", line, text);
        }
        return c;
}

/* Returns true for complaints about a wanted value. They are not errors of the import, because the import only copies the value. */
static inline bool is_of_values(const Complaint *c, const char *line) {
        return strstr(line, "apm below 128 (unlike 128 or more)") ||
               strstr(line, "permanently, so the service only checks") || strstr(line, "can do harm here") ||
               strstr(line, "in the units of hdparm -S");
}

static inline void check_written(const WrittenCase *w) {
        _cleanup_free_ char *text = import_to_text(w->file, w->text, strlen(w->text), _IMPORT_KIND_INVALID);
        _cleanup_(config_freep) _unused_ Config *c = check_config(w->file, text, is_of_values);
        const char *p = text;

        for (size_t i = 0; i < ELEMENTSOF(w->has) && w->has[i]; i++) {
                p = strstr(p, w->has[i]);
                ck_assert_msg(p, "%s is not (or not in its place) in\n%s", w->has[i], text);
        }
        ck_assert_msg(!w->lacks || !strstr(text, w->lacks), "%s", text);
}
