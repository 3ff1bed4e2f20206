/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep import`: what it makes of its arguments and of files that are none; what it makes of good ones,
 * test-import-*.c say. */

#include <argp.h>
#include <sys/stat.h>

#include "config.h"
#include "settings.h"
#include "test-cli.h"
#include "text-file.h"
#include "verb.h"

static char *import(char *const *arguments, char **ret_said, int *ret_status) {
        char *argv[12] = { (char *) "drivekeep import" };
        int argc = 1;
        FILE *out, *said;

        for (; *arguments; arguments++)
                argv[argc++] = *arguments;
        out = catch_begin(stdout);
        said = catch_begin(stderr);
        *ret_status = verb_run(&verb_import, argc, argv);
        *ret_said = catch_end(stderr, said);
        return catch_end(stdout, out);
}
#define ARGS(...) ((char *[]){ __VA_ARGS__, NULL })

/* clang-format off */
static const struct {
        const char *arguments[5];
        int status;
        const char *out, *said; /* are part of it; NULL: nothing at all */
} cases[] = {
        { { "--command=hdparm -B 127 /dev/sda" }, EXIT_WANTED, "\n        apm = 127;\n", NULL },
        { { "-c", "hdparm -B1 /dev/sda", "-c", "hdparm -B2 /dev/sdb" }, EXIT_WANTED, "apm = 2;", NULL },
        { { "--command=hdparm -B1 /dev/sdb", "good.conf" }, EXIT_WANTED, "---- good.conf ----", NULL },
        { { "--command=" }, EXIT_WANTED, "it asks for nothing", NULL },
        { { "--command=hdparm -B1 /dev/\xff" }, EXIT_WANTED, "line 1: \"/dev/\\xff\" is the name of no drive", NULL },
        { { "--format=hdparm.conf", "words.txt" }, EXIT_WANTED, "spindown_time = 120;", NULL },
        { { "--format=tlp", "words.txt" }, EXIT_WANTED, "line 1: TLP does not take: spindown_time", NULL },
        { { "/dev/null" }, EXIT_WANTED, "it asks for nothing", NULL },

        { { NULL }, EXIT_BAD_INPUT, NULL, "say which files" },
        { { "" }, EXIT_BAD_INPUT, NULL, "No such file" },
        { { "missing.conf" }, EXIT_BAD_INPUT, NULL, "missing.conf: the file cannot be read: No such file" },
        { { "." }, EXIT_BAD_INPUT, NULL, "this is a directory" },
        { { "fifo" }, EXIT_BAD_INPUT, NULL, "this is a pipe" },
        { { "huge.conf" }, EXIT_BAD_INPUT, NULL, "larger than 1 MiB" },
        { { "nul.conf" }, EXIT_BAD_INPUT, NULL, "NUL byte" },
        { { "open.conf" }, EXIT_BAD_INPUT, NULL, "can be written by others" },
        { { "lorem.txt" }, EXIT_BAD_INPUT, NULL, "lorem.txt: what kind of file this is cannot be told for certain: say --format=KIND" },
        { { "words.txt" }, EXIT_BAD_INPUT, NULL, "words.txt: what kind of file this is cannot be told for certain: say" },
        { { "--format=ini", "good.conf" }, EXIT_BAD_INPUT, NULL, "there is no format 'ini'" },
        { { "--format=", "good.conf" }, EXIT_BAD_INPUT, NULL, "there is no format ''" },
        { { "--write=../x", "good.conf" }, EXIT_BAD_INPUT, NULL, "'../x' is no name of a file" },
        { { "--write=", "good.conf", "--config-root=." }, EXIT_BAD_INPUT, NULL, "'' is no name of a file" },
        { { "--write=.hidden", "good.conf", "--config-root=." }, EXIT_BAD_INPUT, NULL, "'.hidden' is no name of a file" },
        { { "--write=x", "--config-root=.", "good.conf", "lorem.txt" }, EXIT_BAD_INPUT, NULL, "so nothing is written" },
        /* What is not understood costs itself. */
        { { "missing.conf", "good.conf", "lorem.txt" }, EXIT_BAD_INPUT, "spindown_time = 120;", "missing.conf" },
        { { "/etc/udisks2/udisks2.conf.missing", "-c", "hdparm -B1 /dev/sda" }, EXIT_BAD_INPUT, "apm = 1;", "cannot be read" },
};
/* clang-format on */

static void write_files(void) {
        FILE *f;

        file_write("good.conf", "/dev/sda {\n\tspindown_time = 120\n}\n");
        file_write("words.txt", "spindown_time = 120\n");
        file_write("lorem.txt", "Lorem ipsum dolor\n");
        file_write("open.conf", "apm = 1\n");
        ck_assert_int_eq(chmod("open.conf", 0666), 0);
        ck_assert_int_eq(mkfifo("fifo", 0600), 0);
        file_write("huge.conf", "");
        ck_assert_int_eq(truncate("huge.conf", 100 << 20), 0);
        f = fopen("nul.conf", "we");
        ck_assert_uint_eq(fwrite("apm\0 = 1\n", 1, 9, f), 9);
        ck_assert_int_eq(fclose(f), 0);
}

START_TEST(test_arguments) {
        _cleanup_free_ char *out = NULL, *said = NULL;
        char *arguments[ELEMENTSOF(cases[_i].arguments) + 1] = {};
        int status;

        /* Only root gets as far as the name. */
        if (cases[_i].arguments[0] && streq(cases[_i].arguments[0], "--write=../x") && geteuid() != 0)
                return;
        /* To whoever owns it a file that others can write is refused only as root. */
        if (cases[_i].arguments[0] && streq(cases[_i].arguments[0], "open.conf") && geteuid() != 0)
                return;
        for (size_t i = 0; i < ELEMENTSOF(cases[_i].arguments); i++)
                arguments[i] = (char *) cases[_i].arguments[i];

        write_files();
        out = import(arguments, &said, &status);
        ck_assert_msg(status == cases[_i].status, "%d: %s", status, said);
        ck_assert_msg(cases[_i].out ? strstr(out, cases[_i].out) != NULL : !*out, "%s", out);
        ck_assert_msg(cases[_i].said ? strstr(said, cases[_i].said) != NULL : !*said, "%s", said);
        ck_assert_uint_lt(strlen(said), 400);
}
END_TEST

/* A file that import makes is one that check takes. */
START_TEST(test_is_configuration) {
        _cleanup_free_ char *out = NULL, *said = NULL;
        _cleanup_(config_freep) Config *c = NULL;
        int status;

        write_files();
        out = import(ARGS((char *) "good.conf", (char *) "-c", (char *) "hdparm -W0 /dev/sdb"), &said, &status);
        ck_assert_int_eq(status, EXIT_WANTED);
        ck_assert_int_eq(config_new(&c), 0);
        ck_assert_int_eq(config_parse(c, &all_settings, "f", out, strlen(out)), 0);
        ck_assert_uint_eq(c->complaints.n_errors, 0);
        ck_assert_uint_eq(c->n_blocks, 2);
}
END_TEST

#define TARGET "etc/drivekeep/drivekeep.conf.d/old-tools.conf"

static int write_target(const char *command, const char *option, char **ret_said) {
        _cleanup_free_ char *out = NULL;
        int status;

        out = import(ARGS((char *) "--config-root=etc", (char *) "--write=old-tools", (char *) "-c", (char *) command,
                          (char *) option),
                     ret_said, &status);
        ck_assert_msg(status != EXIT_WANTED ||
                                      (strstr(out, "Written to " TARGET ". ") && strstr(out, "drivekeep check")),
                      "%s", out);
        return status;
}

/* A new file, as a whole; one that is there only when that is asked for. */
START_TEST(test_write) {
        _cleanup_free_ char *said = NULL, *again = NULL, *forced = NULL, *broken = NULL, *text = NULL;
        const char *objection;
        size_t size;

        /* The directory must be root's. */
        if (geteuid() != 0)
                return;
        ck_assert_int_eq(mkdir("etc", 0755), 0);
        ck_assert_int_eq(write_target("hdparm -B 254 /dev/sda", NULL, &said), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(said, TARGET ":7:17: warning: \"/dev/sda\" may be another drive"));
        ck_assert_int_eq(text_file_read(TARGET, &text, &size, &objection), 0);
        ck_assert_ptr_nonnull(strstr(text, "\n        apm = 254;"));
        free(text);

        ck_assert_int_eq(write_target("hdparm -B 1 /dev/sda", NULL, &again), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(again, TARGET " is there already; --force replaces it"));
        ck_assert_int_eq(text_file_read(TARGET, &text, &size, &objection), 0);
        ck_assert_ptr_nonnull(strstr(text, "apm = 254;"));
        free(text);

        ck_assert_int_eq(write_target("hdparm -B 128 /dev/sda", "--force", &forced), EXIT_WANTED);
        ck_assert_int_eq(text_file_read(TARGET, &text, &size, &objection), 0);
        ck_assert_ptr_nonnull(strstr(text, "apm = 128;"));

        /* With an error in another file the service would read none of them. */
        file_write("etc/drivekeep/drivekeep.conf.d/broken.conf", "drives = (\n");
        ck_assert_int_eq(write_target("hdparm -B 1 /dev/sda", "--force", &broken), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(broken, "broken.conf"));
}
END_TEST

/* Without --write, where the output belongs is said in it. */
START_TEST(test_says_where) {
        _cleanup_free_ char *out = NULL, *said = NULL;
        int status;

        out = import(ARGS((char *) "-c", (char *) "hdparm -W0 /dev/sdb"), &said, &status);
        ck_assert_ptr_eq(
                        strstr(out,
                               "// For a file below /etc/drivekeep/drivekeep.conf.d, which --write=NAME makes of it.\n"),
                        out);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("import");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_arguments, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_is_configuration);
        tcase_add_test(t, test_write);
        tcase_add_test(t, test_says_where);
        return test_main("cli-import", t);
}
