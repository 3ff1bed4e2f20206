/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which verb gets which words. The verbs are stand-ins that note what they were called with. */

#include "test-cli.h"
#include "verb.h"

static struct {
        const char *verb;
        char **names;
        bool json;
        size_t n_roots;
} called;

static int answer;

/* clang-format off */
#define STAND_IN(word)                                                                     \
        static int run_##word(const Options *o) {                                          \
                called.verb = #word;                                                       \
                called.names = o->names;                                                   \
                called.json = o->json;                                                     \
                called.n_roots = o->n_roots;                                               \
                return answer;                                                             \
        }                                                                                  \
        const Verb verb_##word = { .name = #word, .summary = "Does it", .arguments = "[DRIVE...]", .options = OPTION_JSON | OPTION_CONFIG_ROOT, \
                                   .paged = true, .run = run_##word }
/* clang-format on */

STAND_IN(alert);
STAND_IN(apply);
STAND_IN(cat);
STAND_IN(check);
STAND_IN(edit);
STAND_IN(explain);
STAND_IN(import);
STAND_IN(list);
STAND_IN(plan);
STAND_IN(settings);
STAND_IN(show);
STAND_IN(sleep);
STAND_IN(status);
STAND_IN(try);
STAND_IN(wakes);

static int dispatch(const char *second, const char *third, const char *fourth) {
        static char *argv[6]; /* stays, for `called` */
        int argc = 0;

        argv[0] = (char *) "drivekeep";
        argv[1] = (char *) second;
        argv[2] = (char *) third;
        argv[3] = (char *) fourth;
        while (argv[argc])
                argc++;
        return verb_dispatch(argc, argv);
}

static const char *const names[] = { "alert", "apply",    "cat",  "check", "edit",   "explain", "import", "list",
                                     "plan",  "settings", "show", "sleep", "status", "try",     "wakes" };

START_TEST(test_names) {
        ck_assert_int_eq(dispatch(names[_i], NULL, NULL), 0);
        ck_assert_str_eq(called.verb, names[_i]);
        ck_assert_ptr_null(called.names);
}
END_TEST

/* Options behind the verb are the verb's, --help too. */
START_TEST(test_arguments) {
        ck_assert_int_eq(dispatch("status", "sda", "--json"), 0);
        ck_assert_str_eq(called.verb, "status");
        ck_assert_str_eq(called.names[0], "sda");
        ck_assert_ptr_null(called.names[1]);
        ck_assert(called.json);
}
END_TEST

START_TEST(test_help_of_verb) {
        (void) dispatch("status", "sda", "--help");
}
END_TEST

START_TEST(test_option_of_another_verb) {
        (void) dispatch("status", "--strict", NULL);
}
END_TEST

START_TEST(test_exit_status) {
        answer = EXIT_NO_SERVICE;
        ck_assert_int_eq(dispatch("status", NULL, NULL), EXIT_NO_SERVICE);
}
END_TEST

START_TEST(test_failure_is_told) {
        _cleanup_free_ char *said = NULL;
        FILE *f = catch_begin(stderr);

        answer = -EIO;
        ck_assert_int_eq(dispatch("list", NULL, NULL), EXIT_BAD_INPUT);
        said = catch_end(stderr, f);
        ck_assert_ptr_nonnull(strstr(said, "'drivekeep list' failed: Input/output error"));
}
END_TEST

START_TEST(test_unknown) {
        _cleanup_free_ char *said = NULL;
        FILE *f = catch_begin(stderr);

        ck_assert_int_eq(dispatch("lsit", NULL, NULL), EXIT_BAD_INPUT);
        ck_assert_int_eq(dispatch("\x1b[1m", NULL, NULL), EXIT_BAD_INPUT);
        said = catch_end(stderr, f);
        ck_assert_ptr_nonnull(strstr(said, "there is no command 'lsit'; did you mean 'list'?"));
        ck_assert_ptr_nonnull(strstr(said, "there is no command '\\x1b[1m'; 'drivekeep --help' lists them"));
        ck_assert_ptr_null(called.verb);
}
END_TEST

/* getopt would quote it as it is. */
START_TEST(test_garbled) {
        _cleanup_free_ char *said = NULL;
        FILE *f = catch_begin(stderr);

        ck_assert_int_eq(dispatch("list", "--\x1b[1m", NULL), EXIT_BAD_INPUT);
        said = catch_end(stderr, f);
        ck_assert_ptr_nonnull(strstr(said, "there is no option '--\\x1b[1m'; 'drivekeep --help' lists them\n"));
        ck_assert_ptr_null(called.verb);
}
END_TEST

START_TEST(test_short_help) {
        (void) dispatch("status", "-h", NULL);
}
END_TEST

/* A verb that takes no words. */
START_TEST(test_word_too_many) {
        (void) dispatch("reload", "sda", NULL);
}
END_TEST

/* ---- what the verb is told ---- */

static Options told;

static int note(const Options *o) {
        told = *o;
        ck_assert_uint_le(o->n_commands, 2);
        for (size_t i = 0; i < o->n_commands; i++)
                ck_assert_str_eq(o->commands[i], i == 0 ? "first" : "second");
        return EXIT_WANTED;
}

static const Verb all = { .name = "all", .arguments = "[X...]", .options = ~0U, .run = note };

static void tell(const char *const *words) {
        static char *argv[16];
        int argc = 0;

        argv[argc++] = (char *) "drivekeep all";
        for (; *words; words++)
                argv[argc++] = (char *) *words;
        argv[argc] = NULL;
        ck_assert_int_eq(verb_run(&all, argc, argv), EXIT_WANTED);
}

START_TEST(test_options) {
        tell((const char *const[]){ NULL });
        ck_assert(!told.json && !told.permanent && !told.strict && !told.verbose && !told.names && told.n_roots == 0);
        ck_assert(!told.as && !told.identify && !told.format && told.n_commands == 0);
        ck_assert_str_eq(told.state_dir, "/run/drivekeep/drives");
        ck_assert_str_eq(told.roots[0], "/etc");
        ck_assert_str_eq(told.roots[1], "/run");
        ck_assert_str_eq(told.roots[2], "/usr/lib");
        ck_assert_ptr_null(told.roots[3]);

        tell((const char *const[]){ "-j", "--permanent", "x", "--strict", "-v", "--as=a", "--identify=b", "--format=c",
                                    "--state-dir=d", "-cfirst", "--command=second", "--config-root=/", "y", NULL });
        ck_assert(told.json && told.permanent && told.strict && told.verbose && told.n_commands == 2);
        ck_assert_str_eq(told.as, "a");
        ck_assert_str_eq(told.identify, "b");
        ck_assert_str_eq(told.format, "c");
        ck_assert_str_eq(told.state_dir, "d");
        ck_assert_str_eq(told.names[0], "x");
        ck_assert_str_eq(told.names[1], "y");
        ck_assert_ptr_null(told.names[2]);
        ck_assert_uint_eq(told.n_roots, 1);
        ck_assert_str_eq(told.roots[0], "/");
        ck_assert_ptr_null(told.roots[1]);
}
END_TEST

#define ROOT "--config-root=/"
#define ROOTS ROOT, ROOT, ROOT, ROOT, ROOT, ROOT, ROOT, ROOT

START_TEST(test_roots) {
        tell((const char *const[]){ ROOTS, NULL });
        ck_assert_uint_eq(told.n_roots, 8);
        ck_assert_ptr_null(told.roots[8]);
}
END_TEST

START_TEST(test_roots_too_many) {
        tell((const char *const[]){ ROOTS, ROOT, NULL });
}
END_TEST

START_TEST(test_root_missing) {
        tell((const char *const[]){ "--config-root=/nonexistent", NULL });
}
END_TEST

START_TEST(test_output_that_cannot_be_written) {
        ck_assert_ptr_nonnull(freopen("/dev/full", "w", stdout));
        fputs("something", stdout);
        ck_assert_int_eq(dispatch("list", NULL, NULL), EXIT_BAD_INPUT);
}
END_TEST

/* argp exits by itself: with success after --help, and with argp_err_exit_status, which main.c sets, otherwise. */
START_TEST(test_help) {
        (void) dispatch("--help", NULL, NULL);
}
END_TEST

/* Options stand anywhere, and so do their arguments; without a verb it is "status". */
static const struct {
        const char *words[3], *verb, *name;
        bool json;
        size_t n_roots;
} lines[] = {
        { { NULL }, "status", NULL, false, 0 },
        { { "--json" }, "status", NULL, true, 0 },
        { { "--" }, "status", NULL, false, 0 },
        { { "--json", "list" }, "list", NULL, true, 0 },
        { { "-jq", "list", "sda" }, "list", "sda", true, 0 },
        { { "--config-root", "/", "plan" }, "plan", NULL, false, 1 },
        { { "--config", "/", "plan" }, "plan", NULL, false, 1 },
        { { "--config-root=/", "plan", "sda" }, "plan", "sda", false, 1 },
        { { "--no-pager", "plan", "--json" }, "plan", NULL, true, 0 },
};

START_TEST(test_options_anywhere) {
        ck_assert_int_eq(dispatch(lines[_i].words[0], lines[_i].words[1], lines[_i].words[2]), 0);
        ck_assert_str_eq(called.verb, lines[_i].verb);
        ck_assert_int_eq(called.names != NULL, lines[_i].name != NULL);
        if (called.names)
                ck_assert_str_eq(called.names[0], lines[_i].name);
        ck_assert_int_eq(called.json, lines[_i].json);
        ck_assert_uint_eq(called.n_roots, lines[_i].n_roots);
}
END_TEST

/* Of a command whose argument is not there argp complains, in its words. */
START_TEST(test_argument_missing) {
        (void) dispatch("--config-root", NULL, NULL);
}
END_TEST

START_TEST(test_verb_help) {
        (void) dispatch("help", _i == 0 ? NULL : "status", NULL);
}
END_TEST

START_TEST(test_help_of_nothing) {
        _cleanup_free_ char *said = NULL;
        FILE *f = catch_begin(stderr);

        ck_assert_int_eq(dispatch("help", "shwo", NULL), EXIT_BAD_INPUT);
        said = catch_end(stderr, f);
        ck_assert_ptr_nonnull(strstr(said, "there is no command 'shwo'; did you mean 'show'?"));
}
END_TEST

START_TEST(test_version) {
        _cleanup_free_ char *said = NULL;
        FILE *f = catch_begin(stdout);

        ck_assert_int_eq(dispatch("version", NULL, NULL), 0);
        said = catch_end(stdout, f);
        ck_assert_str_eq(said, "drivekeep " DRIVEKEEP_VERSION "\n");
}
END_TEST

/* The exit status is the same. */
START_TEST(test_quiet) {
        _cleanup_free_ char *said = NULL;
        FILE *f = catch_begin(stdout);

        ck_assert_int_eq(dispatch("-q", "version", NULL), 0);
        said = catch_end(stdout, f);
        ck_assert_str_eq(said, "");
}
END_TEST

int main(void) {
        TCase *t = tcase_create("verb");

        tcase_add_loop_test(t, test_names, 0, ELEMENTSOF(names));
        tcase_add_test(t, test_arguments);
        tcase_add_test(t, test_exit_status);
        tcase_add_test(t, test_failure_is_told);
        tcase_add_test(t, test_unknown);
        tcase_add_loop_test(t, test_options_anywhere, 0, ELEMENTSOF(lines));
        tcase_add_test(t, test_help_of_nothing);
        tcase_add_test(t, test_version);
        tcase_add_test(t, test_quiet);
        tcase_add_test(t, test_output_that_cannot_be_written);
        tcase_add_test(t, test_garbled);
        tcase_add_test(t, test_options);
        tcase_add_test(t, test_roots);
        tcase_add_exit_test(t, test_roots_too_many, 64);
        tcase_add_exit_test(t, test_root_missing, EXIT_BAD_INPUT);
        tcase_add_exit_test(t, test_help, 0);
        tcase_add_exit_test(t, test_short_help, 0);
        tcase_add_exit_test(t, test_word_too_many, 64);
        tcase_add_exit_test(t, test_help_of_verb, 0);
        tcase_add_exit_test(t, test_option_of_another_verb, 64);
        tcase_add_exit_test(t, test_argument_missing, 64);
        tcase_add_loop_exit_test(t, test_verb_help, 0, 0, 2);
        return test_main("cli-verb", t);
}
