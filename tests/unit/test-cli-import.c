/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep import`: what it makes of its arguments and of files that are none; what it makes of good ones,
 * test-import-*.c say. */

#include <argp.h>
#include <sys/stat.h>

#include "config.h"
#include "inventory.h"
#include "settings.h"
#include "test-cli.h"
#include "verb.h"

static Drive disk = { .name = (char *) "sda", .node = (char *) "/dev/sda" };
static Drive *drives[] = { &disk };

int inventory_read(_unused_ const PropertyFilter *filter, Inventory *ret) {
        *ret = (Inventory){ .drives = drives, .n_drives = 1 };
        return 0;
}

void inventory_done(Inventory *i) {
        *i = (Inventory){};
}

static char *import(char *const *arguments, char **ret_said, int *ret_status) {
        char *argv[12] = { (char *) "drivekeep import" };
        int argc = 1;
        FILE *out, *said;

        for (; *arguments; arguments++)
                argv[argc++] = *arguments;
        out = catch_begin(stdout);
        said = catch_begin(stderr);
        *ret_status = verb_import.run(argc, argv);
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
        { { "--command=hdparm -B1 /dev/\xff" }, EXIT_BAD_INPUT, NULL, "--command: this is not UTF-8" },
        { { "--format=hdparm.conf", "good.txt" }, EXIT_WANTED, "spindown_time = 120;", NULL },
        { { "--link=/dev/disk/by-id/ata-X=/dev/sda", "good.conf" }, EXIT_WANTED, "match = \"/dev/disk/by-id/ata-X\";", NULL },
        { { "/dev/null" }, EXIT_WANTED, "it asks for nothing", NULL },

        { { NULL }, EXIT_BAD_INPUT, NULL, "say which files" },
        { { "" }, EXIT_BAD_INPUT, NULL, "No such file" },
        { { "missing.conf" }, EXIT_BAD_INPUT, NULL, "missing.conf: the file cannot be read: No such file" },
        { { "." }, EXIT_BAD_INPUT, NULL, "this is a directory" },
        { { "fifo" }, EXIT_BAD_INPUT, NULL, "this is a pipe" },
        { { "huge.conf" }, EXIT_BAD_INPUT, NULL, "larger than 1 MiB" },
        { { "nul.conf" }, EXIT_BAD_INPUT, NULL, "NUL byte" },
        { { "open.conf" }, EXIT_BAD_INPUT, NULL, "can be written by others" },
        { { "lorem.txt" }, EXIT_BAD_INPUT, NULL, "nothing in it is" },
        /* All or nothing. */
        { { "good.conf", "missing.conf" }, EXIT_BAD_INPUT, NULL, "missing.conf" },

        { { "--as-debian=sda", "--apm=yes", "good.conf" }, EXIT_WANTED, "-B254 -S120\n", NULL },
        { { "--as-debian=/dev/sda", "--apm=no", "good.conf" }, EXIT_WANTED, "\n", NULL },
        { { "--as-debian=sda", "--apm=yes", "--battery", "good.conf" }, EXIT_WANTED, "-B128", NULL },
        { { "--as-debian=/dev/disk/by-id/ata-X", "--link=/dev/disk/by-id/ata-X=/dev/sda", "--apm=yes", "good.conf" },
          EXIT_WANTED, "-B254 -S120\n", NULL },
        { { "--as-debian=/dev/zzz", "--apm=no", "links.conf" }, EXIT_WANTED, "-W0\n", NULL },
        { { "--as-debian=d/there", "--apm=no", "links.conf" }, EXIT_WANTED, "-W0\n", NULL },
        { { "--as-debian=sda", "--apm=yes", "long.conf" }, EXIT_BAD_INPUT, NULL, "more than 8 KiB of options" },
        { { "--as-debian=sda", "--apm=yes", "nul.conf" }, EXIT_BAD_INPUT, NULL, "NUL byte" },
        { { "--as-debian=sda", "--apm=yes", "fifo" }, EXIT_BAD_INPUT, NULL, "this is a pipe" },
        { { "--as-debian=sda", "--apm=yes", "bad.conf" }, EXIT_BAD_INPUT, "Unknown option no_such_thing", "" },
        { { "--as-debian=sda", "good.conf", "bad.conf" }, EXIT_BAD_INPUT, NULL, "takes one hdparm.conf" },
        { { "--as-debian=sda", "--command=x" }, EXIT_BAD_INPUT, NULL, "takes one hdparm.conf" },
        { { "--as-debian=", "good.conf" }, EXIT_BAD_INPUT, NULL, "--as-debian takes the name of a drive" },
};
/* clang-format on */

static void write_files(void) {
        FILE *f;

        file_write("good.conf", "/dev/sda {\n\tspindown_time = 120\n}\n");
        file_write("good.txt", "/dev/sda {\n\tspindown_time = 120\n}\n");
        file_write("bad.conf", "/dev/sda {\n\tno_such_thing = 120\n}\n");
        file_write("lorem.txt", "Lorem ipsum dolor\n");
        file_write("open.conf", "apm = 1\n");
        ck_assert_int_eq(chmod("open.conf", 0666), 0);
        ck_assert_int_eq(mkfifo("fifo", 0600), 0);
        /* Links that lead nowhere. */
        ck_assert_int_eq(mkdir("d", 0700), 0);
        ck_assert_int_eq(symlink("/dev/zzz", "d/there"), 0);
        ck_assert_int_eq(symlink("../../../../../../../../../dev/zzz", "d/up"), 0);
        file_write("links.conf", "d/up {\n\twrite_cache = off\n}\n");
        f = fopen("long.conf", "we");
        fprintf(f, "/dev/sda {\n\tapm = %09000d\n}\n", 1);
        ck_assert_int_eq(fclose(f), 0);
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
        ck_assert_uint_lt(strlen(said), 300);
}
END_TEST

/* argp says what is wrong, and leaves. */
static const char *const refused[][2] = {
        { "--format=ini", "there is no format 'ini'" },
        { "--format=", "there is no format ''" },
        { "--apm=maybe", "--apm is yes or no, not 'maybe'" },
        { "--link=/dev/disk/by-id/x", "--link is LINK=NODE" },
        { "--link=x=/dev/sda", "--link is LINK=NODE" },
        { "--link=/x=sda", "--link is LINK=NODE" },
        { "--link=", "--link is LINK=NODE" },
};

START_TEST(test_refused) {
        _cleanup_free_ char *said = NULL;
        int status;

        argp_err_exit_status = EXIT_BAD_INPUT; /* as main() has it */
        (void) import(ARGS((char *) refused[_i][0], (char *) "good.conf"), &said, &status);
        ck_abort_msg("%s was taken", refused[_i][0]);
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

int main(void) {
        TCase *t = tcase_create("import");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_arguments, 0, ELEMENTSOF(cases));
        tcase_add_loop_exit_test(t, test_refused, EXIT_BAD_INPUT, 0, ELEMENTSOF(refused));
        tcase_add_test(t, test_is_configuration);
        return test_main("cli-import", t);
}
