/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What `drivekeep release`, `reload`, `apply` and `sleep` as a whole ask of the service, which the test plays, and what they make of it. */

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

/* All that were asked for were visited. */
static int reply_names(sd_bus_message *m) {
        sd_bus_message *reply;

        ck_assert(sd_bus_message_rewind(m, true) >= 0 && sd_bus_message_new_method_return(m, &reply) >= 0 &&
                  sd_bus_message_copy(reply, m, true) >= 0 && sd_bus_send(NULL, reply, NULL) >= 0);
        (void) sd_bus_message_unref(reply);
        return 1;
}

static bool is_visit(const char *question) {
        return starts_with(question, "Apply") || starts_with(question, "Read") || starts_with(question, "Sleep");
}

typedef struct Answer {
        const char *question;
        unsigned n_released;
        const char *error, *message;
        bool caught_up;    /* "CatchUp" came before */
        const char *after; /* the record of sda after the visits that it waits for */
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
        if (streq(question, "ReloadAndVisit")) {
                if (a->after)
                        file_write("sda", a->after);
                return sd_bus_reply_method_return(m, "as", 0);
        }
        if (starts_with(question, "Sleep"))
                return reply_names(m);
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

/* One record for each thing that may have come of it. */
static void write_sleepers(void) {
        static const char *const lines[][2] = {
                { "standby", "POWER=standby\nPOWER_WHEN=1763692751123456\nAWAKE_REASON=it was being checked\n" },
                { "why",
                  "POWER=active/idle\nPOWER_WHEN=1763692751123456\nAWAKE_REASON=a disk of \\x1b[2J is mounted\n" },
                { "awake", "POWER=active/idle\n" },
                { "waits",
                  "POWER=active/idle\nAWAKE_REASON=old\nSTATE=waiting\nWAITING_KIND=check\nWAITING_FOR=x.service\n" },
                { "unknown", "POWER_WHEN=1763692751123456\n" },
                { "silent", "AWAKE_REASON=it does not answer\n" },
        };

        for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
                char text[256];

                (void) snprintf(text, sizeof text, "VERSION=1\nNAME=%s\n%sSETTINGS=0\n", lines[i][0], lines[i][1]);
                file_write(lines[i][0], text);
        }
}

static void teardown(void) {
        closep(&lock);
        scratch_remove();
}

#define HERE "--state-dir=."
#define RELEASE &verb_release
#define APPLY &verb_apply
#define STATUS &verb_status
#define SLEEP &verb_sleep
#define WHEN "\"2025-11-21T02:39:11Z\""
#define JSON(name, power, since, reason)                                                     \
        "  {\n    \"name\": \"" name "\",\n    \"power\": " power ",\n    \"since\": " since \
        ",\n    \"reason\": " reason "\n  }"
#define HEADER "DRIVE MODEL SETTING WANTED ACTUAL VERDICT WHEN RULE\n"
#define SDA "sda   -     apm     128    128    applied -    -\n"
#define SDB "sdb   -     apm     1      128    refused -    -\n"

/* clang-format off */
static const struct {
        const Verb *verb;
        const char *words[6];
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
        { APPLY, { HERE },                              { "Apply" },                    EXIT_NOT_WANTED, "2 drives, 1 setting kept, 1 refused\n" HEADER SDA SDB, "" },
        { APPLY, { HERE, "--permanent", "sdb", "sda" }, { "ApplyPermanent sda sdb" },   EXIT_NOT_WANTED, "1 drive, 0 settings kept, 1 refused\n" HEADER SDB, "'sdz' is no drive" },
        { APPLY, { HERE, "sda" },                       { "Apply sda" },                EXIT_NOT_WANTED, "1 drive, 0 settings kept, 1 refused\n" HEADER SDB, "'sdz' is no drive" },
        { APPLY, { HERE, "sda" },                       { "Apply sda", 0, SD_BUS_ERROR_ACCESS_DENIED, "" }, EXIT_BAD_INPUT, "", "only root" },
        { APPLY, { HERE, "sda" },                       {},                             EXIT_NO_SERVICE, "", "does not run" },

        /* It is said which drive was not read, but not of one that did not keep its setting. */
        { STATUS, { HERE, "--now", "sdb" },             { "Read sdb" },                 EXIT_NOT_WANTED, "1 drive, 0 settings kept, 1 refused\n" HEADER SDB, "'sdz' is no drive" },
        { STATUS, { HERE, "--now" },                    { "Read" },                     EXIT_NOT_WANTED, "2 drives, 1 setting kept, 1 refused\n" HEADER SDA SDB, "sda was not asked now" },
        { STATUS, { HERE, "--now", "sda" },             {},                             EXIT_NO_SERVICE, "", "does not run" },

        /* "$DRIVE" of a script that never set it, or no word at all, is not every drive. */
        { SLEEP, { HERE },                              { "Sleep" },                    EXIT_BAD_INPUT, "", "say which drives" },
        { SLEEP, { HERE, "" },                          { "Sleep" },                    EXIT_BAD_INPUT, "", "'' is no drive" },
        { SLEEP, { HERE, "standby", "sdq" },            { "Sleep standby" },            EXIT_BAD_INPUT, "", "'sdq' is no drive" },
        { SLEEP, { "--state-dir=none", "sda" },         { "Sleep sda" },                EXIT_NO_SERVICE, "", "does not run" },
        { SLEEP, { HERE, "standby" },                   {},                             EXIT_NO_SERVICE, "", "does not run" },
        { SLEEP, { HERE, "standby" },                   { "Sleep standby", 0, SD_BUS_ERROR_ACCESS_DENIED, "" }, EXIT_BAD_INPUT, "", "only root" },
        { SLEEP, { HERE, "standby" },                   { "Sleep standby" },            EXIT_WANTED,    "standby is in standby.\n", "" },
        { SLEEP, { HERE, "why", "standby" },            { "Sleep standby why" },        EXIT_NOT_WANTED,
          "standby is in standby.\nwhy is awake: a disk of \\x1b[2J is mounted.\n", "" },
        { SLEEP, { HERE, "awake" },                     { "Sleep awake" },              EXIT_NOT_WANTED, "awake is awake.\n", "" },
        /* A reason of old says nothing of a visit that is still to come. */
        { SLEEP, { HERE, "waits" },                     { "Sleep waits" },              EXIT_NOT_WANTED, "waits is awake: it waits for x.service.\n", "" },
        { SLEEP, { HERE, "unknown" },                   { "Sleep unknown" },            EXIT_NOT_WANTED,
          "The service does not know whether unknown is in standby.\n", "" },
        { SLEEP, { HERE, "silent" },                    { "Sleep silent" },             EXIT_NOT_WANTED,
          "The service does not know whether silent is in standby: it does not answer.\n", "" },
        { SLEEP, { HERE, "--json", "standby", "why", "unknown" }, { "Sleep standby unknown why" }, EXIT_NOT_WANTED, "[\n"
          JSON("standby", "\"standby\"", WHEN, "null") ",\n" JSON("unknown", "null", "null", "null") ",\n"
          JSON("why", "\"active/idle\"", WHEN, "\"a disk of \\\\x1b[2J is mounted\"") "\n]\n", "" },
        { SLEEP, { HERE, "--json", "standby" },         { "Sleep standby" },            EXIT_WANTED, "[\n"
          JSON("standby", "\"standby\"", WHEN, "null") "\n]\n", "" },
};
/* clang-format on */

START_TEST(test_verb) {
        Answer answer = cases[_i].answer;
        pid_t pid = answer.question ? bus_play(on_call, &answer, &service) : 0;
        FILE *f_out = catch_begin(stdout), *f_err = catch_begin(stderr);
        _cleanup_free_ char *out = NULL, *err = NULL;
        char *argv[7] = { (char *) "drivekeep verb" };
        int argc = 1, status;

        if (cases[_i].verb == &verb_sleep)
                write_sleepers();
        while (cases[_i].words[argc - 1]) {
                argv[argc] = (char *) cases[_i].words[argc - 1];
                argc++;
        }
        status = verb_run(cases[_i].verb, argc, argv);
        out = catch_end(stdout, f_out);
        err = catch_end(stderr, f_err);

        json_take_list(&out, "drives");
        ck_assert_str_eq(out, cases[_i].out);
        ck_assert_msg(strstr(err, cases[_i].err), "%s", err);
        ck_assert(*cases[_i].err || *err == '\0');
        ck_assert_int_eq(status, cases[_i].status);

        closep(&service);
        if (pid > 0)
                ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* ---- results of a reload ---- */

static bool terminal;

int isatty(int fd) {
        return terminal && fd == STDOUT_FILENO;
}

#define RECORD(settings) "VERSION=1\nNAME=sda\nSERIAL=5YD1\n" settings
#define SETTING(i, name, wanted, actual, verdict, when)                                                             \
        "SETTING_" i "_NAME=" name "\nSETTING_" i "_WANTED=" wanted "\nSETTING_" i "_ACTUAL=" actual "\nSETTING_" i \
        "_VERDICT=" verdict "\nSETTING_" i "_WHEN=" when "\n"
#define REASON(text) "SETTING_0_REASON=" text "\n"
#define KEPT(value, verdict, when) RECORD("SETTINGS=1\n" SETTING("0", "apm", value, value, verdict, when))
#define MISSED(verdict, when) RECORD("SETTINGS=1\n" SETTING("0", "apm", "128", "1", verdict, when) REASON("why\\x1b"))
#define TWO(second)                                                           \
        RECORD("SETTINGS=2\n" SETTING("0", "apm", "1", "1", "unchanged", "7") \
                               SETTING("1", "lookahead", "on", "on", second, "7"))

/* clang-format off */
static const struct {
        const char *before, *after; /* NULL: it does not change */
        int status;
        const char *out; /* sdb stays refused */
} reloads[] = {
        { KEPT("1", "applied", "5"), NULL,                           EXIT_WANTED,
          "the settings of no drive changed: 2 drives, 1 setting kept, 1 refused\n" },
        /* It was confirmed. */
        { KEPT("1", "applied", "5"), KEPT("1", "unchanged", "6"),    EXIT_WANTED,
          "the settings of no drive changed: 2 drives, 1 setting kept, 1 refused\n" },
        { KEPT("1", "applied", "5"), KEPT("2", "applied", "6"),      EXIT_WANTED,
          "sda: apm 2 applied\n2 drives, 1 setting kept, 1 refused\n" },
        { KEPT("1", "applied", "5"), MISSED("refused", "6"),         EXIT_NOT_WANTED,
          "sda: apm 128 refused (why\\x1b)\n2 drives, 0 settings kept, 2 refused\n" },
        { KEPT("1", "applied", "5"), MISSED("deferred", "6"),        EXIT_LATER,
          "sda: apm 128 deferred (why\\x1b)\n2 drives, 0 settings kept, 1 refused, 1 deferred\n" },
        /* Tried again, or not. */
        { MISSED("refused", "5"),    MISSED("refused", "6"),         EXIT_NOT_WANTED,
          "sda: apm 128 refused (why\\x1b)\n2 drives, 0 settings kept, 2 refused\n" },
        { MISSED("refused", "5"),    NULL,                           EXIT_WANTED,
          "the settings of no drive changed: 2 drives, 0 settings kept, 2 refused\n" },
        { MISSED("refused", "5"),    KEPT("128", "applied", "6"),    EXIT_WANTED,
          "sda: apm 128 applied\n2 drives, 1 setting kept, 1 refused\n" },
        { KEPT("1", "applied", "5"), TWO("applied"),                 EXIT_WANTED,
          "sda: lookahead on applied\n2 drives, 2 settings kept, 1 refused\n" },
        /* What the drive does not have, and need not have, is no news. */
        { KEPT("1", "applied", "5"), TWO("unsupported") "SETTING_1_OPTIONAL=1\n", EXIT_WANTED,
          "the settings of no drive changed: 2 drives, 1 setting kept, 1 refused\n" },
        { TWO("unchanged"),          KEPT("1", "unchanged", "8"),    EXIT_WANTED,
          "sda: lookahead not managed any more\n2 drives, 1 setting kept, 1 refused\n" },
        { TWO("unchanged"),          KEPT("2", "applied", "8"),      EXIT_WANTED,
          "sda: apm 2 applied; lookahead not managed any more\n2 drives, 1 setting kept, 1 refused\n" },
        { KEPT("1", "applied", "5"), RECORD("STATE=waiting\nWAITING_KIND=check\nWAITING_FOR=x.service\n"), EXIT_LATER,
          "sda: apm not managed any more; waits for x.service\n2 drives, 0 settings kept, 1 refused; 1 waiting\n" },
        { NULL,                      KEPT("1", "applied", "6"),      EXIT_WANTED,
          "sda: apm 1 applied\n2 drives, 1 setting kept, 1 refused\n" },
};
/* clang-format on */

/* On a terminal, or with --wait. */
START_TEST(test_reload) {
        const char *words[][2] = { { "--wait", NULL }, { NULL } };

        for (size_t i = 0; i < ELEMENTSOF(words); i++) {
                Answer answer = { "ReloadAndVisit", .after = reloads[_i].after };
                _cleanup_free_ char *out = NULL, *err = NULL;
                pid_t pid = bus_play(on_call, &answer, &service);

                terminal = i > 0;
                if (reloads[_i].before)
                        file_write("sda", reloads[_i].before);
                else
                        (void) unlink("sda");
                ck_assert_int_eq(verb_catch(&verb_reload, ".", words[i], &out, &err), reloads[_i].status);
                ck_assert_str_eq(out, reloads[_i].out);
                ck_assert_str_eq(err, "");
                terminal = false;
                closep(&service);
                ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        }
}
END_TEST

/* When the files are refused, no drive is shown. */
START_TEST(test_reload_refused) {
        Answer answer = { "ReloadAndVisit", 0, SD_BUS_ERROR_INVALID_ARGS, "there is an error" };
        pid_t pid = bus_play(on_call, &answer, &service);
        _cleanup_free_ char *out = NULL, *err = NULL;

        ck_assert_int_eq(verb_catch(&verb_reload, ".", (const char *const[]){ "--wait", NULL }, &out, &err),
                         EXIT_BAD_INPUT);
        ck_assert_str_eq(out, "");
        ck_assert_ptr_nonnull(strstr(err, "cannot do that: there is an error"));
        closep(&service);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("service");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_verb, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(t, test_reload, 0, ELEMENTSOF(reloads));
        tcase_add_test(t, test_reload_refused);
        return test_main("cli-service", t);
}
