/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that `drivekeep status --metrics` replaces its output file atomically. */

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "root-files.h"
#include "safe-file.h"
#include "test-cli.h"

static int lock;

uid_t geteuid(void) {
        return 0;
}

static void lock_state(void) {
        scratch_make();
        lock = record_directory_lock(".");
        ck_assert_int_ge(lock, 0);
}

static void unlock_state(void) {
        ck_assert_int_eq(close(lock), 0);
        scratch_remove();
}

static const char record[] =
                "VERSION=1\nNAME=sda\nTRANSPORT=sata\nPOWER=standby\nSETTINGS=1\n"
                "SETTING_0_NAME=apm\nSETTING_0_WANTED=128\nSETTING_0_ACTUAL=off\nSETTING_0_VERDICT=ignored\n";

/* A state file that contains only the drive's name. */
static const char bare[] = "VERSION=1\nNAME=sdb\nSETTINGS=0\n";

static int metrics(const char *drive) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        int r = verb_catch(&verb_status, ".", (const char *const[]){ "--metrics", "--output=x.prom", drive, NULL },
                           &out, &err);

        ck_assert_str_eq(out, "");
        return r;
}

static void read_whole(const char *path, char *text, size_t size) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

        ck_assert_int_ge(n, 0);
        text[n] = '\0';
        ck_assert_int_eq(close(fd), 0);
}

#define N_READS 100000

/* While another process keeps replacing the file, each of 100,000 reads finds a complete old or new file. */
START_TEST(test_atomic_replace) {
        static char texts[2][16384], text[16384];
        unsigned n_seen[2] = {};
        int status;
        pid_t pid;

        for (unsigned i = 0; i < 2; i++) {
                file_write("sda", i == 0 ? record : bare);
                if (i == 1)
                        ck_assert_int_eq(rename("sda", "sdb"), 0);
                ck_assert_int_eq(metrics(i == 0 ? "sda" : "sdb"), EXIT_WANTED);
                read_whole("x.prom", texts[i], sizeof texts[i]);
                file_write("sda", record);
        }
        ck_assert_str_ne(texts[0], texts[1]);

        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                char *argv[] = { (char *) "status",
                                 (char *) "--state-dir=.",
                                 (char *) "--metrics",
                                 (char *) "--output=x.prom",
                                 NULL,
                                 NULL };

                for (unsigned i = 0;; i++) {
                        argv[4] = (char *) (i % 2 ? "sda" : "sdb");
                        if (verb_run(&verb_status, 5, argv) != EXIT_WANTED)
                                _exit(1);
                }
        }
        for (unsigned i = 0; i < N_READS || n_seen[0] == 0 || n_seen[1] == 0; i++) {
                read_whole("x.prom", text, sizeof text);
                ck_assert(streq(text, texts[0]) || streq(text, texts[1]));
                n_seen[streq(text, texts[1])]++;
        }
        ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("cli-metrics-file");

        tcase_set_timeout(t, 0);
        tcase_add_checked_fixture(t, lock_state, unlock_state);
        tcase_add_test(t, test_atomic_replace);
        return test_main("cli-metrics-file", t);
}
