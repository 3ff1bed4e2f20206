/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep alert`: what is told, by whom, and how often. */

#include <limits.h>

#include "alert-note.h"
#include "own-clock.h"
#include "test-cli.h"
#include "text-file.h"

static int lock;
static const char *host;
static char manual[PATH_MAX];

int gethostname(char *name, size_t size) {
        (void) snprintf(name, size, "%s", host);
        return 0;
}

/* Check measures how long a test takes by the clock that is the test's: each sets it back at its end. */

/* What the program of the administrator's was told: its argument, and what it read. */
#define OWN "etc/drivekeep/alert"
#define WRITE_DOWN "#!/bin/sh\n{ echo \"$*\"; cat; } >>told.txt\n"
#define FAIL "#!/bin/sh\ncat >/dev/null\nexit 7\n"

static void program_write(const char *path, const char *text) {
        file_make(path, text);
        ck_assert_int_eq(chmod(path, 0755), 0);
}

static void set_up(void) {
        scratch_make();
        host = "nas";
        ck_assert_int_eq(mkdir("drives", 0755), 0);
        lock = record_directory_lock("drives");
        ck_assert_int_ge(lock, 0);
        ck_assert_int_eq(mkdir("notes", 0755), 0);
        ck_assert_int_eq(setenv("STATE_DIRECTORY", "notes", true), 0);
        program_write(OWN, WRITE_DOWN);
}

static void tear_down(void) {
        ck_assert_int_eq(close(lock), 0);
        scratch_remove();
}

/* A drive with one setting or two; a verdict that is NULL: it has no such setting. */
static void drive_write(const char *name, const char *apm, const char *lookahead) {
        _cleanup_free_ char *path = NULL, *text = NULL, *first = NULL, *second = NULL;

        ck_assert_int_gt(
                        asprintf(&first, "SETTING_0_NAME=apm\nSETTING_0_WANTED=128\nSETTING_0_VERDICT=%s\n", apm ?: ""),
                        0);
        ck_assert_int_gt(asprintf(&second, "SETTING_%d_NAME=lookahead\nSETTING_%d_VERDICT=%s\n", !!apm, !!apm,
                                  lookahead ?: ""),
                         0);
        ck_assert_int_gt(asprintf(&text, "VERSION=1\nNAME=%s\nSERIAL=SN-%s\nVISIT_WHEN=5\nSETTINGS=%d\n%s%s", name,
                                  name, !!apm + !!lookahead, apm ? first : "", lookahead ? second : ""),
                         0);
        ck_assert_int_gt(asprintf(&path, "drives/%s", name), 0);
        file_write(path, text);
}

static int alert(char **ret_err) {
        _cleanup_free_ char *out = NULL;
        int r = verb_catch(&verb_alert, "drives", (const char *const[]){ "--config-root=etc", NULL }, &out, ret_err);

        ck_assert_str_eq(out, "");
        return r;
}

/* What is told now; "" where nobody is. */
static const char *told(int status) {
        static char text[16384];
        _cleanup_free_ char *err = NULL;

        (void) unlink("told.txt");
        ck_assert_int_eq(alert(&err), status);
        ck_assert_str_eq(err, "");
        file_read("told.txt", text, sizeof text);
        return text;
}

#define assert_told(status, ...)                                                    \
        do {                                                                        \
                const char *const words[] = { __VA_ARGS__ }, *_told = told(status); \
                for (size_t i = 0; i < ELEMENTSOF(words); i++)                      \
                        ck_assert_ptr_nonnull(strstr(_told, words[i]));             \
        } while (false)

/* A service that was taken over can write any name into its files. Only a name of the kernel's reaches a subject. */
START_TEST(test_names) {
        static const char text[] = "VERSION=1\nNAME=%s\nSETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_VERDICT=refused\n";
        static const char *const names[][2] = { { "sda\nTo: x", "sda\\x0aTo: x" }, { "sda\033[2J", "sda\\x1b[2J" } };
        _cleanup_free_ char *err = NULL;

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_free_ char *path = NULL, *record = NULL;

                ck_assert(asprintf(&path, "drives/%s", names[i][0]) > 0 && asprintf(&record, text, names[i][1]) > 0);
                file_write(path, record);
        }
        ck_assert_int_eq(alert(&err), EXIT_WANTED);
        ck_assert_int_lt(access("told.txt", F_OK), 0);
        ck_assert_ptr_nonnull(strstr(err, "drives/sda\\x0aTo: x cannot be read"));
        ck_assert_ptr_nonnull(strstr(err, "drives/sda\\x1b[2J cannot be read"));
}
END_TEST

/* Also of a host's name that DHCP gave. */
START_TEST(test_host) {
        host = "nas\nTo: x";
        drive_write("sda", "refused", NULL);
        assert_told(EXIT_WANTED, "nas\\x0aTo: x: settings of sda have not come true\n");
}
END_TEST

/* The manual's program, with a curl that writes its arguments down. */
START_TEST(test_manual) {
        static const char begin[] = "#!/bin/sh\nexec curl";
        _cleanup_free_ char *path = NULL;
        char page[32768], *text, *to;

        if (access(manual, R_OK) < 0) {
                printf("skipped: the manual's program, as there is no manual\n");
                return;
        }
        file_read(manual, page, sizeof page);
        text = strstr(page, begin);
        ck_assert_ptr_nonnull(text);
        to = text;
        for (const char *p = text; !starts_with(p, "\n.Ed"); p++)
                if (*p != '\\')
                        *to++ = *p;
        *to = '\0';
        program_write(OWN, text);
        program_write("bin/curl", "#!/bin/sh\nprintf '%s\\n' \"$@\" >>told.txt\ncat >>told.txt\n");
        ck_assert_int_gt(asprintf(&path, "%s/bin:%s", scratch, getenv("PATH")), 0);
        ck_assert_int_eq(setenv("PATH", path, true), 0);

        drive_write("sda", "refused", NULL);
        assert_told(EXIT_WANTED, "\nTitle: nas: settings of sda have not come true\n--data-binary\n@-\nhttps://",
                    "refused");
}
END_TEST

START_TEST(test_told) {
        const char *text;

        drive_write("sda", "applied", "unchanged");
        drive_write("sdb", "refused", "applied");
        text = told(EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(text, ": settings of sdb have not come true\n"));
        ck_assert_ptr_nonnull(strstr(text, "refused"));
        ck_assert_ptr_null(strstr(text, "sda"));
        ck_assert_ptr_null(strstr(text, "lookahead"));

        /* Once, whatever happens to the service or to this command. */
        ck_assert_str_eq(told(EXIT_WANTED), "");
        passed_usec += 30 * 86400LL * 1000000;
        ck_assert_str_eq(told(EXIT_WANTED), "");
        passed_usec = 0;
}
END_TEST

/* clang-format off */
static const struct { const char *verdict; bool told; } verdicts[] = {
        { "applied" }, { "unchanged" }, { "adjusted" }, { "unverifiable" }, { "ignored", true }, { "drifted", true },
        { "unsupported" }, { "refused", true }, { "forbidden" }, { "quarantined", true }, { "deferred" }, { "failed", true },
        { "vanished" },
};
/* clang-format on */

START_TEST(test_verdict) {
        drive_write("sda", verdicts[_i].verdict, NULL);
        ck_assert_int_eq(*told(EXIT_WANTED) != '\0', verdicts[_i].told);
}
END_TEST

/* More of the same drive within the hour waits for the end of it; another drive does not. */
START_TEST(test_hour) {
        drive_write("sda", "refused", NULL);
        assert_told(EXIT_WANTED, "sda");
        passed_usec += 3599 * 1000000LL;
        drive_write("sda", "refused", "ignored");
        drive_write("sdb", "failed", NULL);
        assert_told(EXIT_LATER, "settings of sdb have");
        ck_assert_str_eq(told(EXIT_LATER), "");
        passed_usec += 1000000;
        assert_told(EXIT_WANTED, "settings of sda have", "ignored");
        ck_assert_str_eq(told(EXIT_WANTED), "");
        passed_usec = 0;
}
END_TEST

/* A clock that was wrong when something was told, and is set back. */
START_TEST(test_clock) {
        drive_write("sda", "refused", NULL);
        assert_told(EXIT_WANTED, "sda");
        passed_usec -= 86400 * 1000000LL;
        drive_write("sda", "ignored", NULL);
        assert_told(EXIT_WANTED, "sda");
        passed_usec = 0;
}
END_TEST

/* What becomes of a setting that was told of, and whether it is told of when it is refused again. */
/* clang-format off */
static const struct { const char *apm, *lookahead; bool again; } after[] = {
        { "applied",     "applied", true },
        { "unsupported", "applied" },
        { "deferred",    "applied" },
        { "vanished",    "applied" },
        { "ignored",     "applied", true },
        { NULL,          "applied" }, /* nobody knows */
        { "deferred",    "drifted" }, /* something else is told of meanwhile */
};
/* clang-format on */

START_TEST(test_again) {
        drive_write("sda", "refused", "applied");
        assert_told(EXIT_WANTED, "sda");
        passed_usec += 7200 * 1000000LL;
        drive_write("sda", after[_i].apm, after[_i].lookahead);
        (void) told(EXIT_WANTED);
        passed_usec += 7200 * 1000000LL;
        drive_write("sda", "refused", "applied");
        ck_assert_int_eq(*told(EXIT_WANTED) != '\0', after[_i].again);
        passed_usec = 0;
}
END_TEST

/* A drive that is gone for a while has not been mended, and has another name afterwards. */
START_TEST(test_renamed) {
        file_write("drives/sda",
                   "VERSION=1\nNAME=sda\nWWN=0x5\nSETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_VERDICT=refused\n");
        assert_told(EXIT_WANTED, "sda");
        ck_assert_int_eq(unlink("drives/sda"), 0);
        ck_assert_str_eq(told(EXIT_WANTED), "");
        passed_usec += 7200 * 1000000LL;
        file_write("drives/sdq",
                   "VERSION=1\nNAME=sdq\nWWN=0x5\nSETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_VERDICT=refused\n");
        ck_assert_str_eq(told(EXIT_WANTED), "");
        passed_usec = 0;
}
END_TEST

/* Two behind cheap USB bridges, which have the same serial number and no WWN. */
START_TEST(test_same_serial) {
        static const char text[] =
                        "VERSION=1\nNAME=%s\nSERIAL=0123\nSETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_VERDICT=%s\n";
        _cleanup_free_ char *bad = NULL, *good = NULL, *other = NULL;

        ck_assert(asprintf(&bad, text, "sda", "refused") > 0 && asprintf(&good, text, "sdb", "applied") > 0 &&
                  asprintf(&other, text, "sdb", "refused") > 0);
        file_write("drives/sda", bad);
        file_write("drives/sdb", good);
        assert_told(EXIT_WANTED, "settings of sda have");
        passed_usec += 7200 * 1000000LL;
        ck_assert_str_eq(told(EXIT_WANTED), "");
        file_write("drives/sdb", other);
        assert_told(EXIT_WANTED, "settings of sdb have");
        passed_usec = 0;
}
END_TEST

static ino_t notes_inode(void) {
        struct stat st;

        ck_assert_int_eq(stat("notes/told", &st), 0);
        return st.st_ino;
}

/* The drive that the file is on is not written to for nothing; and what is about nothing any more is not kept. */
START_TEST(test_notes) {
        char text[4096];
        ino_t before;

        drive_write("sda", "refused", NULL);
        assert_told(EXIT_WANTED, "sda");
        before = notes_inode();
        drive_write("sda", "deferred", NULL);
        drive_write("sdb", "applied", NULL);
        ck_assert_str_eq(told(EXIT_WANTED), "");
        ck_assert_uint_eq(notes_inode(), before);

        drive_write("sda", "applied", NULL);
        ck_assert_str_eq(told(EXIT_WANTED), "");
        ck_assert_uint_ne(notes_inode(), before);
        file_read("notes/told", text, sizeof text);
        ck_assert_ptr_nonnull(strstr(text, "\nNOTES=1\n"));
        passed_usec += 3600 * 1000000LL;
        ck_assert_str_eq(told(EXIT_WANTED), "");
        file_read("notes/told", text, sizeof text);
        ck_assert_ptr_nonnull(strstr(text, "\nNOTES=0\n"));
        passed_usec = 0;
}
END_TEST

#define NOTES_MAX 4096U

/* More are not kept: the oldest one makes room. */
START_TEST(test_many_notes) {
        static char text[1U << 20];
        FILE *f = fopen("notes/told", "we");

        ck_assert_ptr_nonnull(f);
        fprintf(f, "VERSION=1\nNOTES=%u\n", NOTES_MAX);
        for (unsigned i = 0; i < NOTES_MAX; i++)
                fprintf(f, "NOTE_%u_DRIVE=0x%u\nNOTE_%u_WHEN=%u\nNOTE_%u_TOLD=apm=refused\n", i, i, i, i == 77 ? 1 : 9,
                        i);
        ck_assert_int_eq(fclose(f), 0);

        drive_write("sda", "refused", NULL);
        assert_told(EXIT_WANTED, "sda");
        ck_assert_str_eq(told(EXIT_WANTED), "");
        file_read("notes/told", text, sizeof text);
        ck_assert_ptr_nonnull(strstr(text, "=SN-sda sda\n"));
        ck_assert_ptr_nonnull(strstr(text, "=0x76\n"));
        ck_assert_ptr_null(strstr(text, "=0x77\n"));
}
END_TEST

START_TEST(test_many) {
        char name[] = "sda";

        for (; name[2] < 'h'; name[2]++)
                drive_write(name, "refused", NULL);
        assert_told(EXIT_WANTED, "settings of sda, sdb, sdc, sdd, sde and 2 more have", "sdg");
        ck_assert_str_eq(told(EXIT_WANTED), "");
}
END_TEST

/* clang-format off */
static const struct { const char *own, *mail, *sentence; } senders[] = {
        { WRITE_DOWN, FAIL,       NULL },
        { NULL,       WRITE_DOWN, NULL },
        { FAIL,       WRITE_DOWN, "nobody was told: etc/drivekeep/alert ended with status 7" },
        { "#!/bin/sh\nkill -9 $$\n", WRITE_DOWN, "nobody was told: etc/drivekeep/alert ended with signal 9" },
        { "",         WRITE_DOWN, "etc/drivekeep/alert cannot be started" }, /* not for execution */
        { NULL,       FAIL,       "nobody was told: mail ended with status 7" },
        { NULL,       NULL,       "there is no program 'mail'" },
};
/* clang-format on */

/* Where nobody could be told, it is tried again. */
START_TEST(test_sender) {
        _cleanup_free_ char *err = NULL, *path = NULL;
        bool by_mail = !senders[_i].own;
        char text[4096], directory[PATH_MAX];

        ck_assert_int_eq(unlink(OWN), 0);
        if (senders[_i].own && *senders[_i].own)
                program_write(OWN, senders[_i].own);
        else if (senders[_i].own)
                file_write(OWN, "#!/bin/sh\n");
        ck_assert_int_eq(mkdir("bin", 0755), 0);
        if (senders[_i].mail)
                program_write("bin/mail", senders[_i].mail);
        ck_assert_ptr_nonnull(getcwd(directory, sizeof directory));
        ck_assert_int_gt(asprintf(&path, "%s/bin%s", directory, senders[_i].mail ? ":/usr/bin:/bin" : ""), 0);
        ck_assert_int_eq(setenv("PATH", path, true), 0);

        drive_write("sda", "refused", NULL);
        ck_assert_int_eq(alert(&err), senders[_i].sentence ? EXIT_BAD_INPUT : EXIT_WANTED);
        file_read("told.txt", text, sizeof text);
        if (senders[_i].sentence) {
                ck_assert_ptr_nonnull(strstr(err, senders[_i].sentence));
                ck_assert_str_eq(text, "");
                program_write(OWN, WRITE_DOWN);
                ck_assert_int_eq(setenv("PATH", "/usr/bin:/bin", true), 0);
                assert_told(EXIT_WANTED, "sda");
                return;
        }
        ck_assert_str_eq(err, "");
        ck_assert_int_eq(starts_with(text, "-s "), by_mail);
        ck_assert_ptr_nonnull(strstr(text, by_mail ? "have not come true root\n" : "have not come true\n"));
        ck_assert_ptr_nonnull(strstr(text, "refused"));
}
END_TEST

/* clang-format off */
static const char *const hostile[] = {
        "", "x", "VERSION=2\nNOTES=0\n", "VERSION=1\nNOTES=1\n", "VERSION=1\nNOTES=1\nNOTE_0_WHEN=5\n",
        "VERSION=1\nNOTES=1\nNOTE_0_DRIVE=SN-sda\n", "VERSION=1\nNOTES=1\nNOTE_0_DRIVE=SN-sda\nNOTE_0_TOLD=;;=;apm;=refused\n",
};
/* clang-format on */

START_TEST(test_hostile) {
        file_write("notes/told", hostile[_i]);
        drive_write("sda", "refused", NULL);
        assert_told(EXIT_WANTED, "sda");
        ck_assert_str_eq(told(EXIT_WANTED), "");
}
END_TEST

START_TEST(test_no_notes) {
        _cleanup_free_ char *err = NULL;

        drive_write("sda", "refused", NULL);
        /* One that is not there is made. */
        ck_assert_int_eq(setenv("STATE_DIRECTORY", "fresh", true), 0);
        assert_told(EXIT_WANTED, "sda");
        ck_assert_str_eq(told(EXIT_WANTED), "");
        ck_assert_int_eq(setenv("STATE_DIRECTORY", "missing/directory", true), 0);
        ck_assert_int_eq(alert(&err), EXIT_BAD_INPUT);
        ck_assert_ptr_nonnull(
                        strstr(err, "missing/directory/told cannot be written, so the same may be told once more: "));
}
END_TEST

/* The service has not run in this boot. */
START_TEST(test_no_records) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(verb_catch(&verb_alert, "missing", NULL, &out, &err), EXIT_WANTED);
        ck_assert_str_eq(err, "");
        ck_assert_int_eq(access("notes/told", F_OK), -1);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("cli-alert");
        char root[PATH_MAX / 2];

        (void) snprintf(manual, sizeof manual, "%s/man/drivekeep-fleet.7", getcwd(root, sizeof root) ?: "");

        tcase_add_checked_fixture(t, set_up, tear_down);
        tcase_add_test(t, test_told);
        tcase_add_test(t, test_names);
        tcase_add_test(t, test_host);
        tcase_add_test(t, test_manual);
        tcase_add_loop_test(t, test_verdict, 0, ELEMENTSOF(verdicts));
        tcase_add_test(t, test_hour);
        tcase_add_test(t, test_clock);
        tcase_add_loop_test(t, test_again, 0, ELEMENTSOF(after));
        tcase_add_test(t, test_renamed);
        tcase_add_test(t, test_same_serial);
        tcase_add_test(t, test_notes);
        tcase_add_test(t, test_many_notes);
        tcase_add_test(t, test_many);
        tcase_add_loop_test(t, test_sender, 0, ELEMENTSOF(senders));
        tcase_add_loop_test(t, test_hostile, 0, ELEMENTSOF(hostile));
        tcase_add_test(t, test_no_notes);
        tcase_add_test(t, test_no_records);
        return test_main("cli-alert", t);
}
