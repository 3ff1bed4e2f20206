/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The list of the configuration files that the service has loaded, and the comparison of this list with the files on
 * disk. */

#include "config-dump.h"
#include "suite.h"

#define FILES_MAX 3U

/* Configuration files, as pairs of name and text. */
typedef const char *Read[FILES_MAX][2];

/* clang-format off */
static const struct {
        Read then, now;
        int news;
        const char *file; /* the first file that differs; NULL: none */
} rows[] = {
        { {}, {}, CONFIG_SAME, NULL },
        { { { "a", "" } }, { { "a", "" } }, CONFIG_SAME, NULL },
        { { { "a", "x" }, { "b", "y" } }, { { "a", "x" }, { "b", "y" } }, CONFIG_SAME, NULL },
        { { { "a", "x" } }, { { "a", "x " } }, CONFIG_CHANGED, "a" },
        { { { "a", "x" }, { "b", "y" } }, { { "a", "x" }, { "b", "z" } }, CONFIG_CHANGED, "b" },
        { { { "a", "x" }, { "b", "y" } }, { { "a", "y" }, { "b", "x" } }, CONFIG_CHANGED, "a" },
        { {}, { { "a", "" } }, CONFIG_NEW, "a" },
        /* A file whose name is a suffix or a prefix of another file's name is not confused with that file. */
        { { { "/b/a", "x" } }, { { "/b/a", "x" }, { "a", "x" } }, CONFIG_NEW, "a" },
        { { { "ab", "x" } }, { { "a", "x" }, { "ab", "x" } }, CONFIG_NEW, "a" },
        { { { "a", "x" } }, {}, CONFIG_GONE, "a" },
        { { { "a", "x" }, { "ab", "x" } }, { { "a", "x" } }, CONFIG_GONE, "ab" },
        /* File names with unusual characters, which file systems permit, are compared correctly. */
        { { { "a\nb\\ \x1b", "x" } }, { { "a\nb\\ \x1b", "x" } }, CONFIG_SAME, NULL },
        { { { "a\nb\\ \x1b", "x" } }, { { "a\nb\\ \x1b", "y" } }, CONFIG_CHANGED, "a\nb\\ \x1b" },
        { { { "a\nb\\ \x1b", "x" } }, {}, CONFIG_GONE, "a\nb\\ \x1b" },
};
/* clang-format on */

static Config *read_files(const Read files) {
        Config *c;

        ck_assert_int_eq(config_new(&c), 0);
        for (size_t i = 0; i < FILES_MAX && files[i][0]; i++)
                ck_assert_int_eq(config_parse(c, &fake_table, files[i][0], files[i][1], strlen(files[i][1])), 0);
        return c;
}

START_TEST(test_compare) {
        _cleanup_(config_freep) Config *then = read_files(rows[_i].then), *now = read_files(rows[_i].now);
        _cleanup_free_ char *text = NULL, *file = NULL;

        ck_assert_int_eq(config_format_in_force(then, &text), 0);
        ck_assert_int_eq(config_compare_in_force(now, text, &file), rows[_i].news);
        if (rows[_i].file)
                ck_assert_str_eq(file, rows[_i].file);
        else
                ck_assert_ptr_null(file);
}
END_TEST

/* If a line of the list of loaded files is damaged or cut off, the line is ignored, without a crash. */
static const struct {
        const char *text;
        int news;
} hostile[] = {
        { "", CONFIG_NEW },
        { "\n", CONFIG_NEW },
        { "0123456789abcdef", CONFIG_NEW },
        { "0123456789abcdef a", CONFIG_NEW },
        { "0123456789abcdef a\n", CONFIG_CHANGED },
        { "af63f54c8601f7d7 a", CONFIG_NEW },
        { "short a\n", CONFIG_NEW },
};

START_TEST(test_hostile) {
        _cleanup_(config_freep) Config *c = read_files((Read){ { "a", "x" } }), *none = read_files((Read){});
        _cleanup_free_ char *file = NULL, *gone = NULL;

        ck_assert_int_eq(config_compare_in_force(c, hostile[_i].text, &file), hostile[_i].news);
        ck_assert_str_eq(file, "a");
        ck_assert_int_eq(config_compare_in_force(none, hostile[_i].text, &gone),
                         hostile[_i].news == CONFIG_CHANGED ? CONFIG_GONE : CONFIG_SAME);
}
END_TEST

START_TEST(test_damaged_name) {
        _cleanup_(config_freep) Config *none = read_files((Read){});
        char *file = NULL;

        ck_assert_int_eq(config_compare_in_force(none, "0123456789abcdef \\x0\n", &file), -EBADMSG);
        ck_assert_ptr_null(file);
}
END_TEST

int main(void) {
        Suite *s = suite_create("config-in-force");
        TCase *t = tcase_create("config-in-force");

        tcase_add_loop_test(t, test_compare, 0, ELEMENTSOF(rows));
        tcase_add_loop_test(t, test_hostile, 0, ELEMENTSOF(hostile));
        tcase_add_test(t, test_damaged_name);
        suite_add_tcase(s, t);
        return suite_run(s);
}
