/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A file that import reads, and what it makes of it. */

#include <check.h>
#include <stdio.h>

#include "config.h"
#include "emit.h"
#include "reader.h"
#include "settings.h"

typedef struct WrittenCase {
        const char *file, *text;
        const char *has[5]; /* pieces of what is written, in this order */
        const char *lacks;
} WrittenCase;

/* What is written is configuration without errors. */
static inline void check_written(const WrittenCase *w) {
        const char *given = w->text, *objection, *p;
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_(import_done) Import import = {};
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f;

        ck_assert_int_eq(import_read(w->file, given, strlen(given), _IMPORT_KIND_INVALID, NULL, &import, &objection),
                         0);
        f = open_memstream(&text, &size);
        ck_assert_int_eq(emit(f, &import, 1, &all_settings, NULL), 0);
        ck_assert_int_eq(fclose(f), 0);

        p = text;
        for (size_t i = 0; i < ELEMENTSOF(w->has) && w->has[i]; i++) {
                p = strstr(p, w->has[i]);
                ck_assert_msg(p, "%s is not (or not in its place) in\n%s", w->has[i], text);
        }
        ck_assert_msg(!w->lacks || !strstr(text, w->lacks), "%s", text);

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &all_settings, "f", text, size), 0);
        ck_assert_msg(c->complaints.n_errors == 0, "%s in\n%s", c->complaints.items[0].sentence, text);
}
