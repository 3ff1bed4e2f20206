/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The import of a real-world file gives configuration without errors. The number of comment lines is at most the number
 * of settings. */

#include <glob.h>

#include "import-case.h"
#include "suite.h"
#include "written-case.h"

/* Files of the project, and real-world files if present. */
static const struct {
        const char *pattern;
        ImportKind kind;
} files[] = {
        { "tests/data/import/*.conf", IMPORT_HDPARM_CONF },
        { "../shared/corpus/hdparm.conf/*.conf", IMPORT_HDPARM_CONF },
        { "../shared/corpus/udisks2/*", IMPORT_UDISKS },
        { "../shared/corpus/tlp/*.conf", IMPORT_TLP },
};

static size_t n_comments, n_settings;

static void count(const char *text) {
        for (const char *line = text; line; line = strchr(line, '\n')) {
                line += strspn(line, "\n ");
                if (starts_with(line, "// ----") || starts_with(line, "// Written"))
                        continue;
                n_comments += starts_with(line, "//");
                n_settings += !starts_with(line, "match") && *line >= 'a' && *line <= 'z' &&
                              !starts_with(line, "drives");
        }
}

static void check_one(const char *path, ImportKind kind) {
        _cleanup_free_ char *text = NULL, *out = NULL;
        _cleanup_(config_freep) _unused_ Config *c = NULL;
        const char *objection;
        size_t size;

        ck_assert_int_eq(text_file_read(path, &text, &size, &objection), 0);
        out = import_to_text(path, text, size, kind);
        c = check_config(path, out, is_of_values);
        count(out);
}

START_TEST(test_imported_is_valid) {
        glob_t found = {};

        if (glob(files[_i].pattern, 0, NULL, &found) == GLOB_NOMATCH) {
                ck_assert_msg(starts_with(files[_i].pattern, "../shared"), "%s", files[_i].pattern);
                printf("skipped: %s is not here\n", files[_i].pattern);
        }
        n_comments = n_settings = 0;
        for (size_t i = 0; i < found.gl_pathc; i++)
                check_one(found.gl_pathv[i], files[_i].kind);
        /* The project's own files (row 0) are full of errors, and may lead to more comment lines than settings. */
        ck_assert_msg(_i == 0 || n_comments <= n_settings, "%zu comment lines for %zu settings", n_comments,
                      n_settings);
        globfree(&found);
}
END_TEST

int main(void) {
        Suite *s = suite_create("import-corpus");
        TCase *t = tcase_create("corpus");

        tcase_add_loop_test(t, test_imported_is_valid, 0, ELEMENTSOF(files));
        suite_add_tcase(s, t);
        return suite_run(s);
}
