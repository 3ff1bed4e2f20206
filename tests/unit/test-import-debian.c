/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compares debian-parser.c with the recorded output of Debian 12's shell function for hdparm.conf. */

#include <stdio.h>
#include <time.h>

#include "debian-parser.h"
#include "import-case.h"
#include "suite.h"

static int follow(void *userdata, const char *path, char **ret) {
        const ImportCase *c = userdata;

        if (!c->link || !streq(c->link, path))
                return 0;
        *ret = strdup(c->disk);
        return *ret ? 1 : -ENOMEM;
}

static void check_case(const ImportCase *c) {
        const DebianDrive drive = {
                .node = c->disk,
                .apm = c->apm,
                .on_battery = c->on_battery,
                .follow = follow,
                .userdata = (void *) c,
        };
        _cleanup_(debian_answer_done) DebianAnswer a = {};

        ck_assert_int_eq(debian_options(c->text, c->size, &drive, &a), 0);
        ck_assert_msg(a.status == c->status && streq(a.output, c->output) && streq(a.error, c->error),
                      "%s %s, APM %d, battery %d: expected %d \"%s\" \"%s\", got %d \"%s\" \"%s\"", c->conf, c->disk,
                      c->apm, c->on_battery, c->status, c->output, c->error, a.status, a.output, a.error);
        ck_assert_int_eq(a.status != 0, a.gave_up != 0);
}

START_TEST(test_expected) {
        size_t n = import_cases(import_directories[_i], check_case);

        ck_assert(_i > 0 || n >= 100);
}
END_TEST

/* clang-format off */
static const struct {
        const char *text, *output;
} shell[] = {
        /* The parser handles special bytes in the same way as the shell dash 0.5.12. */
        { "apm = 12\\\n3\nlookahead = on",          "-B123 -A1" },
        { "apm = \\\n# not a line\n5",              "-B5"       },
        { "apm = 5\nlookahead = on\\",              "-B5"       }, /* a last line that ends with a backslash is lost */
        { "apm = 1\\\\2",                           "-B1\x02"   }, /* echo interprets backslashes */
        { "read_only = 1 \\c",                      "-r1"       }, /* dash drops a last word that is only a backslash and one byte */
        { "read_only = 1 \\cd",                     "cd1"       },
        { "apm = 5\nquiet\napm = 6\nquiet\napm = 7", "-q -B7"   },
        { "spindown_time = 25\\\\\nspindown_time = 1", "-S1"    },
        { "apm = *\napm = 1",                       "-B* -B1"   }, /* the value * acts as a pattern when the shell compares options */
        { "lookahead = on -B9\napm = 1",            "-B1"       },
        { "\t apm\t=\t5\t\n \v\n",                  "-B5"       },
        { "ROOTFS = /dev/sda\nforce_spindown_time = 3\nspindown_time = 4", "force_spindown_time3 -S4" },
};
/* clang-format on */

START_TEST(test_shell) {
        const DebianDrive drive = { .node = "/dev/sda" };
        _cleanup_(debian_answer_done) DebianAnswer a = {};

        ck_assert_int_eq(debian_options(shell[_i].text, strlen(shell[_i].text), &drive, &a), 0);
        ck_assert_str_eq(a.output, shell[_i].output);
}
END_TEST

/* Texts that are repeated up to the size limit of a file. Parsing must end within ten seconds. */
static const char *const hostile[] = {
        "{",
        "{ ",
        "}\n",
        "/dev/sda {\n",
        "apm = 1\n",
        "quiet\n",
        "\\\n",
        "\\\\\n",
        "a = b\\\n",
        "#\n",
        "\n",
        "apm = *\n",
        "apm = *****************?*\n",
        "standby\n",
        "\xff",
        "=",
        "a ",
        "command_line {\n",
};

START_TEST(test_hostile) {
        const DebianDrive drive = { .node = "/dev/sda", .apm = true };
        _cleanup_(debian_answer_done) DebianAnswer a = {};
        _cleanup_free_ char *text = malloc(TEXT_FILE_MAX);
        clock_t start = clock();
        int r;

        for (size_t i = 0; i < TEXT_FILE_MAX; i++)
                text[i] = hostile[_i][i % strlen(hostile[_i])];
        r = debian_options(text, TEXT_FILE_MAX, &drive, &a);
        ck_assert(r == 0 || r == -E2BIG);
        ck_assert_int_lt(clock() - start, 10 * CLOCKS_PER_SEC);
}
END_TEST

/* The second word of a value replaces the option, so a file may contain many different options. If there are too many
 * of them, the parser returns -E2BIG. */
START_TEST(test_too_many) {
        const DebianDrive drive = { .node = "/dev/sda" };
        _cleanup_(debian_answer_done) DebianAnswer a = {};
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        for (unsigned i = 0; i < 60000; i++)
                fprintf(f, "dma = 1 %c%cx\n", (int) ('0' + i % 70), (int) ('0' + i / 70 % 70));
        fclose(f);
        ck_assert_int_eq(debian_options(text, size, &drive, &a), -E2BIG);
}
END_TEST

int main(void) {
        Suite *s = suite_create("import-debian");
        TCase *t = tcase_create("import-debian");

        tcase_set_timeout(t, 60);
        tcase_add_loop_test(t, test_expected, 0, ELEMENTSOF(import_directories));
        tcase_add_loop_test(t, test_shell, 0, ELEMENTSOF(shell));
        tcase_add_loop_test(t, test_hostile, 0, ELEMENTSOF(hostile));
        tcase_add_test(t, test_too_many);
        suite_add_tcase(s, t);

        return suite_run(s);
}
