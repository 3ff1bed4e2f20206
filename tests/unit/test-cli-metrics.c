/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep status --metrics`: state files in, Prometheus' text format out; and the file that is exchanged for another one while others
 * read it. */

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "metrics.h"
#include "root-files.h"
#include "stack.h"
#include "test-cli.h"
#include "text-file.h"

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
                "VERSION=1\nNAME=sda\nSERIAL=S\\x22\\x5c\\x0a1\nWWN=0x5000\nMODEL=A B\nTRANSPORT=sata\nPOWER=standby\n"
                "VISITS=boot 1 resume 3\nVISIT_WHEN=1763692751123456\nWAKES=smartd.service 3 kernel 2\n"
                "WEAR_LOAD_CYCLES=1017\nSETTINGS=8\n"
                "SETTING_0_NAME=apm\nSETTING_0_WANTED=128\nSETTING_0_ACTUAL=off\nSETTING_0_VERDICT=ignored\n"
                "SETTING_1_NAME=spindown_time\nSETTING_1_WANTED=20 min\nSETTING_1_VERDICT=unverifiable\n"
                "SETTING_2_NAME=read_ahead_kb\nSETTING_2_WANTED=512 KiB\nSETTING_2_ACTUAL=128 KiB\n"
                "SETTING_2_VERDICT=drifted\n"
                "SETTING_3_NAME=lookahead\nSETTING_3_WANTED=on\nSETTING_3_ACTUAL=off\nSETTING_3_VERDICT=refused\n"
                "SETTING_4_NAME=error_recovery\nSETTING_4_WANTED=7 s\nSETTING_4_ACTUAL=6.543 s\n"
                "SETTING_5_NAME=scheduler\nSETTING_5_WANTED=mq-deadline\nSETTING_5_ACTUAL=mq-deadline\n"
                "SETTING_5_VERDICT=unchanged\n"
                "SETTING_6_NAME=no_such_setting\nSETTING_6_WANTED=5\nSETTING_6_ACTUAL=5\nSETTING_6_VERDICT=unsupported\n"
                "SETTING_6_OPTIONAL=1\n"
                "SETTING_7_NAME=wbt_lat_usec\nSETTING_7_WANTED=75000 us\nSETTING_7_VERDICT=applied\n";

/* Only a name is known of it. */
static const char bare[] = "VERSION=1\nNAME=sdb\nSETTINGS=0\n";

/* Without what says which metric it is (# HELP, # TYPE). */
static const char samples[] =
                "drivekeep_build_info{version=\"" DRIVEKEEP_VERSION "\"} 1\n"
                "drivekeep_up 1\n"
                "drivekeep_configuration_errors 2\n"
                "drivekeep_drive_info{device=\"sda\",wwn=\"0x5000\",serial=\"S\\\"\\\\\\\\x0a1\",model=\"A B\","
                "transport=\"sata\",firmware=\"\"} 1\n"
                "drivekeep_drive_info{device=\"sdb\",wwn=\"\",serial=\"\",model=\"\",transport=\"\",firmware=\"\"} 1\n"
                "drivekeep_drive_asleep{device=\"sda\"} 1\n"
                "drivekeep_visits_total{device=\"sda\",reason=\"boot\"} 1\n"
                "drivekeep_visits_total{device=\"sda\",reason=\"resume\"} 3\n"
                "drivekeep_last_visit_timestamp_seconds{device=\"sda\"} 1763692751.123456\n"
                "drivekeep_wakes_total{device=\"sda\",unit=\"smartd.service\"} 3\n"
                "drivekeep_wakes_total{device=\"sda\",unit=\"kernel\"} 2\n"
                "drivekeep_load_cycles_total{device=\"sda\"} 1017\n"
                "drivekeep_load_cycles_rated{device=\"sda\"} 600000\n"
                "drivekeep_setting_ok{device=\"sda\",setting=\"apm\"} 0\n"
                "drivekeep_setting_ok{device=\"sda\",setting=\"spindown_time\"} 1\n"
                "drivekeep_setting_ok{device=\"sda\",setting=\"read_ahead_kb\"} 0\n"
                "drivekeep_setting_ok{device=\"sda\",setting=\"lookahead\"} 0\n"
                "drivekeep_setting_ok{device=\"sda\",setting=\"error_recovery\"} 0\n"
                "drivekeep_setting_ok{device=\"sda\",setting=\"scheduler\"} 1\n"
                "drivekeep_setting_ok{device=\"sda\",setting=\"no_such_setting\"} 1\n"
                "drivekeep_setting_ok{device=\"sda\",setting=\"wbt_lat_usec\"} 1\n"
                "drivekeep_setting_verdict{device=\"sda\",setting=\"apm\",verdict=\"ignored\"} 1\n"
                "drivekeep_setting_verdict{device=\"sda\",setting=\"spindown_time\",verdict=\"unverifiable\"} 1\n"
                "drivekeep_setting_verdict{device=\"sda\",setting=\"read_ahead_kb\",verdict=\"drifted\"} 1\n"
                "drivekeep_setting_verdict{device=\"sda\",setting=\"lookahead\",verdict=\"refused\"} 1\n"
                "drivekeep_setting_verdict{device=\"sda\",setting=\"error_recovery\",verdict=\"pending\"} 1\n"
                "drivekeep_setting_verdict{device=\"sda\",setting=\"scheduler\",verdict=\"unchanged\"} 1\n"
                "drivekeep_setting_verdict{device=\"sda\",setting=\"no_such_setting\",verdict=\"unsupported\"} 1\n"
                "drivekeep_setting_verdict{device=\"sda\",setting=\"wbt_lat_usec\",verdict=\"applied\"} 1\n"
                "drivekeep_setting_wanted{device=\"sda\",setting=\"apm\"} 128\n"
                "drivekeep_setting_wanted{device=\"sda\",setting=\"spindown_time\"} 1200\n"
                "drivekeep_setting_wanted{device=\"sda\",setting=\"read_ahead_kb\"} 524288\n"
                "drivekeep_setting_wanted{device=\"sda\",setting=\"lookahead\"} 1\n"
                "drivekeep_setting_wanted{device=\"sda\",setting=\"error_recovery\"} 7\n"
                "drivekeep_setting_wanted{device=\"sda\",setting=\"wbt_lat_usec\"} 0.075\n"
                "drivekeep_setting_actual{device=\"sda\",setting=\"read_ahead_kb\"} 131072\n"
                "drivekeep_setting_actual{device=\"sda\",setting=\"lookahead\"} 0\n"
                "drivekeep_setting_actual{device=\"sda\",setting=\"error_recovery\"} 6.543\n";

/* Each metric has its two lines before its samples, and all samples of a metric stand together: removes these lines. */
static void strip_heads(char *text) {
        char *to = text, name[80] = "", seen[4096] = "";

        for (char *line = text, *next; *line; line = next) {
                size_t len = strcspn(line, "{ ");

                next = strchr(line, '\n') + 1;
                if (sscanf(line, "# HELP %79s", name) == 1) {
                        ck_assert_ptr_null(strstr(seen, name));
                        (void) strcat(strcat(seen, name), "\n");
                        ck_assert(starts_with(next, "# TYPE ") && starts_with(next + strlen("# TYPE "), name));
                        ck_assert(starts_with(next + strlen("# TYPE ") + strlen(name),
                                              ends_with(name, "_total") ? " counter\n" : " gauge\n"));
                } else if (!starts_with(line, "# TYPE ")) {
                        ck_assert(len == strlen(name) && starts_with(line, name));
                        memmove(to, line, (size_t) (next - line));
                        to += next - line;
                }
        }
        *to = '\0';
}

START_TEST(test_format) {
        _cleanup_free_ char *text = NULL;
        Records records = {};

        file_write("sda", record);
        file_write("sdb", bare);
        ck_assert_int_eq(records_read(".", &records), 0);
        text = metrics_format(&records, records.n_items, 2);
        strip_heads(text);
        ck_assert_str_eq(text, samples);
        records_done(&records);
}
END_TEST

static int metrics(const char *const *words, char **ret_out, char **ret_err) {
        return verb_catch(&verb_status, ".", words, ret_out, ret_err);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Also of a service that does not run, or has not run in this boot. */
START_TEST(test_not_served) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        const char *dir = _i == 0 ? "missing" : "."; /* no directory; no lock */

        ck_assert_int_eq(unlink(".lock"), 0);
        ck_assert_int_eq(verb_catch(&verb_status, dir, WORDS("--metrics"), &out, &err), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(out, "\ndrivekeep_up 0\n"));
        ck_assert_str_eq(err, "");
}
END_TEST

/* Of the named drives alone; what is not as wanted is no failure of this command. */
START_TEST(test_names) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        file_write("sda", record);
        file_write("sdb", bare);
        ck_assert_int_eq(metrics(WORDS("--metrics", "sda"), &out, &err), EXIT_WANTED);
        ck_assert(strstr(out, "device=\"sda\"") && !strstr(out, "device=\"sdb\""));
        ck_assert_str_eq(err, "");
}
END_TEST

/* clang-format off */
static const struct { const char *words[3], *sentence; } wrong[] = {
        { { "--output=x" },               "--output is for --metrics" },
        { { "--metrics", "--json" },      "without --now, --json and --failed" },
        { { "--metrics", "--failed" },    "without --now, --json and --failed" },
        { { "--metrics", "--now" },       "without --now, --json and --failed" },
        { { "--metrics", "sdq" },         "'sdq' is no drive" },
        { { "--metrics", "--output=a/b" },"a/b cannot be written, as there is no directory a" },
        { { "--metrics", "--output=." },  ". cannot be written: " },
};
/* clang-format on */

START_TEST(test_wrong) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(metrics(wrong[_i].words, &out, &err), EXIT_BAD_INPUT);
        ck_assert_str_eq(out, "");
        ck_assert_ptr_nonnull(strstr(err, wrong[_i].sentence));
}
END_TEST

/* ---- the file ---- */

static void read_whole(const char *path, char *text, size_t size) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

        ck_assert_int_ge(n, 0);
        text[n] = '\0';
        ck_assert_int_eq(close(fd), 0);
}

/* Writing the file must not wake the drive it is on. The kernel decides which drive that is: /tmp may be in memory, /var/tmp is not. */
START_TEST(test_sleeping) {
        _cleanup_free_ char *out = NULL, *err = NULL, *device = NULL, *text = NULL;
        char dir[] = "/var/tmp/drivekeep-test-XXXXXX", output[64];
        const char *file = output + strlen("--output=");
        _cleanup_(names_freep) char **disks = NULL;
        struct stat st;

        ck_assert_ptr_nonnull(mkdtemp(dir));
        ck_assert_int_eq(stat(dir, &st), 0);
        (void) snprintf(output, sizeof output, "--output=%s/x.prom", dir);
        if (stack_name(st.st_dev, &device) < 0 || stack_disks_below("/sys/class/block", device, &disks) < 0 || !disks) {
                tree_remove(dir);
                printf("skipped: a file on a drive in standby, as /var/tmp is on no drive\n");
                return;
        }

        ck_assert_int_gt(asprintf(&text, "VERSION=1\nNAME=%s\nPOWER=%s\nSETTINGS=0\n", disks[0],
                                  _i == 0 ? "active/idle" : "standby"),
                         0);
        file_write(disks[0], text);
        ck_assert_int_eq(metrics(WORDS("--metrics", output, _i == 2 ? "-q" : NULL), &out, &err), EXIT_WANTED);
        ck_assert_int_eq(access(file, F_OK), _i == 0 ? 0 : -1);
        tree_remove(dir);
        if (_i == 1)
                ck_assert_ptr_nonnull(strstr(err, "x.prom stays as it is until"));
        else
                ck_assert_str_eq(err, "");
}
END_TEST

/* Another user has put a link to a directory of root's in the place of one of theirs. */
START_TEST(test_planted) {
        static const char *const refused[] = { "--output=theirs/metrics/x.prom", "--output=to-planted/x.prom" };
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(mkdir("etc", 0755), 0);
        ck_assert_int_eq(mkdir("theirs", 0755), 0);
        ck_assert_int_eq(chmod("theirs", 0777), 0);
        ck_assert_int_eq(symlink("../etc", "theirs/metrics"), 0);
        ck_assert_int_eq(symlink("theirs/metrics", "to-planted"), 0);
        ck_assert_int_eq(symlink("theirs", "to-theirs"), 0);

        for (size_t i = 0; i < ELEMENTSOF(refused); i++) {
                ck_assert_int_eq(metrics(WORDS("--metrics", refused[i]), &out, &err), EXIT_BAD_INPUT);
                ck_assert_ptr_nonnull(strstr(
                                err, "x.prom cannot be written: its path has a symbolic link that another user may"));
                ck_assert_int_lt(access("etc/x.prom", F_OK), 0);
                ck_assert_int_lt(access("etc/x.prom.new~", F_OK), 0);
                free(TAKE_PTR(out));
                free(TAKE_PTR(err));
        }
        ck_assert_int_eq(metrics(WORDS("--metrics", "--output=to-theirs/x.prom"), &out, &err), EXIT_WANTED);
        ck_assert_int_eq(access("theirs/x.prom", F_OK), 0);
}
END_TEST

#define N_READS 100000

/* 100,000 reads beside a writer that exchanges the file for another one all the time: each finds the one or the other, whole. */
START_TEST(test_torn) {
        static char texts[2][16384], text[16384];
        unsigned n_seen[2] = {};
        int status;
        pid_t pid;

        for (unsigned i = 0; i < 2; i++) {
                _cleanup_free_ char *out = NULL, *err = NULL;

                file_write("sda", i == 0 ? record : bare);
                if (i == 1)
                        ck_assert_int_eq(rename("sda", "sdb"), 0);
                ck_assert_int_eq(metrics(WORDS("--metrics", "--output=x.prom", i == 0 ? "sda" : "sdb"), &out, &err),
                                 EXIT_WANTED);
                ck_assert_str_eq(out, "");
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
        TCase *t = tcase_create("cli-metrics");

        tcase_set_timeout(t, 0);
        tcase_add_checked_fixture(t, lock_state, unlock_state);
        tcase_add_test(t, test_format);
        tcase_add_loop_test(t, test_not_served, 0, 2);
        tcase_add_test(t, test_names);
        tcase_add_loop_test(t, test_wrong, 0, ELEMENTSOF(wrong));
        tcase_add_loop_test(t, test_sleeping, 0, 3);
        tcase_add_test(t, test_planted);
        tcase_add_test(t, test_torn);
        return test_main("cli-metrics", t);
}
