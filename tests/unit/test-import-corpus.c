/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What other people's files become when they are imported is without error, as `drivekeep check` looks at it. */

#include <glob.h>
#include <stdio.h>

#include "config-check.h"
#include "emit.h"
#include "reader.h"
#include "rivals.h"
#include "settings.h"
#include "suite.h"

/* Ours, and other people's where they are here. */
static const char *const patterns[] = {
        "tests/data/import/*.conf",
        "../shared/corpus/hdparm.conf/*.conf",
        "../shared/corpus/udisks2/*",
};

static void check_one(const char *path) {
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_(import_done) Import import = {};
        _cleanup_free_ char *text = NULL, *out = NULL, *line = NULL;
        const char *objection;
        size_t size, out_size;
        FILE *f;

        ck_assert_int_eq(text_file_read(path, &text, &size, &objection), 0);
        ck_assert_msg(import_read(path, text, size, _IMPORT_KIND_INVALID, NULL, &import, &objection) == 0, "%s: %s",
                      path, objection);
        f = open_memstream(&out, &out_size);
        ck_assert_int_eq(emit(f, &import, 1, &all_settings, NULL), 0);
        ck_assert_int_eq(fclose(f), 0);

        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &all_settings, path, out, out_size), 0);
        ck_assert_int_eq(config_check(c, &all_settings), 0);
        ck_assert_int_eq(rivals_check("/nonexistent", c, &all_settings, NULL, 0), 0);
        if (c->complaints.n_errors > 0)
                line = complaint_format(&c->complaints.items[0]);
        ck_assert_msg(c->complaints.n_errors == 0, "%s\nin:\n%s", line, out);
}

START_TEST(test_imported_is_sound) {
        glob_t found = {};

        if (glob(patterns[_i], 0, NULL, &found) == GLOB_NOMATCH) {
                ck_assert_msg(strncmp(patterns[_i], "../shared", 9) == 0, "%s", patterns[_i]);
                printf("skipped: %s is not here\n", patterns[_i]);
        }
        for (size_t i = 0; i < found.gl_pathc; i++)
                check_one(found.gl_pathv[i]);
        globfree(&found);
}
END_TEST

int main(void) {
        Suite *s = suite_create("import-corpus");
        TCase *t = tcase_create("corpus");

        tcase_add_loop_test(t, test_imported_is_sound, 0, ELEMENTSOF(patterns));
        suite_add_tcase(s, t);
        return suite_run(s);
}
