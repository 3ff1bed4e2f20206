/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests how `drivekeep bench`, `drivekeep tune` and `drivekeep show --plot` start the program that measures, and the message if it is
 * not installed. */

#include <fcntl.h>

#include "measuring.h"
#include "test-cli.h"

static int error;
static char line[512];
static bool keeps_output;

int execv(const char *path, char *const words[]) {
        ck_assert_str_eq(path, words[0]);
        ck_assert(ends_with(path, "/drivekeep-tune"));
        line[0] = '\0';
        for (char *const *word = words + 1; *word; word++)
                (void) strcat(strcat(line, *word), " ");
        keeps_output = fcntl(STDOUT_FILENO, F_GETFD) == 0;
        if (error == 0) {
                printf("%s%s %s", line, getenv("COLUMNS"), getenv("PYTHONCOERCECLOCALE"));
                (void) fflush(stdout);
                _exit(7);
        }
        errno = error;
        return -1;
}

#define STATE "--state-dir=state "

static const struct {
        const Verb *verb;
        const char *words[6];
        const char *line;
} cases[] = {
        { &verb_bench, {}, STATE "-- bench " },
        { &verb_bench, { "sda", "--budget", "1min", "-j" }, "--json " STATE "--budget=1min -- bench sda " },
        { &verb_bench,
          { "--compare", "--results=x y", "--", "-a", "b" },
          STATE "--compare --results=x y -- bench -a b " },
        { &verb_bench, { "--file=.", "--no-legend", "--no-pager" }, STATE "--file=. --no-legend --no-pager -- bench " },
        { &verb_tune, { "--json", "--results=x" }, "--json " STATE "--results=x -- tune " },
        { &verb_tune, { "sda", "apm", "--write", "--force" }, STATE "--force --write -- tune sda apm " },
        { &verb_tune, { "sda", "--svg=-", "--plot=x.png", "-q" }, STATE "--svg=- --plot=x.png --quiet -- tune sda " },
        { &verb_tune,
          { "sda", "--config-root=.", "--config-root=/" },
          STATE "--config-root=. --config-root=/ -- tune sda " },
};

START_TEST(test_words) {
        const char *words[8] = {};
        _cleanup_free_ char *out = NULL, *err = NULL;

        error = ENOENT;
        (void) memcpy(words, cases[_i].words, sizeof cases[_i].words);
        ck_assert_int_eq(verb_catch(cases[_i].verb, "state", words, &out, &err), EXIT_BAD_INPUT);
        ck_assert_str_eq(line, cases[_i].line);
        ck_assert(keeps_output);
}
END_TEST

/* A plot is written to the pager. If stdout is not a terminal, a plot has 80 columns. The command returns the exit status of the program
 * that measures. */
START_TEST(test_plot) {
        const char *const words[] = { "--plot", "--no-legend", "--wear", "sda", NULL };
        _cleanup_free_ char *out = NULL, *err = NULL;
        char text[128];
        FILE *f;

        ck_assert_int_eq(setenv("COLUMNS", "200", 1), 0); /* ignored, since stdout is not a terminal */
        ck_assert_int_eq(verb_catch(&verb_show, "state", words, &out, &err), 7);
        ck_assert_str_eq(out, STATE "--plot --no-legend -- show sda 80 0");
        ck_assert_str_eq(err, "");

        f = tmpfile();
        ck_assert_ptr_nonnull(f);
        stdout = f;
        ck_assert_int_eq(measuring_draw(&(Options){ .state_dir = "state", .svg = "-" }), 7);
        rewind(f);
        text[fread(text, 1, sizeof text - 1, f)] = '\0';
        ck_assert_str_eq(text, STATE "--svg=- -- show 80 0");
}
END_TEST

static const struct {
        const Verb *verb;
        const char *words[3];
        int error;
        const char *messages;
} failures[] = {
        { &verb_bench,
          { "sda" },
          ENOENT,
          "drivekeep bench needs the package drivekeep-tune, which is not installed\n" },
        { &verb_show,
          { "--plot", "sda" },
          ENOENT,
          "drivekeep show --plot needs the package drivekeep-tune, which is not installed\n" },
        { &verb_tune, { "sda" }, ENOENT, "drivekeep tune needs the package drivekeep-tune, which is not installed\n" },
        { &verb_tune, { "sda" }, EACCES, "/drivekeep-tune cannot be started: Permission denied\n" },
};

START_TEST(test_missing) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        error = failures[_i].error;
        ck_assert_int_eq(verb_catch(failures[_i].verb, "state", failures[_i].words, &out, &err), EXIT_BAD_INPUT);
        ck_assert_msg(strstr(err, failures[_i].messages), "%s", err);
        ck_assert_str_eq(out, "");
}
END_TEST

int main(void) {
        TCase *c = tcase_create("cli-measuring");

        tcase_add_loop_test(c, test_words, 0, ELEMENTSOF(cases));
        tcase_add_test(c, test_plot);
        tcase_add_loop_test(c, test_missing, 0, ELEMENTSOF(failures));
        return test_main("cli-measuring", c);
}
