/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep show --plot` and `--svg`: what is drawn, with a stand-in for the journal. What it was to draw: test-cli-strip.c. */

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>

#include "inventory.h"
#include "wakes-journal.h"

#define HOUR UINT64_C(3600000000)

/* Sunday, 2009-11-22 14:10 UTC: the second record is of the day before, the next ones of that day. */
#define NOW (NOON + 26 * HOUR + HOUR / 6)

int clock_gettime(clockid_t clock, struct timespec *ts) {
        if (clock != CLOCK_REALTIME)
                return (int) syscall(SYS_clock_gettime, clock, ts);
        *ts = (struct timespec){ .tv_sec = (time_t) (NOW / 1000000) };
        return 0;
}

uid_t geteuid(void) {
        return 0;
}

static bool is_terminal;

int isatty(_unused_ int fd) {
        return is_terminal;
}

/* No drive is asked, and none is looked for. */
int inventory_read(_unused_ Inventory *ret) {
        ck_abort_msg("it looks for drives");
}

void inventory_done(_unused_ Inventory *i) {
}

#define BOOT "_BOOT_ID=a"
#define SLEPT(seconds) "DRIVEKEEP_SLEPT_USEC=" seconds "000000"

/* clang-format off */
static const Fields some[] = {
        RECORD("sda", "read", "", PROCESS "cat", SERIAL "5YD1", BOOT, SLEPT("36000")),      /* 17:00, since 07:00 */
        RECORD("sda", "read", "", PROCESS "dd", SERIAL "5YD1", BOOT, SLEPT("3600")),        /* 22:00, since 21:00 */
        RECORD("sda", "read", "", PROCESS "<&\xef\xbf\xbf>\x1b]\xff\"'", SERIAL "5YD1", BOOT, SLEPT("10800")), /* 03:00, since 00:00 */
        RECORD("sdb", "md", "", THREAD "md0_resync", SERIAL "W1\\x1b<", BOOT),              /* 08:00 */
        RECORD("sda", "read", "", PROCESS "ls", SERIAL "5YD1", BOOT, SLEPT("7200")),        /* 13:00, since 11:00 */
};

#define HOURS "            0     3     6     9     12    15    18    21      WAKES  ASLEEP\n"
#define BEFORE \
        "Mon 16 Nov  ????????????????????????????????????????????????      -       -\n" \
        "Tue 17 Nov  ????????????????????????????????????????????????      -       -\n" \
        "Wed 18 Nov  ????????????????????????????????????????????????      -       -\n" \
        "Thu 19 Nov  ????????????????????????????????????????????????      -       -\n" \
        "Fri 20 Nov  ????????????????????????????????????????????????      -       -\n"
#define SDA \
        BEFORE \
        "Sat 21 Nov  ??????????????____________________|#######__|###      2  11.0 h\n" \
        "Sun 22 Nov  ______|###############____|#_                         2   5.3 h\n"
#define SDB \
        BEFORE \
        "Sat 21 Nov  ????????????????????????????????????????????????      -       -\n" \
        "Sun 22 Nov  ????????????????|????????????                         1       -\n"
#define LEGEND "_ asleep  # awake  | woken  ? not known\n"
/* clang-format on */

/* What the service knows; it runs while the lock is held, as the descriptor is not closed. */
static void state_write(void) {
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        file_make("state/sda",
                  "VERSION=1\nNAME=sda\nSERIAL=5YD1\nBOOT_ID=a\nPOWER=standby\nPOWER_WHEN=1258897800000000\nSETTINGS=0\n");
        file_make("state/nvme0n1", "VERSION=1\nNAME=nvme0n1\nSERIAL=N1\nBOOT_ID=a\nSETTINGS=0\n");
        ck_assert_int_eq(fcntl(open("state/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600), F_OFD_SETLK, &lock), 0);
}

static int show(const char *const *words, char **ret_out, char **ret_err) {
        return verb_catch(&verb_show, "state", words, ret_out, ret_err);
}

static void setup(void) {
        scratch_make();
        ck_assert_int_eq(setenv("TZ", "UTC", 1) + setenv("LC_ALL", "C", 1) + setenv("TERM", "dumb", 1), 0);
        interval = 5 * HOUR;
        journal_set(some, ELEMENTSOF(some), ELEMENTSOF(some));
        state_write();
}

/* ---- in the terminal ---- */

#define UTF8_SUNDAY "Sun 22 Nov  ▁▁▁▁▁▁↑███████████████▁▁▁▁↑█▁                         2   5.3 h\n"
#define UTF8_LEGEND "▁ asleep  █ awake  ↑ woken  ░ not known\n"

/* clang-format off */
static const struct {
        const char *words[4], *locale, *columns; /* columns NULL: it is no terminal */
        const char *text; /* all of it, or a line of it */
        bool all;
} texts[] = {
        { { "--plot", "sda" }, "C", NULL, "sda  5YD1\n" HOURS SDA LEGEND, true },
        { { "--plot", "sda", "--no-legend" }, "C", NULL, "sda  5YD1\n" SDA, true },
        { { "--plot", "sda", "W1\\x1b<" }, "C", NULL, "sda  5YD1\n" HOURS SDA "\nsdb  W1\\x1b<\n" HOURS SDB LEGEND, true },
        /* A drive of which nothing is known is drawn if it is named. */
        { { "--plot" }, "C", NULL, "sda  5YD1\n" HOURS SDA "\nsdb  W1\\x1b<\n" HOURS SDB LEGEND, true },
        { { "--plot", "N1" }, "C", NULL, "nvme0n1  N1\n" HOURS BEFORE, false },
        { { "--plot", "sda" }, "C", "80", "sda  5YD1\n" HOURS SDA LEGEND, true },
        { { "--plot", "sda" }, "C", "122", "sda  5YD1\n" HOURS SDA LEGEND, true },
        { { "--plot", "sda" }, "C", "123",
          "            0           3           6           9           12          15          18          21            WAKES  ASLEEP\n", false },
        { { "--plot", "sda" }, "C", "123",
          "Sun 22 Nov  ____________|###############################________|##__                                             2   5.3 h\n", false },
        { { "--plot", "sda" }, "C", "75", "sda  5YD1\n" HOURS SDA LEGEND, true },
        { { "--plot", "sda" }, "C", "74", "            0  3  6  9  12 15 18 21   WAKES  ASLEEP\n", false },
        { { "--plot", "sda" }, "C", "74", "Sun 22 Nov  ___|#######__|_               2   5.3 h\n", false },
        { { "--plot", "sda" }, "C", "50", "            0  6  12 18   WAKES  ASLEEP\n", false },
        { { "--plot", "sda" }, "C", "1", "Sun 22 Nov  _|####|_          2   5.3 h\n", false },
        { { "--plot", "sda" }, "C.UTF-8", NULL, UTF8_SUNDAY UTF8_LEGEND, false },
        { { "--plot", "sda" }, "C.UTF-8", NULL, "\nFri 20 Nov  ░░░░░░░░", false },
        { { "--plot", "sda" }, "xx_XX.UTF-8", NULL, "sda  5YD1\n" HOURS SDA LEGEND, true }, /* there is none such */
};
/* clang-format on */

START_TEST(test_text) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        is_terminal = texts[_i].columns;
        ck_assert_int_eq(setenv("LC_ALL", texts[_i].locale, 1) + setenv("COLUMNS", texts[_i].columns ?: "", 1), 0);
        ck_assert_int_eq(show(texts[_i].words, &out, &err), EXIT_WANTED);
        if (texts[_i].all)
                ck_assert_str_eq(out, texts[_i].text);
        else
                ck_assert_msg(strstr(out, texts[_i].text), "%s\n%s", texts[_i].text, out);
        ck_assert_str_eq(err, texts[_i].words[1] && streq(texts[_i].words[1], "N1") ? err : "");
}
END_TEST

/* What the service knew when it ended holds until then. */
START_TEST(test_ended) {
        static const struct timespec times[] = { { .tv_sec = (NOW - HOUR / 2) / 1000000 },
                                                 { .tv_sec = (NOW - HOUR / 2) / 1000000 } };
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(unlink("state/.lock"), 0);
        ck_assert_int_eq(utimensat(AT_FDCWD, "state", times, 0), 0);
        ck_assert_int_eq(show(WORDS("--plot", "sda"), &out, &err), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, "Sun 22 Nov  ______|###############____|??   "));
}
END_TEST

/* ---- the picture ---- */

static void assert_is_xml(const char *path) {
        _cleanup_free_ char *command = NULL;

        ck_assert_int_gt(asprintf(&command, "python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' %s",
                                  path),
                         0);
        ck_assert_int_eq(system(command), 0);
}

static size_t count(const char *text, const char *word) {
        size_t n = 0;

        for (; (text = strstr(text, word)); text++)
                n++;
        return n;
}

START_TEST(test_svg) {
        _cleanup_free_ char *out = NULL, *err = NULL, *piped = NULL, *none = NULL;
        char text[32768];

        file_write("x.svg", "old");
        ck_assert_int_eq(show(WORDS("--svg", "x.svg", "sda", "sdb"), &out, &err), EXIT_WANTED);
        ck_assert_str_eq(out, "");
        ck_assert_str_eq(err, "");
        file_read("x.svg", text, sizeof text);
        assert_is_xml("x.svg");
        ck_assert_int_lt(access("x.svg.new~", F_OK), 0);

        ck_assert_uint_eq(count(text, "<g>"), 2);
        ck_assert_uint_eq(count(text, "<title>"), 6);
        ck_assert_ptr_nonnull(strstr(text, "<title>When drives were asleep and awake</title>\n"));
        ck_assert_ptr_nonnull(strstr(text, " font-weight=\"bold\">sda  5YD1</text>"));
        ck_assert_ptr_nonnull(strstr(text, " font-weight=\"bold\">sdb  W1\\x1b&lt;</text>"));
        ck_assert_ptr_nonnull(strstr(text, "><title>2009-11-21 17:00:00: cat</title></path>"));
        ck_assert_ptr_nonnull(strstr(text, "><title>2009-11-22 03:00:00: &lt;&amp;?&gt;\\x1b]\\xff\"'</title></path>"));
        ck_assert_ptr_nonnull(strstr(text, "><title>2009-11-22 08:00:00: kernel: md0_resync</title></path>"));
        ck_assert_uint_eq(count(text, ">Sun 22 Nov</text>"), 2);
        ck_assert_ptr_nonnull(strstr(text, ">2 wakes, 11.0 h asleep</text>"));
        ck_assert_ptr_nonnull(strstr(text, ">1 wake</text>"));
        ck_assert_ptr_null(strstr(text, ">0 wakes"));
        /* The fifth and the sixth day: nothing known, 07:00 to 17:00 asleep, then awake. Woken at 17:00. */
        ck_assert_ptr_nonnull(strstr(text,
                                     "<rect x=\"100\" y=\"156\" width=\"210\" height=\"14\" fill=\"url(#unknown)\"/>\n"
                                     "<rect x=\"310\" y=\"166\" width=\"300\" height=\"4\" fill=\"#3b6fb6\"/>\n"
                                     "<rect x=\"610\" y=\"156\" width=\"120\" height=\"14\" fill=\"#e08a1e\"/>\n"));
        ck_assert_ptr_nonnull(strstr(text, "<path d=\"M610 153v17\" "));
        for (size_t i = 0; i < 3; i++)
                ck_assert_ptr_nonnull(strstr(text, ((const char *const[]){ ">asleep<", ">awake<", ">not known<" })[i]));
        /* Nothing of it is elsewhere. */
        ck_assert_ptr_null(strstr(text, "script"));
        ck_assert_ptr_null(strstr(text, "href"));

        ck_assert_int_eq(show(WORDS("--svg=-", "sda", "sdb"), &piped, &none), EXIT_WANTED);
        ck_assert_str_eq(piped, text);
}
END_TEST

/* Another user has put a link to a directory of root's in the place of one of theirs. */
START_TEST(test_planted) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(mkdir("etc", 0755), 0);
        ck_assert_int_eq(mkdir("theirs", 0755), 0);
        ck_assert_int_eq(chmod("theirs", 0777), 0);
        ck_assert_int_eq(symlink("../etc", "theirs/planted"), 0);
        ck_assert_int_eq(show(WORDS("--svg", "theirs/planted/x.svg", "sda"), &out, &err), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(
                        strstr(err, "x.svg cannot be written: its path has a symbolic link that another user may"));
        ck_assert_int_lt(access("etc/x.svg", F_OK), 0);
}
END_TEST

/* ---- nothing ---- */

/* clang-format off */
static const struct {
        const char *words[6];
        size_t n_records;
        bool is_readable;
        int status;
        const char *out, *said;
} others[] = {
        { { "--plot", "--json" }, 5, true, EXIT_BAD_INPUT, "", "say --plot or --svg alone" },
        { { "--plot", "--svg=x.svg" }, 5, true, EXIT_BAD_INPUT, "", "say --plot or --svg alone" },
        { { "--svg=x.svg", "--json" }, 5, true, EXIT_BAD_INPUT, "", "say --plot or --svg alone" },
        { { "--plot", "--identify=x" }, 5, true, EXIT_BAD_INPUT, "", "say --plot or --svg alone" },
        { { "--plot", "sdq" }, 5, true, EXIT_BAD_INPUT, "", "'sdq' is no drive that drivekeep knows" },
        { { "--plot", "sda" }, 5, false, EXIT_BAD_INPUT, "", "journal" },
        { { "--svg=x.svg" }, 5, false, EXIT_BAD_INPUT, "", "journal" },
        { { "--svg=missing/x.svg" }, 5, true, EXIT_BAD_INPUT, "", "missing/x.svg cannot be written: No such file or directory\n" },
        { { "--svg=/dev/null" }, 5, true, EXIT_BAD_INPUT, "", "/dev/null is not a regular file, and is left as it is" },
        { { "--svg=link" }, 5, true, EXIT_BAD_INPUT, "", "link is not a regular file, and is left as it is" },
        { { "--svg=x\x1b/y" }, 5, true, EXIT_BAD_INPUT, "", "x\\x1b/y cannot be written: No such file or directory\n" },
        { { "--plot", "nvme0n1", "--no-legend" }, 0, true, EXIT_WANTED,
          "nvme0n1  N1\n" BEFORE
          "Sat 21 Nov  ????????????????????????????????????????????????      -       -\n"
          "Sun 22 Nov  ?????????????????????????????                         -       -\n",
          "no wake of these drives has been recorded" },
        { { "--plot", "--state-dir=missing" }, 0, true, EXIT_WANTED, "", "no wake has been recorded" },
        { { "--svg=x.svg", "--state-dir=missing" }, 0, true, EXIT_WANTED, "", "no wake has been recorded" },
};
/* clang-format on */

START_TEST(test_other) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(symlink("state/sda", "link"), 0);
        journal_set(some, ELEMENTSOF(some), others[_i].n_records);
        is_readable = others[_i].is_readable;
        ck_assert_int_eq(show(others[_i].words, &out, &err), others[_i].status);
        ck_assert_str_eq(out, others[_i].out);
        ck_assert_msg(strstr(err, others[_i].said), "%s", err);
        ck_assert_uint_eq(count(err, "\n"), 1);
        if (others[_i].status == EXIT_WANTED && starts_with(others[_i].words[0], "--svg"))
                assert_is_xml("x.svg");
        else
                ck_assert_int_lt(access("x.svg", F_OK), 0);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("plot");

        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_loop_test(t, test_text, 0, ELEMENTSOF(texts));
        tcase_add_test(t, test_ended);
        tcase_add_test(t, test_svg);
        tcase_add_test(t, test_planted);
        tcase_add_loop_test(t, test_other, 0, ELEMENTSOF(others));
        return test_main("cli-plot", t);
}
