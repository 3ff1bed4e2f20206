/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep status` as a whole: state files in, text and exit status out. */

#include <argp.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "config.h"
#include "settings.h"
#include "test-cli.h"
#include "text-file.h"
#include "fake-outlets.h"
#include "tracefs.h"
#include "verb.h"

/* The obstacle to the kernel's trace; NULL: none. */
static const char *obstacle;
const char *tracefs_obstacle(const char *root) {
        ck_assert_str_eq(root, "");
        return obstacle;
}

/* Configuration files that stand in for the machine's. */
typedef struct ConfigFile {
        const char *name, *text;
} ConfigFile;
#define FILES_MAX 3U
static const ConfigFile *config_files;

int config_load(Config *c, const SettingTable *t, const char *const *roots) {
        ck_assert_str_eq(roots[0], "/etc");
        for (const ConfigFile *f = config_files; f && f < config_files + FILES_MAX && f->name; f++)
                if (f->text)
                        ck_assert_int_eq(config_parse(c, t, f->name, f->text, strlen(f->text)), 0);
                else /* it cannot be read */
                        ck_assert_int_eq(complain(&c->complaints, COMPLAINT_ERROR, f->name, 0, 0, "Permission denied"),
                                         0);
        return 0;
}

static int status(const char *second, const char *third, char **ret_out, char **ret_err) {
        char *argv[] = { (char *) "drivekeep status", (char *) "--state-dir=.", (char *) second, (char *) third, NULL };
        FILE *out = catch_begin(stdout), *err = catch_begin(stderr);
        int argc = 2, r;

        while (argv[argc])
                argc++;
        r = verb_run(&verb_status, argc, argv);

        *ret_out = catch_end(stdout, out);
        *ret_err = catch_end(stderr, err);
        return r;
}

static int lock;

static void records_write(void) {
        scratch_make();
        lock = record_directory_lock(".");
        ck_assert_int_ge(lock, 0);
        file_write("sda",
                   "VERSION=1\nNAME=sda\nSERIAL=5YD1\nSETTINGS=1\n"
                   "SETTING_0_NAME=apm\nSETTING_0_WANTED=128\nSETTING_0_ACTUAL=128\nSETTING_0_VERDICT=applied\n");
        file_write("sdb", "VERSION=1\nNAME=sdb\nSERIAL=5YD2\nSETTINGS=1\n"
                          "SETTING_0_NAME=apm\nSETTING_0_WANTED=128\nSETTING_0_VERDICT=refused\n"
                          "SETTING_0_REASON=status 51h, error 04h: \\x1b[31maborted\n");
}

/* clang-format off */
static const struct {
        const char *second, *third;
        int status;
        const char *out, *err; /* parts of what is said */
} cases[] = {
        { NULL,        NULL,     EXIT_NOT_WANTED, "sdb apm: status 51h, error 04h: \\x1b[31maborted", "" },
        { "sda",       NULL,     EXIT_WANTED,     "sda   -     apm     128    128    applied",              "" },
        { "sdb",       NULL,     EXIT_NOT_WANTED, "sdb   -     apm     128    -      refused",              "" },
        { "sda",       "5YD2",   EXIT_NOT_WANTED, "sdb   -     apm",                                        "" },
        { NULL,        NULL,     EXIT_NOT_WANTED, "2 drives, 1 setting kept, 1 refused\nDRIVE ",      "" },
        { "--no-legend", NULL,   EXIT_NOT_WANTED, "sdb   -     apm     128    -      refused",       "" },
        { "--failed",  "sda",    EXIT_WANTED,     "1 drive, 1 setting kept\n",                       "" },
        { "--failed",  NULL,     EXIT_NOT_WANTED, "2 drives, 1 setting kept, 1 refused\n",           "" },
        { "--wait",    "sda",    EXIT_WANTED,     "1 drive, 1 setting kept\n",                       "" },
        { "--json",    "5YD1",   EXIT_WANTED,     "\"verdict\": \"applied\"",                         "" },
        { "5YD1",      "--json", EXIT_WANTED,     "\"name\": \"sda\"",                                "" },
        { "sdq",       "sda",    EXIT_BAD_INPUT,  "",              "'sdq' is no drive that drivekeep knows" },
        { "--state-dir=missing", NULL, EXIT_NO_SERVICE, "",        "drivekeep.service does not run" },
};
/* clang-format on */

START_TEST(test_status) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(status(cases[_i].second, cases[_i].third, &out, &err), cases[_i].status);
        ck_assert_ptr_nonnull(strstr(out, cases[_i].out));
        ck_assert_ptr_nonnull(strstr(err, cases[_i].err));
        if (cases[_i].out[0] == '\0')
                ck_assert_str_eq(out, "");
        ck_assert(!strstr(out, " kept\n") || !streq_ptr(cases[_i].second, "--no-legend"));
        if (cases[_i].err[0] == '\0')
                ck_assert_str_eq(err, "");
}
END_TEST

/* When a drive spins down, or should have been traced, status names the obstacle to tracing its wakers. */
static const struct {
        const char *record, *obstacle; /* of tracefs */
        bool ended;                    /* the service has */
        const char *err;
} untraced[] = {
        { "", "something is in the way", false, "" },
        { "SPINDOWN=20 min\n", "something is in the way", false,
          "who wakes drives is not known: something is in the way\n" },
        { "SPINDOWN=20 min\n", NULL, false, "" },
        { "SPINDOWN=20 min\nTRACING=ended\n", "something is in the way", false, "something is in the way\n" },
        { "TRACING=ended\n", NULL, false, "who wakes drives is not known: drivekeep-tracer.service has failed" },
        { "TRACING=no-events\n", NULL, false, "the kernel lacks a trace event" },
        { "TRACING=unmounted\n", NULL, false, "" }, /* it is by now */
        { "SPINDOWN=20 min\nTRACING=ended\n", "something is in the way", true, "does not run" },
};

START_TEST(test_untraced) {
        _cleanup_free_ char *out = NULL, *err = NULL, *record = NULL;

        if (untraced[_i].ended)
                closep(&lock);
        ck_assert_int_gt(asprintf(&record, "VERSION=1\nNAME=sda\n%sSETTINGS=0\n", untraced[_i].record), 0);
        file_write("sda", record);
        obstacle = untraced[_i].obstacle;
        (void) status("sda", NULL, &out, &err);
        ck_assert_msg(strstr(err, untraced[_i].err), "%s", err);
        ck_assert(!strstr(err, "who wakes") == (!untraced[_i].err[0] || untraced[_i].ended));
        obstacle = NULL;
        if (untraced[_i].ended)
                lock = record_directory_lock(".");
}
END_TEST

#define APM(value) "drives = ( { match = {}; apm = " value "; } );\n"
#define READ " until 'drivekeep reload'\n"
#define MAIN "/etc/drivekeep.conf"

/* The files as the service read them, and the present files. */
/* clang-format off */
static const struct {
        ConfigFile then[FILES_MAX], now[FILES_MAX];
        bool ended, unsaid; /* the service has ended; it could not write the list of its files */
        const char *err; /* all of it */
} not_in_force[] = {
        { .err = "" },
        { .then = { { MAIN, APM("1") } }, .now = { { MAIN, APM("1") } }, .err = "" },
        { .then = { { MAIN, APM("1") } }, .now = { { MAIN, APM("2") } },
          .err = "drivekeep: " MAIN " has changed since drivekeep.service read it, and is not in force" READ },
        { .then = { { "a", APM("1") }, { "b", "" } }, .now = { { "a", APM("1") }, { "b", " " } },
          .err = "drivekeep: b has changed since drivekeep.service read it, and is not in force" READ },
        { .then = { { "b", APM("1") } }, .now = { { "b", APM("1") }, { "bb", APM("1") } },
          .err = "drivekeep: bb was not there when drivekeep.service read its files, and is not in force" READ },
        { .then = { { "a", APM("1") }, { "b\n\x1b", APM("1") } }, .now = { { "a", APM("1") } },
          .err = "drivekeep: b\\x0a\\x1b is not there any more, and is still in force" READ },
        { .then = { { "b\n\x1b\\", APM("1") } }, .now = { { "b\n\x1b\\", APM("1") } }, .err = "" },
        /* Refused by a reload, or not read at all yet. */
        { .then = { { MAIN, APM("1") } }, .now = { { MAIN, APM("300") } },
          .err = MAIN ":1:32: error: 300 is out of range for apm: 1...254, or off\n"
                 "drivekeep: the configuration has 1 error and is not in force: what the service read before stays in force; "
                 "'drivekeep check' names all\n" },
        { .then = { { MAIN, APM("1") } }, .now = { { MAIN, APM("1") }, { "b", APM("300") }, { "c", APM("\"x\"") } },
          .err = "b:1:32: error: 300 is out of range for apm: 1...254, or off\n"
                 "drivekeep: the configuration has 2 errors and is not in force: what the service read before stays in force; "
                 "'drivekeep check' names all\n" },
        /* It was started with them. */
        { .then = { { MAIN, APM("300") } }, .now = { { MAIN, APM("300") } },
          .err = MAIN ":1:32: error: 300 is out of range for apm: 1...254, or off\n"
                 "drivekeep: the configuration has 1 error, and the part in error is not in force; 'drivekeep check' names all\n" },
        /* The files in force are not known. */
        { .then = { { MAIN, APM("1") } }, .now = { { MAIN, APM("2") } }, .unsaid = true, .err = "" },
        { .then = { { "unreadable", APM("1") } }, .now = { { "unreadable", NULL } }, .err = "" },
        { .then = { { MAIN, APM("1") } }, .now = { { MAIN, APM("2") } }, .ended = true,
          .err = "drivekeep: drivekeep.service does not run, and this is what it knew when it ended; "
                 "'systemctl start drivekeep.service' starts it\n" },
};
/* clang-format on */

/* The user of the tests can read all of these, also as root. */
int access(const char *path, int mode) {
        if (streq(path, "unreadable")) {
                errno = EACCES;
                return -1;
        }
        return faccessat(AT_FDCWD, path, mode, 0);
}

START_TEST(test_not_in_force) {
        _cleanup_free_ char *in_force = NULL, *out = NULL, *err = NULL;
        _cleanup_(config_freep) Config *c = NULL;

        ck_assert_int_eq(config_new(&c), 0);
        config_files = not_in_force[_i].then;
        ck_assert_int_eq(config_load(c, &all_settings, (const char *[]){ "/etc", NULL }), 0);
        ck_assert_int_eq(config_format_in_force(c, &in_force), 0);
        program_invocation_short_name = (char *) "drivekeep";
        if (!not_in_force[_i].unsaid)
                file_write(CONFIG_IN_FORCE_FILE, in_force);
        if (not_in_force[_i].ended)
                closep(&lock);

        config_files = not_in_force[_i].now;
        ck_assert_int_eq(status("sda", NULL, &out, &err), not_in_force[_i].ended ? EXIT_NO_SERVICE : EXIT_WANTED);
        ck_assert_str_eq(err, not_in_force[_i].err);
}
END_TEST

/* A file from somebody else is not believed, and does no harm. */
START_TEST(test_in_force_damaged) {
        static const char *const texts[] = {
                "", "\n", "x", "x\n\n\n", "0123456789abcdef \n", "0123456789abcdef \\x0\n", "0123456789abcdef"
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_free_ char *out = NULL, *err = NULL;

                file_write(CONFIG_IN_FORCE_FILE, texts[i]);
                config_files = NULL;
                ck_assert_int_eq(status("sda", NULL, &out, &err), EXIT_WANTED);
                ck_assert_str_eq(err, "");
        }
}
END_TEST

/* The same when no alerts would be sent. */
START_TEST(test_outlets) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        lacking = "there is no program\x1b";
        ck_assert_int_eq(status("sda", _i == 0 ? NULL : "--json", &out, &err), EXIT_WANTED);
        ck_assert_msg(strstr(err, ": no alerts are sent: there is no program\\x1b\n"), "%s", err);
        closep(&lock);
        free(out);
        free(err);
        ck_assert_int_eq(status("sda", NULL, &out, &err), EXIT_NO_SERVICE);
        ck_assert_msg(!strstr(err, "no alerts are sent"), "%s", err);
        lock = record_directory_lock(".");
        lacking = NULL;
}
END_TEST

START_TEST(test_no_drives) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(unlink("sda"), 0);
        ck_assert_int_eq(unlink("sdb"), 0);
        ck_assert_int_eq(status("--json", NULL, &out, &err), EXIT_WANTED);
        json_take_list(&out, "drives");
        ck_assert_str_eq(out, JSON_EMPTY("") "\n");
        ck_assert_ptr_nonnull(strstr(err, "there is no drive here"));
}
END_TEST

static void queued_write(const char *file, const char *state) {
        _cleanup_free_ char *text = NULL;

        ck_assert_int_gt(asprintf(&text,
                                  "VERSION=1\nNAME=sda\nSTATE=%s\nVISIT_REASON=boot\nSETTINGS=1\n"
                                  "SETTING_0_NAME=apm\nSETTING_0_VERDICT=applied\n",
                                  state),
                         0);
        file_write(file, text);
}

START_TEST(test_visit_to_come) {
        static const struct {
                const char *state, *note;
        } states[] = { { "queued", "sda: waits for its turn" }, { "visiting", "sda: is being visited now" } };

        for (size_t i = 0; i < ELEMENTSOF(states); i++) {
                _cleanup_free_ char *out = NULL, *err = NULL;

                queued_write("sda", states[i].state);
                ck_assert_int_eq(status("sda", NULL, &out, &err), EXIT_LATER);
                ck_assert_ptr_nonnull(strstr(out, states[i].note));
                ck_assert(starts_with(out, "1 drive, 1 setting kept; 1 being visited\n"));
        }
}
END_TEST

/* What kept the service from it when it was last due. */
START_TEST(test_awake) {
        static const struct {
                const char *fields;
                bool told;
        } states[] = { { "SPINDOWN=20 min, by the service\nPOWER=active/idle\n", true },
                       { "SPINDOWN=20 min, by the service\n", true },
                       { "SPINDOWN=20 min, by the service\nPOWER=standby\n", false },
                       { "POWER=active/idle\n", false } };

        for (size_t i = 0; i < ELEMENTSOF(states); i++) {
                _cleanup_free_ char *out = NULL, *err = NULL, *record = NULL;

                ck_assert_int_ge(asprintf(&record,
                                          "VERSION=1\nNAME=sda\nSTATE=idle\nAWAKE_REASON=nobody counts\n%sSETTINGS=1\n"
                                          "SETTING_0_NAME=apm\nSETTING_0_VERDICT=applied\n",
                                          states[i].fields),
                                 0);
                file_write("sda", record);
                ck_assert_int_eq(status("sda", NULL, &out, &err), EXIT_WANTED);
                ck_assert(!strstr(out, "sda: was not spun down: nobody counts\n") == !states[i].told);
        }
}
END_TEST

/* The daemon, which ends each visit, or ends itself, while the command waits. */
static void daemon_run(bool ends) {
        static const char *const states[] = { "visiting", "queued", "idle" };

        for (size_t i = 0; i < (ends ? 1 : ELEMENTSOF(states)); i++) {
                (void) usleep(50 * 1000);
                queued_write("sda.new~", states[i]);
                ck_assert_int_eq(rename("sda.new~", "sda"), 0);
        }
        (void) usleep(50 * 1000);
}

START_TEST(test_wait) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        int r, child_status;
        pid_t child;

        queued_write("sda", "queued");
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                daemon_run(_i);
                _exit(0); /* with the lock, which the parent has let go */
        }
        ck_assert_int_eq(close(lock), 0);

        r = status("--wait", "sda", &out, &err);
        ck_assert_int_eq(waitpid(child, &child_status, 0), child);
        ck_assert_int_eq(r, _i ? EXIT_NO_SERVICE : EXIT_WANTED);
        ck_assert(!!strstr(out, "as of ") == !!_i);
        ck_assert(!!strstr(out, "sda: is being visited now") == !!_i);
}
END_TEST

START_TEST(test_wait_without_service) {
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(status("--wait", "--state-dir=missing", &out, &err), EXIT_NO_SERVICE);
        ck_assert_ptr_nonnull(strstr(err, "drivekeep.service does not run, so nothing is known"));
}
END_TEST

/* What it left behind is shown, but all is well only while somebody keeps it so. */
START_TEST(test_stopped) {
        _cleanup_free_ char *out = NULL, *err = NULL, *out2 = NULL, *err2 = NULL;

        ck_assert_int_eq(close(lock), 0);
        ck_assert_int_eq(status("sda", NULL, &out, &err), EXIT_NO_SERVICE);
        ck_assert_ptr_nonnull(strstr(out, "sda   -     apm     128    128    applied"));
        ck_assert_ptr_nonnull(strstr(err, "drivekeep.service does not run, and this is what it knew when it ended"));
        ck_assert_ptr_nonnull(strstr(out, "\nas of "));
        ck_assert_int_eq(status("sdq", NULL, &out2, &err2), EXIT_BAD_INPUT);
}
END_TEST

START_TEST(test_no_rules) {
        _cleanup_free_ char *out = NULL, *err = NULL, *out2 = NULL, *err2 = NULL;

        file_write("sdc", "VERSION=1\nNAME=sdc\nSETTINGS=0\n");
        ck_assert_int_eq(status("sdc", NULL, &out, &err), EXIT_WANTED);
        ck_assert_ptr_nonnull(strstr(err, "no rule of the configuration is for any of these drives"));
        ck_assert_int_eq(status("sdc", "sda", &out2, &err2), EXIT_WANTED);
        ck_assert_str_eq(err2, "");
}
END_TEST

START_TEST(test_unknown_option) {
        char *out, *err;

        ck_assert_int_eq(atexit(scratch_remove), 0); /* argp exits, so the fixture's end is not reached */
        (void) status("--colour", NULL, &out, &err);
}
END_TEST

START_TEST(test_help) {
        char *out, *err;

        ck_assert_int_eq(atexit(scratch_remove), 0);
        (void) status("-h", NULL, &out, &err);
}
END_TEST

/* Stands in for ssh: what it was called with, a word in each line. */
#define FAKE_SSH "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 3\n"

/* clang-format off */
static const struct { const char *words[6], *said; } remote[] = {
        { { "--host=nas" }, "-xT\n--\nnas\ndrivekeep status\n" },
        { { "-H", "root@nas", "-v", "--json", "--wait" }, "-xT\n--\nroot@nas\ndrivekeep status --json --wait -v\n" },
        { { "--host=nas", "--metrics", "--no-legend" }, "-xT\n--\nnas\ndrivekeep status --no-legend --metrics\n" },
        { { "--host=-oProxyCommand=x", "--now", "--failed" }, "-xT\n--\n-oProxyCommand=x\ndrivekeep status --failed --now\n" },
        { { "--host=nas", "sda", "A B", "it's; rm -r $HOME" },
          "-xT\n--\nnas\ndrivekeep status -- 'sda' 'A B' 'it'\\''s; rm -r $HOME'\n" },
};
/* clang-format on */

START_TEST(test_remote) {
        _cleanup_free_ char *path = NULL;
        char text[4096], directory[4096];
        int child_status;
        pid_t pid;

        ck_assert_ptr_nonnull(getcwd(directory, sizeof directory));
        ck_assert_int_gt(asprintf(&path, "%s/bin:/usr/bin:/bin", directory), 0);
        file_make("bin/ssh", FAKE_SSH);
        ck_assert_int_eq(chmod("bin/ssh", 0755), 0);

        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                char *argv[8] = { (char *) "drivekeep status" };
                int argc = 1;

                while (remote[_i].words[argc - 1]) {
                        argv[argc] = (char *) remote[_i].words[argc - 1];
                        argc++;
                }
                if (setenv("PATH", path, true) < 0 || !freopen("said", "w", stdout))
                        _exit(99);
                _exit(verb_run(&verb_status, argc, argv));
        }
        ck_assert_int_eq(waitpid(pid, &child_status, 0), pid);
        /* Its exit status is the other machine's. */
        ck_assert(WIFEXITED(child_status));
        ck_assert_int_eq(WEXITSTATUS(child_status), 3);
        file_read("said", text, sizeof text);
        ck_assert_str_eq(text, remote[_i].said);
}
END_TEST

START_TEST(test_remote_wrong) {
        _cleanup_free_ char *out = NULL, *err = NULL;
        const char *const words[] = { "-H", "nas", _i == 0 ? "--metrics" : NULL, "--output=x", NULL };

        if (_i == 1)
                ck_assert_int_eq(setenv("PATH", "/nowhere", true), 0);
        ck_assert_int_eq(verb_catch(&verb_status, ".", words, &out, &err), EXIT_BAD_INPUT);
        ck_assert_str_eq(out, "");
        ck_assert_ptr_nonnull(strstr(err, _i == 0 ? "--output is for metrics of this machine"
                                                  : "ssh, by which nas is asked, cannot be started: "));
}
END_TEST

int main(void) {
        TCase *t = tcase_create("status");

        argp_err_exit_status = EXIT_BAD_INPUT;
        tcase_add_checked_fixture(t, records_write, scratch_remove);
        tcase_add_loop_test(t, test_status, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_outlets, 0, 2);
        tcase_add_loop_test(t, test_untraced, 0, ELEMENTSOF(untraced));
        tcase_add_loop_test(t, test_not_in_force, 0, ELEMENTSOF(not_in_force));
        tcase_add_test(t, test_in_force_damaged);
        tcase_add_test(t, test_no_drives);
        tcase_add_test(t, test_visit_to_come);
        tcase_add_test(t, test_awake);
        tcase_add_loop_test(t, test_wait, 0, 2);
        tcase_add_test(t, test_wait_without_service);
        tcase_add_test(t, test_stopped);
        tcase_add_test(t, test_no_rules);
        tcase_add_loop_test(t, test_remote, 0, ELEMENTSOF(remote));
        tcase_add_loop_test(t, test_remote_wrong, 0, 2);
        tcase_add_exit_test(t, test_unknown_option, EXIT_BAD_INPUT);
        tcase_add_exit_test(t, test_help, 0);
        return test_main("cli-status", t);
}
