/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep edit`, with shell commands in the place of an editor. */

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "bus-pair.h"
#include "root-files.h"
#include "test-cli.h"
#include "text-file.h"
#include "unit-status.h"
#include "verb.h"

static uid_t user;
static const char *replies; /* to what is asked; NULL: there is no terminal */

uid_t geteuid(void) {
        return user;
}

int isatty(_unused_ int fd) {
        return replies != NULL;
}

/* Nobody but root can give a file away. */
static uid_t given_to;

int fchown(_unused_ int fd, uid_t owner, _unused_ gid_t group) {
        given_to = owner;
        return 0;
}

#define APPLIED(value)                                                                      \
        "VERSION=1\nNAME=sda\nSETTINGS=1\nSETTING_0_NAME=apm\nSETTING_0_WANTED=" value "\n" \
        "SETTING_0_ACTUAL=" value "\nSETTING_0_VERDICT=applied\n"

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *refusal = userdata;

        if (streq(sd_bus_message_get_member(m), "ReloadAndVisit") && !refusal) {
                file_write("state/sda", APPLIED("1"));
                return sd_bus_reply_method_return(m, "as", 0);
        }
        if (!streq(sd_bus_message_get_member(m), "Reload"))
                return sd_bus_error_set(error, SD_BUS_ERROR_UNKNOWN_METHOD, "not that");
        return refusal ? sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, refusal)
                       : sd_bus_reply_method_return(m, "");
}

static const char *refusal; /* the service's */

int systemd_find_fsck(_unused_ char **ret_unit) {
        return 0;
}

int systemd_open_socket(_unused_ const char *address, sd_bus **ret) {
        int fd;

        (void) bus_play(on_call, (void *) refusal, &fd);
        *ret = bus_end(NULL, fd, false);
        return 0;
}

#define CONF "etc/drivekeep/drivekeep.conf"
#define DRAFT CONF ".draft"
#define GOOD "drives = ( { match = {}; apm = 128; } );\n"

static char *out, *err;

static void setup(void) {
        scratch_make();
        ck_assert_int_eq(mkdir("etc", 0755), 0);
        ck_assert_int_eq(mkdir("etc/drivekeep", 0755), 0);
        file_write(CONF, GOOD);
        (void) unsetenv("SYSTEMD_EDITOR");
        (void) unsetenv("VISUAL");
}

static void teardown(void) {
        free(out);
        free(err);
        out = err = NULL;
        scratch_remove();
}

static void edit(ExitStatus expected, const char *editor, const char *name) {
        char *names[] = { (char *) name, NULL };
        const Options o = { .names = name ? names : NULL, .state_dir = "state", .roots = { "etc", "run" } };
        FILE *f_out = catch_begin(stdout), *f_err = catch_begin(stderr);
        int status;

        ck_assert_int_eq(setenv("EDITOR", editor, true), 0);
        if (replies) {
                file_write("replies", replies);
                ck_assert_ptr_nonnull(freopen("replies", "re", stdin));
        }
        status = verb_edit.run(&o);
        /* The stand-in for the service has the lock, too, as long as it lives. */
        while (waitpid(-1, NULL, 0) > 0)
                ;
        free(out);
        free(err);
        out = catch_end(stdout, f_out);
        err = catch_end(stderr, f_err);
        ck_assert_msg(status == (int) expected, "%d\n%s%s", status, out, err);
}

static void assert_file(const char *path, const char *text) {
        char read[256];

        file_read(path, read, sizeof read);
        ck_assert_str_eq(read, text);
}

START_TEST(test_good) {
        struct stat st;

        ck_assert_int_eq(chmod(CONF, 0640), 0);
        given_to = 1;
        edit(EXIT_WANTED, "sed -i 's/128/127/'", NULL);
        assert_file(CONF, "drives = ( { match = {}; apm = 127; } );\n");
        assert_file(DRAFT, "");
        ck_assert_int_eq(stat(CONF, &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 0640);
        ck_assert_int_eq(given_to, 0);
        ck_assert_str_eq(out, CONF " is written; drivekeep.service, which does not run, reads it when it is started\n");
        ck_assert_str_eq(err, "");
}
END_TEST

/* Of the three variables that systemctl knows, too, the first that is set. */
START_TEST(test_which_editor) {
        ck_assert_int_eq(setenv("VISUAL", "sed -i s/128/1/", true), 0);
        edit(EXIT_WANTED, "", NULL);
        assert_file(CONF, "drives = ( { match = {}; apm = 1; } );\n");
        ck_assert_int_eq(setenv("SYSTEMD_EDITOR", "sed -i s/=\\ 1/=\\ 2/", true), 0);
        edit(EXIT_WANTED, "false", NULL);
        assert_file(CONF, "drives = ( { match = {}; apm = 2; } );\n");
}
END_TEST

START_TEST(test_unchanged) {
        edit(EXIT_WANTED, "true", NULL);
        ck_assert_str_eq(out, CONF " is not changed\n");
        assert_file(DRAFT, "");
}
END_TEST

/* Without a terminal nothing is asked, and nothing lost; the next edit goes on. */
START_TEST(test_bad) {
        edit(EXIT_BAD_INPUT, "sed -i s/apm/amp/", NULL);
        assert_file(CONF, GOOD);
        assert_file(DRAFT, "drives = ( { match = {}; amp = 128; } );\n");
        ck_assert_ptr_nonnull(strstr(err, CONF ":1:26: error: "));
        ck_assert_ptr_nonnull(strstr(err, DRAFT ", and 'drivekeep edit' goes on with it"));
        edit(EXIT_WANTED, "sed -i s/amp/apm/", NULL);
        ck_assert_ptr_nonnull(strstr(err, DRAFT " is left from before, and is edited further"));
        ck_assert_str_eq(out, CONF " is not changed\n");
        assert_file(DRAFT, "");
}
END_TEST

START_TEST(test_ask) {
        replies = "what\ne\nd\n";
        edit(EXIT_BAD_INPUT, "sed -i 's/apm/amp/; s/amp = 128/amp = 1/'", NULL);
        assert_file(CONF, GOOD);
        assert_file(DRAFT, "");
        ck_assert_ptr_nonnull(strstr(err, CONF " is left as it was\n"));

        replies = "e\n";
        edit(EXIT_WANTED, "sed -i 's/amp = 128/apm = 1/; s/apm = 128/amp = 128/'", NULL);
        assert_file(CONF, "drives = ( { match = {}; apm = 1; } );\n");

        replies = "k\n";
        edit(EXIT_BAD_INPUT, "sed -i s/apm/amp/", NULL);
        assert_file(DRAFT, "drives = ( { match = {}; amp = 1; } );\n");
        replies = "";
        edit(EXIT_BAD_INPUT, "true", NULL);
        assert_file(DRAFT, "drives = ( { match = {}; amp = 1; } );\n");
}
END_TEST

START_TEST(test_drop_in) {
        edit(EXIT_WANTED, "f() { echo '" GOOD "' >\"$1\"; }; f", "10-a.conf");
        assert_file("etc/drivekeep/drivekeep.conf.d/10-a.conf", GOOD "\n");
        edit(EXIT_WANTED, "true", "drivekeep.conf");
        ck_assert_str_eq(out, CONF " is not changed\n");
        edit(EXIT_WANTED, "true", "20-b.conf");
        ck_assert_int_lt(access("etc/drivekeep/drivekeep.conf.d/20-b.conf", F_OK), 0);
}
END_TEST

/* Another file's error is told, and does not keep this one from being mended. */
START_TEST(test_other_error) {
        ck_assert_int_eq(mkdir("etc/drivekeep/drivekeep.conf.d", 0755), 0);
        file_write("etc/drivekeep/drivekeep.conf.d/10-a.conf", "drives = ( { apm = = 1; } );\n");
        edit(EXIT_WANTED, "sed -i s/128/1/", NULL);
        ck_assert_ptr_nonnull(strstr(err, "10-a.conf:1:"));
        assert_file(CONF, "drives = ( { match = {}; apm = 1; } );\n");
}
END_TEST

/* The link stays, and what it leads to is written. */
START_TEST(test_link) {
        ck_assert_int_eq(rename(CONF, "etc/real.conf"), 0);
        ck_assert_int_eq(symlink("../real.conf", CONF), 0);
        edit(EXIT_WANTED, "sed -i s/128/1/", NULL);
        assert_file("etc/real.conf", "drives = ( { match = {}; apm = 1; } );\n");
        ck_assert_int_eq(unlink(CONF), 0);
        ck_assert_int_eq(symlink("/dev/null", CONF), 0);
        edit(EXIT_BAD_INPUT, "true", NULL);
        ck_assert_ptr_nonnull(strstr(err, "masked by a link to /dev/null"));
}
END_TEST

/* Where others can write beside the file, or decide which file it is, a draft of theirs would become root's configuration. */
START_TEST(test_others) {
        static const char *const commands[] = {
                "mv etc/drivekeep/drivekeep.conf theirs/x.conf && ln -s ../../theirs/x.conf " CONF, /* beside them */
                "ln -s ../roots theirs/l && ln -sf ../../theirs/l/x.conf " CONF,            /* by a link of theirs */
                "ln -s ../../roots theirs/own/l && ln -sf ../../theirs/own/l/x.conf " CONF, /* below a directory of theirs */
                "rm " CONF " && ln -s ../../theirs/missing.conf " CONF,
                "chmod go+w etc/drivekeep",
                "chmod go+w etc",
        };
        static const char planted[] = "drives = ( { match = {}; apm = 1; } );\n";

        ck_assert_int_eq(system("mkdir -p theirs/own roots && chmod 777 theirs"), 0);
        file_write("roots/x.conf", GOOD);
        file_write("theirs/x.conf.draft", planted);
        file_write("roots/x.conf.draft", planted);
        file_write(DRAFT, planted);
        ck_assert_int_eq(system(commands[_i]), 0);

        edit(EXIT_BAD_INPUT, "touch edited; true", NULL);
        ck_assert_ptr_nonnull(strstr(err, CONF " cannot be edited: others can write to a directory in its path"));
        ck_assert_int_lt(access("edited", F_OK), 0);
        if (_i == 0)
                assert_file("theirs/x.conf", GOOD);
        assert_file("roots/x.conf", GOOD);
        assert_file("theirs/missing.conf", "");
}
END_TEST

/* A draft of another user's is not edited further, nor waited for. */
START_TEST(test_strange_draft) {
        ck_assert_int_eq(mkfifo(DRAFT, 0600), 0);
        edit(EXIT_BAD_INPUT, "touch edited; true", NULL);
        ck_assert_ptr_nonnull(
                        strstr(err, DRAFT " cannot be read: it is no file, belongs to another user, or is larger"));
        ck_assert_int_lt(access("edited", F_OK), 0);
        assert_file(CONF, GOOD);
}
END_TEST

/* What an editor still does to its file after the check does not become configuration. */
START_TEST(test_after_check) {
        edit(EXIT_WANTED, "f() { echo '" GOOD "' >\"$1\"; ln \"$1\" held; }; f", NULL);
        assert_file(CONF, GOOD "\n");
        file_write("held", "never = checked;\n");
        assert_file(CONF, GOOD "\n");
}
END_TEST

START_TEST(test_no_editor) {
        edit(EXIT_BAD_INPUT, "false", NULL);
        ck_assert_ptr_nonnull(strstr(err, "the editor has failed; " CONF " is left as it was\n"));
        assert_file(DRAFT, "");
        edit(EXIT_BAD_INPUT, "f() { echo >>\"$1\"; false; }; f", NULL);
        ck_assert_ptr_nonnull(strstr(err, CONF " is left as it was; the draft is "));
        assert_file(DRAFT, GOOD "\n");
        edit(EXIT_BAD_INPUT, "rm", NULL);
        ck_assert_ptr_nonnull(strstr(err, DRAFT " cannot be read: No such file"));
        assert_file(CONF, GOOD);
}
END_TEST

START_TEST(test_twice) {
        _cleanup_close_ int fd = open("etc/drivekeep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        ck_assert_int_eq(flock(fd, LOCK_EX), 0);
        edit(EXIT_BAD_INPUT, "true", NULL);
        ck_assert_ptr_nonnull(strstr(err, "is being edited already"));
}
END_TEST

START_TEST(test_service) {
        _cleanup_close_ int lock = -EBADF;

        ck_assert_int_eq(mkdir("state", 0755), 0);
        lock = record_directory_lock("state");
        edit(EXIT_WANTED, "sed -i s/128/1/", NULL);
        ck_assert_str_eq(out, CONF " is written, and drivekeep.service has read it\n");

        /* On a terminal it also waits for the drives. */
        replies = "";
        file_write("state/sda", APPLIED("128"));
        file_write(CONF, GOOD);
        edit(EXIT_WANTED, "sed -i s/128/1/", NULL);
        ck_assert_str_eq(out, CONF " is written, and drivekeep.service has read it\n"
                                   "sda: apm 1 applied\n1 drive, 1 setting kept\n");
        replies = NULL;

        refusal = "no";
        edit(EXIT_BAD_INPUT, "sed -i 's/= 1/= 2/'", NULL);
        ck_assert_str_eq(out, "");
        ck_assert_ptr_nonnull(strstr(err, "cannot do that: no"));
        assert_file(CONF, "drives = ( { match = {}; apm = 2; } );\n");
}
END_TEST

static const char *const names[] = { "10-a", "../a.conf", ".a.conf", "/etc/passwd" };

START_TEST(test_name) {
        edit(EXIT_BAD_INPUT, "true", names[_i]);
        ck_assert_ptr_nonnull(strstr(err, "is no name of a drop-in"));
}
END_TEST

START_TEST(test_not_root) {
        user = 1000;
        edit(EXIT_BAD_INPUT, "true", NULL);
        ck_assert_ptr_nonnull(strstr(err, "only root may change the configuration"));
}
END_TEST

int main(void) {
        TCase *t = tcase_create("edit");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_test(t, test_good);
        tcase_add_test(t, test_which_editor);
        tcase_add_test(t, test_unchanged);
        tcase_add_test(t, test_bad);
        tcase_add_test(t, test_ask);
        tcase_add_test(t, test_drop_in);
        tcase_add_test(t, test_other_error);
        tcase_add_test(t, test_link);
        tcase_add_loop_test(t, test_others, 0, 6);
        tcase_add_test(t, test_strange_draft);
        tcase_add_test(t, test_after_check);
        tcase_add_test(t, test_no_editor);
        tcase_add_test(t, test_twice);
        tcase_add_test(t, test_service);
        tcase_add_loop_test(t, test_name, 0, ELEMENTSOF(names));
        tcase_add_test(t, test_not_root);
        return test_main("cli-edit", t);
}
