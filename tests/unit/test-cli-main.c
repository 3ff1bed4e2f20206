/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests main.c, whose main() is compiled as drivekeep_main(). */

#include <argp.h>
#include <locale.h>

#include "test-cli.h"
#include "verb.h"

int drivekeep_main(int argc, char *argv[]);

static bool utf8_is_missing;
static char locales[32]; /* the requested locales, each followed by ";" */

char *setlocale(int category, const char *locale) {
        ck_assert_int_eq(category, LC_CTYPE);
        (void) strcat(locales, locale);
        (void) strcat(locales, ";");
        return utf8_is_missing && *locale ? NULL : (char *) "";
}

int verb_dispatch(int argc, char *argv[]) {
        ck_assert_int_eq(argc, 2);
        ck_assert_str_eq(argv[1], "list");
        return EXIT_NOT_WANTED;
}

/* If the locale C.UTF-8 does not exist, the user's locale is used. */
START_TEST(test_locale) {
        char *argv[] = { (char *) "drivekeep", (char *) "list", NULL };

        utf8_is_missing = _i;
        ck_assert_int_eq(drivekeep_main(2, argv), EXIT_NOT_WANTED);
        ck_assert_str_eq(locales, utf8_is_missing ? "C.UTF-8;;" : "C.UTF-8;");
        ck_assert_int_eq(argp_err_exit_status, EXIT_BAD_INPUT);
        ck_assert_str_eq(argp_program_version, "drivekeep " DRIVEKEEP_VERSION);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("main");

        tcase_add_loop_test(t, test_locale, 0, 2);
        return test_main("cli-main", t);
}
