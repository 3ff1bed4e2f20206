/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The daemon's state files: hostile content, and a file system without space. */

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "safe-file.h"
#include "settings.h"
#include "state-file.h"
#include "test-cli.h"
#include "safe-file.h"
#include "worker-message.h"

static DriveRecord *record_make(const char *name, const char *model) {
        DriveRecord *r = calloc(1, sizeof *r);

        ck_assert_ptr_nonnull(r);
        r->name = strdup(name);
        r->model = strdup(model);
        return r;
}

static void write_ok(const char *model) {
        _cleanup_(drive_record_freep) DriveRecord *r = record_make("sda", model);

        ck_assert_int_eq(state_write(".", r), 0);
}

static void read_ok(const char *model) {
        _cleanup_(drive_record_freep) DriveRecord *r = NULL;

        ck_assert_int_eq(state_read(".", "sda", &r), 0);
        ck_assert_str_eq(r->model, model);
}

static bool is_locked(void) {
        _cleanup_close_ int fd = open("drives", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        return record_directory_is_locked(fd);
}

/* Readers of the state directory can see whether the daemon is running, even after a crash of the daemon. */
START_TEST(test_lock) {
        int fd, to_child[2], from_child[2], status;
        char byte;
        pid_t pid;

        fd = state_lock("drives");
        ck_assert_int_ge(fd, 0);
        ck_assert(is_locked());
        (void) state_prune("drives", NULL, NULL); /* must keep the lock, although state_prune() closes the directory */
        ck_assert(is_locked());
        ck_assert_int_eq(close(fd), 0);
        ck_assert(!is_locked());

        ck_assert(pipe(to_child) == 0 && pipe(from_child) == 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                byte = state_lock("drives") >= 0;
                (void) (write(from_child[1], &byte, 1) == 1 && read(to_child[0], &byte, 1));
                _exit(0);
        }
        ck_assert_int_eq(read(from_child[0], &byte, 1), 1);
        ck_assert_int_eq(byte, 1);
        ck_assert(is_locked());
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(!is_locked());
}
END_TEST

static bool lock_by(uid_t uid, const char *path, short type) {
        int status;
        pid_t pid;

        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                struct flock lock = { .l_type = type, .l_whence = SEEK_SET };
                int fd;

                if (uid != 0 && (setgroups(0, NULL) < 0 || setuid(uid) < 0))
                        _exit(2);
                fd = open(path, type == F_WRLCK ? O_RDWR : O_RDONLY);
                if (fd < 0 || fcntl(fd, F_OFD_SETLK, &lock) < 0)
                        _exit(1);
                /* Checks the lock in this process, since the lock ends when this process exits. */
                _exit(is_locked() ? 0 : 1);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        return WEXITSTATUS(status) == 0;
}

/* A user who can only read the state directory cannot make the directory appear locked, and cannot block the daemon. */
START_TEST(test_lock_of_others) {
        static const char *const paths[] = { "drives", "drives/.lock" };
        uid_t uid = geteuid() == 0 ? 65534 : 0;
        struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
        int fd, theirs;

        ck_assert_int_eq(chmod(".", 0755), 0);
        fd = state_lock("drives");
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(close(fd), 0);
        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                ck_assert(!lock_by(uid, paths[i], F_RDLCK));
        if (uid != 0)
                ck_assert(!lock_by(uid, "drives/.lock", F_WRLCK));

        theirs = open("drives/.lock", O_RDONLY | O_CLOEXEC);
        ck_assert(theirs >= 0 && fcntl(theirs, F_OFD_SETLK, &lock) >= 0);
        fd = state_lock("drives");
        ck_assert_int_ge(fd, 0);
        ck_assert(is_locked());
        ck_assert_int_eq(close(fd), 0);
        ck_assert_int_eq(close(theirs), 0);
}
END_TEST

START_TEST(test_round_trip) {
        write_ok("A");
        read_ok("A");
        write_ok("B");
        read_ok("B");
        ck_assert_int_lt(access("sda.new~", F_OK), 0);
        ck_assert_int_eq(state_remove(".", "sda"), 0);
        ck_assert_int_lt(access("sda", F_OK), 0);
}
END_TEST

static bool keep_sdb(_unused_ void *userdata, const char *name) {
        ck_assert_str_ne(name, ".lock");
        return streq(name, "sdb");
}

/* State files of removed drives are deleted, and hidden files stay. The metrics are updated if there was such a file. */
START_TEST(test_prune) {
        static const char *const names[] = { "sda", "sdb", "sdc", ".lock" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                file_write(names[i], "");
        ck_assert_int_eq(state_prune(".", keep_sdb, NULL), 0);
        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                ck_assert((access(names[i], F_OK) >= 0) == (i % 2 == 1));
        ck_assert_int_eq(unlink(STATE_NEWS), 0);
        ck_assert_int_eq(state_prune(".", keep_sdb, NULL), 0);
        ck_assert_int_eq(access(STATE_NEWS, F_OK), -1);
        ck_assert_int_eq(state_prune("nonesuch", keep_sdb, NULL), -ENOENT);
        ck_assert_int_eq(state_remove(".", "sda"), -ENOENT);
        ck_assert_int_eq(state_remove(".", "../sdb"), -EINVAL);
}
END_TEST

static const struct {
        const char *text;
        int error;
} bad[] = {
        { "", -EBADMSG },
        { "VERSION=2\nNAME=sda\n", -EBADMSG },
        { "NAME=sda\n", -EBADMSG },
        { "VERSION=1\nNAME=sda", -EBADMSG },
        { "VERSION=1\nNAME=sda\nSETTINGS=4000000000\n", -EBADMSG },
        { "VERSION=1\nNAME=sda\nSETTINGS=1\n", -EBADMSG },
        { "VERSION=1\nNAME=sda\nSTATE=dancing\n", -EBADMSG },
        { "\xff\xff\xff\xff", -EBADMSG },
};

START_TEST(test_bad) {
        DriveRecord *r = NULL;

        file_write("sda", bad[_i].text);
        ck_assert_msg(state_read(".", "sda", &r) < 0, "\"%s\" was taken for a record", bad[_i].text);
        ck_assert_ptr_null(r);
}
END_TEST

/* A record that is cut at any byte is rejected or has fewer fields, and never causes a crash or a partial line. */
START_TEST(test_truncated) {
        char text[4096] = "";
        FILE *f;
        size_t n;

        write_ok("MODEL");
        f = fopen("sda", "r");
        n = fread(text, 1, sizeof text - 1, f);
        ck_assert_int_eq(fclose(f), 0);
        ck_assert_uint_gt(n, 20);
        for (size_t size = 0; size < n; size++) {
                _cleanup_(drive_record_freep) DriveRecord *r = NULL;

                ck_assert_int_eq(truncate("sda", size), 0);
                if (state_read(".", "sda", &r) >= 0)
                        ck_assert(!r->model || streq(r->model, "MODEL"));
                file_write("sda", text);
        }
}
END_TEST

/* A state file that is an endless device node, a pipe that would block, or a symbolic link is rejected. */
START_TEST(test_no_file) {
        DriveRecord *r = NULL;

        ck_assert_int_eq(symlink("/dev/zero", "sda"), 0);
        ck_assert_int_eq(state_read(".", "sda", &r), -ELOOP);
        ck_assert_int_eq(mkfifo("sdb", 0600), 0);
        ck_assert_int_eq(state_read(".", "sdb", &r), -EBADMSG);
        ck_assert_int_eq(mkdir("sdc", 0700), 0);
        ck_assert_int_eq(state_read(".", "sdc", &r), -EBADMSG);
        ck_assert_int_eq(state_read(".", "sdd", &r), -ENOENT);
        ck_assert_int_eq(state_read(".", "../sda", &r), -EINVAL);
        ck_assert_int_eq(state_read(".", ".", &r), -EINVAL);

        file_write("sde", "");
        ck_assert_int_eq(truncate("sde", (off_t) 1 << 40), 0);
        ck_assert_int_eq(state_read(".", "sde", &r), -EBADMSG);
        ck_assert_int_eq(truncate("sde", RECORD_MAX_BYTES + 1), 0);
        ck_assert_int_eq(state_read(".", "sde", &r), -EBADMSG);
        ck_assert_ptr_null(r);
}
END_TEST

START_TEST(test_owner) {
        DriveRecord *r = NULL;

        if (geteuid() != 0) {
                printf("skipped: the state file of another user, which only root can make\n");
                return;
        }
        write_ok("A");
        ck_assert_int_eq(chown("sda", 65534, 65534), 0);
        ck_assert_int_eq(state_read(".", "sda", &r), -EBADMSG);
}
END_TEST

/* A symbolic link in the place of the temporary file is not followed. */
START_TEST(test_temporary_link) {
        _cleanup_(drive_record_freep) DriveRecord *r = record_make("sda", "A");
        char text[32];

        file_write("elsewhere", "untouched");
        ck_assert_int_eq(symlink("elsewhere", "sda.new~"), 0);
        ck_assert_int_eq(state_write(".", r), 0);
        read_ok("A");
        file_read("elsewhere", text, sizeof text);
        ck_assert_str_eq(text, "untouched");
}
END_TEST

/* A file size limit simulates a full file system: the write fails after it has begun. */
START_TEST(test_full) {
        _cleanup_(drive_record_freep) DriveRecord *r = record_make("sda", "B");
        const struct rlimit full = { 10, RLIM_INFINITY }, room = { RLIM_INFINITY, RLIM_INFINITY };

        write_ok("A");
        ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &full), 0);
        ck_assert_int_lt(state_write(".", r), 0);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &room), 0);

        /* Both the partial new file and the outdated old file are missing. */
        ck_assert_int_lt(access("sda", F_OK), 0);
        ck_assert_int_lt(access("sda.new~", F_OK), 0);
        ck_assert_int_eq(state_write(".", r), 0);
        read_ok("B");
}
END_TEST

/* Makes a request with `n` settings, and parses the request as a worker does. Returns the first error. */
static int request_worker(const Wish *items, size_t n) {
        Drive d = { .name = (char *) "sda",
                    .node = (char *) "/dev/sda",
                    .syspath = (char *) "/sys/devices/pci0000:00/ata1/block/sda",
                    .transport = TRANSPORT_SATA };
        Wishes wishes = { .items = (Wish *) items, .n_items = n };
        const Visit v = { .drive = &d, .wishes = &wishes, .settings = &all_settings };
        _cleanup_free_ void *request = NULL;
        VisitRequest requested;
        size_t size;
        int r;

        r = visit_request_new(&v, &request, &size);
        if (r >= 0)
                r = visit_request_parse(request, size, &all_settings, &requested);
        return r;
}

/* All settings of the table fit into one request and one state file. */
START_TEST(test_every_setting) {
        static Wish wishes[2 * RECORD_MAX_SETTINGS];
        _cleanup_(drive_record_freep) DriveRecord *record = record_make("sda", "A");
        _cleanup_free_ char *reason = NULL, *rule = NULL;
        size_t n = 0;

        ck_assert_int_gt(asprintf(&reason, "%0*d", (int) STEP_REASON_MAX - 1, 0), 0);
        ck_assert_int_gt(asprintf(&rule, "/usr/lib/drivekeep/drivekeep.conf.d/%0255d", 0), 0);

        SETTING_TABLE_FOREACH(s, &all_settings) {
                SettingRecord *setting;
                char value[VALUE_TEXT_MAX] = {};

                if (s->alias_of || drive_record_find(record, s->name))
                        continue;
                ck_assert_int_eq(drive_record_add(record, s->name, &setting), 0);
                memset(value, 'x', sizeof value - 1);
                ck_assert(string_replace(&setting->wanted, value) >= 0 &&
                          string_replace(&setting->before, value) >= 0 &&
                          string_replace(&setting->actual, value) >= 0 &&
                          string_replace(&setting->reason, reason) >= 0 && string_replace(&setting->rule, rule) >= 0);
                ck_assert_uint_lt(n, RECORD_MAX_SETTINGS);
                wishes[n++] = (Wish){ .name = s->name, .withheld = true, .file = rule, .line = 1 };
        }

        ck_assert_uint_gt(n, 50);
        ck_assert_int_eq(request_worker(wishes, n), 0);
        ck_assert_int_eq(state_write(".", record), 0);
        read_ok("A");

        /* A request with more settings than a state file can hold is rejected. */
        for (size_t i = 0; i < ELEMENTSOF(wishes); i++)
                wishes[i] = (Wish){ .name = "apm", .withheld = true, .file = "/", .line = 1 };
        ck_assert_int_eq(request_worker(wishes, RECORD_MAX_SETTINGS + 1), -E2BIG);
}
END_TEST

/* The first change of a state file creates the flag file, which starts a unit. Later changes do not touch the flag file,
 * so they do not start the unit again. After the unit has removed the flag file, the next change creates a new one. */
START_TEST(test_flag_files) {
        struct stat before, after;

        write_ok("A");
        ck_assert_int_eq(stat(STATE_NEWS, &before), 0);
        write_ok("B");
        ck_assert_int_eq(stat(STATE_NEWS, &after), 0);
        ck_assert_int_eq(memcmp(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim), 0);
        ck_assert_uint_eq(before.st_ino, after.st_ino);

        ck_assert_int_eq(unlink(STATE_NEWS), 0);
        write_ok("C");
        ck_assert_int_eq(unlink(STATE_NEWS), 0);
        ck_assert_int_eq(state_remove(".", "sda"), 0);
        ck_assert_int_eq(unlink(STATE_NEWS), 0);
        ck_assert_int_eq(state_remove(".", "sda"), -ENOENT);
        ck_assert_int_eq(access(STATE_NEWS, F_OK), -1);
        state_notify(".", STATE_NEWS);
        ck_assert_int_eq(unlink(STATE_NEWS), 0);
        state_notify("missing", STATE_NEWS);

        /* The flag file is neither treated as a drive's state file nor deleted. */
        state_notify(".", STATE_NEWS);
        ck_assert_int_eq(state_prune(".", NULL, NULL), 0);
        ck_assert_int_eq(access(STATE_NEWS, F_OK), 0);
}
END_TEST

int main(void) {
        Suite *s = suite_create("state");
        TCase *t = tcase_create("state");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_test(t, test_lock);
        tcase_add_test(t, test_lock_of_others);
        tcase_add_test(t, test_every_setting);
        tcase_add_test(t, test_round_trip);
        tcase_add_test(t, test_prune);
        tcase_add_loop_test(t, test_bad, 0, ELEMENTSOF(bad));
        tcase_add_test(t, test_truncated);
        tcase_add_test(t, test_no_file);
        tcase_add_test(t, test_owner);
        tcase_add_test(t, test_temporary_link);
        tcase_add_test(t, test_flag_files);
        tcase_add_test(t, test_full);
        suite_add_tcase(s, t);

        return suite_run(s);
}
