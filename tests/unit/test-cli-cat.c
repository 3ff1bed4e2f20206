/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which files `drivekeep cat` shows, and how. */

#include "test-cli.h"
#include "verb.h"

static char *cat(char **ret_err) {
        const Options o = { .roots = { "etc", "usr" } };
        FILE *err = catch_begin(stderr), *out = catch_begin(stdout);

        ck_assert_int_eq(verb_cat.run(&o), EXIT_WANTED);
        *ret_err = catch_end(stderr, err);
        return catch_end(stdout, out);
}

static void directories_make(void) {
        static const char *const names[] = { "etc", "etc/drivekeep", "etc/drivekeep/drivekeep.conf.d",
                                             "usr", "usr/drivekeep", "usr/drivekeep/drivekeep.conf.d" };

        scratch_make();
        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                ck_assert_int_eq(mkdir(names[i], 0755), 0);
}

START_TEST(test_nothing) {
        _cleanup_free_ char *err = NULL, *out = cat(&err);

        ck_assert_str_eq(out, "");
        ck_assert_ptr_nonnull(strstr(err, "there is no configuration"));
}
END_TEST

START_TEST(test_files) {
        _cleanup_free_ char *err = NULL, *out = NULL;

        file_write("etc/drivekeep/drivekeep.conf", "// mine\n\tdrives = ();\n");
        file_write("usr/drivekeep/drivekeep.conf", "// masked\n");
        file_write("usr/drivekeep/drivekeep.conf.d/10.conf", "// no newline");
        file_write("usr/drivekeep/drivekeep.conf.d/20.conf", "// masked\n");
        file_write("etc/drivekeep/drivekeep.conf.d/30.conf", "// last\n");
        ck_assert_int_eq(symlink("/dev/null", "etc/drivekeep/drivekeep.conf.d/20.conf"), 0);
        out = cat(&err);
        ck_assert_str_eq(out, "# etc/drivekeep/drivekeep.conf\n// mine\n\tdrives = ();\n\n"
                              "# usr/drivekeep/drivekeep.conf.d/10.conf\n// no newline\n\n"
                              "# etc/drivekeep/drivekeep.conf.d/20.conf\n\n"
                              "# etc/drivekeep/drivekeep.conf.d/30.conf\n// last\n");
        ck_assert_str_eq(err, "");
}
END_TEST

/* A file that is not read is not shown, one with errors is. Not read is what others can write, unless it is one's own. */
START_TEST(test_errors) {
        _cleanup_free_ char *err = NULL, *out = NULL;

        file_write("etc/drivekeep/drivekeep.conf", "drives = [;\n");
        file_write("etc/drivekeep/drivekeep.conf.d/10.conf", "// not safe\n");
        ck_assert_int_eq(chmod("etc/drivekeep/drivekeep.conf.d/10.conf", 0666), 0);
        out = cat(&err);
        ck_assert_str_eq(out, geteuid() == 0 ? "# etc/drivekeep/drivekeep.conf\ndrives = [;\n"
                                             : "# etc/drivekeep/drivekeep.conf\ndrives = [;\n\n"
                                               "# etc/drivekeep/drivekeep.conf.d/10.conf\n// not safe\n");
        ck_assert_ptr_nonnull(strstr(err, "the configuration has errors, which 'drivekeep check' shows"));
}
END_TEST

int main(void) {
        TCase *t = tcase_create("cat");

        tcase_add_checked_fixture(t, directories_make, scratch_remove);
        tcase_add_test(t, test_nothing);
        tcase_add_test(t, test_files);
        tcase_add_test(t, test_errors);
        return test_main("cli-cat", t);
}
