/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What `drivekeep release`, `reload` and `apply` as a whole ask of the service, which the test plays, and what they make of it. */

#include <sys/un.h>
#include <sys/wait.h>

#include "bus-pair.h"
#include "test-cli.h"
#include "text-file.h"
#include "verb.h"

static int service = -EBADF; /* what a connection to it leads to; none: it does not run */

/* In the place of the C library's: the machine's own service is not asked. */
int connect(int fd, __CONST_SOCKADDR_ARG address, _unused_ socklen_t size) {
        bool is_service = streq(address.__sockaddr_un__->sun_path, "/run/drivekeep/drives/.private");

        errno = ECONNREFUSED;
        return service < 0 || !is_service ? -1 : dup2(service, fd) < 0 ? -1 : 0;
}

/* "Release sda apm", "Apply sda sdb", … */
static void read_question(sd_bus_message *m, char *ret, size_t size) {
        const char *word;
        size_t n;

        n = (size_t) snprintf(ret, size, "%s", sd_bus_message_get_member(m));
        if (sd_bus_message_has_signature(m, "as"))
                (void) sd_bus_message_enter_container(m, 'a', "s");
        while (sd_bus_message_read_basic(m, 's', &word) > 0)
                n += (size_t) snprintf(ret + n, size - n, " %s", word);
}

static bool is_visit(const char *question) {
        return starts_with(question, "Apply") || starts_with(question, "Read");
}

typedef struct Answer {
        const char *question;
        unsigned n_released;
        const char *error, *message;
        bool caught_up; /* "CatchUp" came before */
} Answer;

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Answer *a = userdata;
        char question[64];

        read_question(m, question, sizeof question);
        if (streq(question, "CatchUp")) {
                a->caught_up = true;
                return sd_bus_reply_method_return(m, "");
        }
        if (!streq(question, a->question) || a->caught_up != is_visit(question) ||
            !streq(sd_bus_message_get_path(m), "/org/drivekeep1"))
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "not '%s'", question);
        if (a->error)
                return sd_bus_error_set(error, a->error, a->message);
        if (is_visit(question))
                return sd_bus_reply_method_return(m, "as", 2, "sdb",
                                                  streq(question, "Apply") || streq(question, "Read") ? "sda" : "sdz");
        if (starts_with(question, "Release"))
                return sd_bus_reply_method_return(m, "u", a->n_released);
        return sd_bus_reply_method_return(m, "");
}

static int lock;

static void setup(void) {
        scratch_make();
        lock = record_directory_lock(".");
        ck_assert_int_ge(lock, 0);
        ck_assert_int_eq(setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1), 0);
        file_write("sda",
                   "VERSION=1\nNAME=sda\nSERIAL=5YD1\nSETTINGS=1\n"
                   "SETTING_0_NAME=apm\nSETTING_0_WANTED=128\nSETTING_0_ACTUAL=128\nSETTING_0_VERDICT=applied\n");
        file_write("sdb", "VERSION=1\nNAME=sdb\nSERIAL=5YD2\nSETTINGS=1\n"
                          "SETTING_0_NAME=apm\nSETTING_0_WANTED=1\nSETTING_0_ACTUAL=128\nSETTING_0_VERDICT=refused\n");
}

static void teardown(void) {
        closep(&lock);
        scratch_remove();
}

#define HERE "--state-dir=."
#define RELEASE &verb_release
#define APPLY &verb_apply
#define STATUS &verb_status
#define HEADER "DRIVE MODEL SETTING WANTED ACTUAL VERDICT WHEN RULE\n"
#define SDA "sda   -     apm     128    128    applied -    -\n"
#define SDB "sdb   -     apm     1      128    refused -    -\n"

/* clang-format off */
static const struct {
        const Verb *verb;
        const char *words[5];
        Answer answer; /* no question: the service does not run */
        int status;
        const char *out, *err; /* all, and a part */
} cases[] = {
        { &verb_reload, {},                             { "Reload" },                   EXIT_WANTED,    "", "" },
        { &verb_reload, {},                             {},                             EXIT_NO_SERVICE, "", "does not run" },
        { &verb_reload, {},                             { "Reload", 0, SD_BUS_ERROR_INVALID_ARGS, "there is an error" },
                                                                                        EXIT_BAD_INPUT, "", "cannot do that: there is an error" },

        { RELEASE, { HERE, "sda", "apm" },              { "Release sda apm", 1 },       EXIT_WANTED,
          "sda: apm may be written again; the drive is visited now\n", "" },
        { RELEASE, { HERE, "5YD2" },                    { "Release sdb ", 2 },          EXIT_WANTED,
          "sdb: every setting may be written again; the drive is visited now\n", "" },
        { RELEASE, { HERE, "sda", "apm" },              { "Release sda apm", 0 },       EXIT_BAD_INPUT, "", "apm of sda is not in quarantine\n" },
        { RELEASE, { HERE, "sda" },                     { "Release sda ", 0 },          EXIT_BAD_INPUT, "", "nothing of sda is in quarantine\n" },
        { RELEASE, { HERE, "sda" },                     { "Release sda ", 0, SD_BUS_ERROR_ACCESS_DENIED, "" }, EXIT_BAD_INPUT, "", "only root" },
        { RELEASE, { HERE, "sda" },                     {},                             EXIT_NO_SERVICE, "", "does not run" },
        { RELEASE, { HERE, "sdq" },                     { "Release sdq ", 1 },          EXIT_BAD_INPUT, "", "'sdq' is no drive" },
        { RELEASE, { HERE },                            { "Release sda ", 1 },          EXIT_BAD_INPUT, "", "say which drive" },
        { RELEASE, { HERE, "sda", "apm", "lookahead" }, { "Release sda apm", 1 },       EXIT_BAD_INPUT, "", "say which drive" },
        { RELEASE, { "--state-dir=none", "sda" },       { "Release sda ", 1 },          EXIT_NO_SERVICE, "", "does not run" },

        /* Shown is what was visited. */
        { APPLY, { HERE },                              { "Apply" },                    EXIT_NOT_WANTED, HEADER SDA SDB "2 drives, 1 setting kept, 1 refused\n", "" },
        { APPLY, { HERE, "--permanent", "sdb", "sda" }, { "ApplyPermanent sda sdb" },   EXIT_NOT_WANTED, HEADER SDB "1 drive, 0 settings kept, 1 refused\n", "'sdz' is no drive" },
        { APPLY, { HERE, "sda" },                       { "Apply sda" },                EXIT_NOT_WANTED, HEADER SDB "1 drive, 0 settings kept, 1 refused\n", "'sdz' is no drive" },
        { APPLY, { HERE, "sda" },                       { "Apply sda", 0, SD_BUS_ERROR_ACCESS_DENIED, "" }, EXIT_BAD_INPUT, "", "only root" },
        { APPLY, { HERE, "sda" },                       {},                             EXIT_NO_SERVICE, "", "does not run" },

        /* It is said which drive was not read, but not of one that did not keep its setting. */
        { STATUS, { HERE, "--now", "sdb" },             { "Read sdb" },                 EXIT_NOT_WANTED, HEADER SDB "1 drive, 0 settings kept, 1 refused\n", "'sdz' is no drive" },
        { STATUS, { HERE, "--now" },                    { "Read" },                     EXIT_NOT_WANTED, HEADER SDA SDB "2 drives, 1 setting kept, 1 refused\n", "sda was not asked now" },
        { STATUS, { HERE, "--now", "sda" },             {},                             EXIT_NO_SERVICE, "", "does not run" },
};
/* clang-format on */

START_TEST(test_verb) {
        Answer answer = cases[_i].answer;
        pid_t pid = answer.question ? bus_play(on_call, &answer, &service) : 0;
        FILE *f_out = catch_begin(stdout), *f_err = catch_begin(stderr);
        _cleanup_free_ char *out = NULL, *err = NULL;
        char *argv[6] = { (char *) "drivekeep verb" };
        int argc = 1, status;

        while (cases[_i].words[argc - 1]) {
                argv[argc] = (char *) cases[_i].words[argc - 1];
                argc++;
        }
        status = verb_run(cases[_i].verb, argc, argv);
        out = catch_end(stdout, f_out);
        err = catch_end(stderr, f_err);

        ck_assert_str_eq(out, cases[_i].out);
        ck_assert_msg(strstr(err, cases[_i].err), "%s", err);
        ck_assert(*cases[_i].err || *err == '\0');
        ck_assert_int_eq(status, cases[_i].status);

        closep(&service);
        if (pid > 0)
                ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("service");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_verb, 0, ELEMENTSOF(cases));
        return test_main("cli-service", t);
}
