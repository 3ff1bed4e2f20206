/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What no event tells: a drive that is awake again, a link that was lost, a setting that has drifted, and another program, such as the
 * one that Debian's rule has write to all drives when one is attached. */

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "fake-visits.h"
#include "recheck.h"
#include "test-cli.h"

#define RULES "usr/lib/udev/rules.d/85-hdparm.rules"
#define UNMERGED "lib/udev/rules.d/85-hdparm.rules"
#define MASK "etc/udev/rules.d/85-hdparm.rules"

static void make(const char *path, const char *target) {
        make_parents(path);
        if (target)
                ck_assert_int_eq(symlink(target, path), 0);
        else
                file_write(path, "");
}

static const struct {
        const char *rules, *mask, *target;
        bool meets;
} cases[] = {
        { NULL, NULL, NULL, false },         { NULL, MASK, "/dev/null", false },
        { RULES, NULL, NULL, true },         { UNMERGED, NULL, NULL, true }, /* as before the merge of /usr */
        { RULES, MASK, "/dev/null", false }, { RULES, MASK, NULL, false },
        { RULES, MASK, "/dev/nullx", true }, { RULES, MASK, "../../../usr/bin/env", true },
};

START_TEST(test_meets_debian) {
        if (cases[_i].rules)
                make(cases[_i].rules, NULL);
        if (cases[_i].rules && streq(cases[_i].rules, RULES))
                ck_assert_int_eq(symlink("usr/lib", "lib"), 0);
        if (cases[_i].mask)
                make(cases[_i].mask, cases[_i].target);
        ck_assert_int_eq(recheck_meets_debian("."), cases[_i].meets);
}
END_TEST

/* ---- a machine with drives ---- */

static Recheck *recheck;

static void setup(void) {
        manager_setup_with("{ match = {}; apm = 128; read_ahead_kb = 512; }");
        ck_assert_int_eq(recheck_new(event, manager, -1, &recheck), 0);
        present[0].name = "sda";
        present[1].name = "sdb";
        n_present = 2;
        ck_assert_int_eq(manager_enumerate(manager, VISIT_BOOT), 0);
        visit_whole(event, drive("sda"), VERDICT_APPLIED);
        visit_whole(event, drive("sdb"), VERDICT_APPLIED);
}

static void teardown(void) {
        recheck = recheck_free(recheck);
        manager_teardown();
}

/* Its settings are deferred, and that is told as the daemon does. */
static void defer(const char *name) {
        Target *t = drive(name);

        target_visit(t, VISIT_CHANGE);
        visit_whole(event, t, VERDICT_DEFERRED);
        recheck_rested(recheck, t);
        (void) all_done();
}

/* ---- drives that sleep ---- */

/* Looked at every half a minute, until somebody has used it; the others are left alone. */
START_TEST(test_wakes) {
        defer("sda");
        pass(event, 100 * SECOND);
        ck_assert_str_eq(all_done(), "");
        used++;
        pass(event, 46 * SECOND);
        ck_assert_str_eq(all_done(), "sda:wake ");
        visit_whole(event, drive("sda"), VERDICT_APPLIED);

        used++;
        pass(event, 1000 * SECOND);
        ck_assert_str_eq(all_done(), "");
}
END_TEST

/* One that still sleeps is looked out for, also when another has woken up. */
START_TEST(test_both_sleep) {
        defer("sda");
        defer("sdb");
        used++;
        pass(event, 46 * SECOND);
        ck_assert_str_eq(all_done(), "sda:wake sdb:wake ");
        visit_whole(event, drive("sda"), VERDICT_APPLIED);
        visit_whole(event, drive("sdb"), VERDICT_DEFERRED);
        recheck_rested(recheck, drive("sdb"));
        used++;
        pass(event, 46 * SECOND);
        ck_assert_str_eq(all_done(), "sdb:wake ");
}
END_TEST

/* Of one that the kernel has suspended the resume is noticed, whatever it was for and however short. */
static const struct {
        uint64_t delay, soon, late; /* of autosuspend; from the poll at which nothing had happened */
} resumes[] = {
        { 0, 0, 2 * SECOND },
        { 5 * SECOND, SECOND, 4 * SECOND },
        { 3600 * SECOND, 14 * SECOND, 46 * SECOND },
};

START_TEST(test_resumes) {
        autosuspend_usec = resumes[_i].delay;
        suspended = true;
        defer("sda");
        suspended = false;
        defer("sdb");
        suspended = true;
        pass(event, 100 * SECOND);
        ck_assert_str_eq(all_done(), "");
        pass(event, resumes[_i].soon);
        suspended = false;
        pass(event, resumes[_i].late - resumes[_i].soon);
        ck_assert_str_eq(all_done(), "sda:wake sdb:wake ");
        visit_whole(event, drive("sda"), VERDICT_DEFERRED);
        visit_whole(event, drive("sdb"), VERDICT_APPLIED);

        /* It was resumed, and is in standby: that is no news any more. */
        recheck_rested(recheck, drive("sda"));
        pass(event, 100 * SECOND);
        ck_assert_str_eq(all_done(), "");
        used++;
        pass(event, 46 * SECOND);
        ck_assert_str_eq(all_done(), "sda:wake ");
}
END_TEST

/* Resumed between the moment at which the visit found it suspended and the visit's end. */
START_TEST(test_resumes_meanwhile) {
        Target *t = drive("sda");

        target_visit(t, VISIT_CHANGE);
        ready(t);
        suspended = true;
        run(event);
        ck_assert(t->visit.job->working);
        suspended = false;
        over(t, VERDICT_DEFERRED);
        recheck_rested(recheck, t);
        (void) all_done();
        pass(event, 46 * SECOND);
        ck_assert_str_eq(all_done(), "sda:wake ");
}
END_TEST

/* ---- rechecks ---- */

START_TEST(test_recheck) {
        recheck_recheck_every(recheck, 3600 * SECOND);
        used++;
        pass(event, 3500 * SECOND);
        ck_assert_str_eq(all_done(), "");
        pass(event, 500 * SECOND);
        ck_assert_str_eq(all_done(), "");
        used += _i;
        pass(event, 12 * SECOND);
        ck_assert_str_eq(all_done(), "sda:recheck sdb:recheck ");
        /* Whether it is kept awake by its user shows in these ten seconds. */
        ck_assert_int_eq(!!(drive("sda")->visit.pending.work & WORK_ACTIVE), _i);
        ck_assert_int_eq(!!(drive("sda")->visit.pending.work & WORK_DRIVE), _i);
        visit_whole(event, drive("sda"), VERDICT_UNCHANGED);

        /* What is under way sees it all. */
        pass(event, 4000 * SECOND);
        pass(event, 12 * SECOND);
        ck_assert_str_eq(all_done(), "sda:recheck ");
        visit_whole(event, drive("sda"), VERDICT_UNCHANGED);
        visit_whole(event, drive("sdb"), VERDICT_UNCHANGED);

        /* Another time, and never. */
        recheck_recheck_every(recheck, 60 * SECOND);
        pass(event, 70 * SECOND);
        pass(event, 12 * SECOND);
        ck_assert_str_eq(all_done(), "sda:recheck sdb:recheck ");
        visit_whole(event, drive("sda"), VERDICT_UNCHANGED);
        visit_whole(event, drive("sdb"), VERDICT_UNCHANGED);
        recheck_recheck_every(recheck, 0);
        pass(event, 10000 * SECOND);
        ck_assert_str_eq(all_done(), "");
}
END_TEST

/* The files are read anew, and say the same: it does not begin anew. */
START_TEST(test_recheck_same) {
        recheck_recheck_every(recheck, 100 * SECOND);
        pass(event, 95 * SECOND);
        recheck_recheck_every(recheck, 100 * SECOND);
        pass(event, 20 * SECOND);
        pass(event, 12 * SECOND);
        ck_assert_str_eq(all_done(), "sda:recheck sdb:recheck ");
}
END_TEST

/* Whose user is to be noticed by those who look out for that is not looked at. */
START_TEST(test_recheck_sleeps) {
        defer("sda");
        recheck_recheck_every(recheck, 20 * SECOND);
        used++;
        pass(event, 23 * SECOND);
        pass(event, 5 * SECOND);
        ck_assert_str_eq(all_done(), "");
        pass(event, 20 * SECOND);
        ck_assert(strstr(all_done(), "sda:wake"));
}
END_TEST

/* ---- links, and other programs ---- */

static const struct {
        LinkNews news;
        bool recovering, again;
        const char *done;
} links[] = {
        { LINK_SAME, false, false, "" },
        { LINK_SAME, true, false, "" },
        { LINK_RESET, true, true, "" },
        { LINK_RESET, false, false, "sda:reset " },
        { LINK_LOST, false, false, "sda:reset " },
};

START_TEST(test_link) {
        /* One whose directory is there. */
        free(drive("sda")->drive->syspath);
        drive("sda")->drive->syspath = strdup(".");
        noted = links[_i].news;
        recovering = links[_i].recovering;
        ck_assert_int_eq(recheck_links(recheck), links[_i].again);
        ck_assert_str_eq(all_done(), links[_i].done);
}
END_TEST

/* There is no log to read, but a terminal, a pipe, /dev/null: that is told, and all else works. */
START_TEST(test_no_log) {
        _cleanup_close_ int fd = _i ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
        Recheck *without;

        last_priority = 0;
        ck_assert_int_eq(recheck_new(event, manager, fd, &without), 0);
        ck_assert_int_eq(last_priority, 5);
        (void) recheck_free(without);
}
END_TEST

/* ---- the kernel's log ---- */

static int kmsg = -EBADF, kernel = -EBADF; /* the service's end, and the kernel's */
static int next_error;                     /* of the next read */
static dev_t log_device;

int __real_fstat64(int fd, struct stat *ret);
int __wrap_fstat64(int fd, struct stat *ret);
int __wrap_fstat64(int fd, struct stat *ret) {
        if (fd != kmsg || kmsg < 0)
                return __real_fstat64(fd, ret);
        *ret = (struct stat){ .st_mode = S_IFCHR | 0600, .st_rdev = log_device };
        return 0;
}

/* To its end. */
off_t __wrap_lseek64(int fd, off_t offset, int whence);
off_t __wrap_lseek64(int fd, off_t offset, int whence) {
        char byte;

        ck_assert(fd == kmsg && offset == 0 && whence == SEEK_END);
        if (next_error > 0) {
                errno = next_error;
                return -1;
        }
        while (recv(fd, &byte, 1, MSG_DONTWAIT) > 0)
                ;
        return 0;
}

ssize_t __real_read(int fd, void *buf, size_t size);
ssize_t __wrap_read(int fd, void *buf, size_t size);
ssize_t __wrap_read(int fd, void *buf, size_t size) {
        if (fd != kmsg || next_error == 0)
                return __real_read(fd, buf, size);
        errno = next_error;
        next_error = 0;
        return -1;
}
ssize_t __wrap___read_chk(int fd, void *buf, size_t size, size_t room);
ssize_t __wrap___read_chk(int fd, void *buf, size_t size, _unused_ size_t room) {
        return __wrap_read(fd, buf, size);
}

static void say(const char *record) {
        ck_assert_int_eq(send(kernel, record, strlen(record), 0), (ssize_t) strlen(record));
}

#define LIBATA "6,1004,98765432,-;ata3: SATA link down (SStatus 0 SControl 300)\n"
#define OTHER "6,1008,98765432,-;sd 2:0:0:0: [sda] Attached SCSI disk\n"

static void setup_log(void) {
        int fds[2];

        setup();
        (void) recheck_free(recheck);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        kmsg = fds[0];
        kernel = fds[1];
        log_device = makedev(1, 11);
        say(LIBATA); /* of the time before */
        last_priority = 0;
        ck_assert_int_eq(recheck_new(event, manager, kmsg, &recheck), 0);
        ck_assert_int_eq(last_priority, 0);
        ck_assert(fcntl(kmsg, F_GETFL) & O_NONBLOCK);

        free(drive("sda")->drive->syspath);
        drive("sda")->drive->syspath = strdup(".");
        noted = LINK_LOST;
}

static void teardown_log(void) {
        teardown();
        closep(&kmsg);
        closep(&kernel);
}

/* Two seconds after libata has spoken, and not for others; a whole record is read at once, however long it is. */
START_TEST(test_log) {
        char longest[8192 + 1];

        (void) memset(longest, 'x', sizeof longest);
        (void) memcpy(longest, OTHER, strlen(OTHER));
        longest[sizeof longest - 1] = '\0';
        pass(event, 5 * SECOND);
        say(OTHER);
        say(longest);
        pass(event, 5 * SECOND);
        ck_assert_str_eq(all_done(), "");

        say(OTHER);
        say(LIBATA);
        say(OTHER);
        pass(event, 19 * SECOND / 10);
        ck_assert_str_eq(all_done(), "");
        pass(event, SECOND / 2);
        ck_assert_str_eq(all_done(), "sda:reset ");
}
END_TEST

/* Some were overwritten before they were read, or reading was disturbed: what was said may have been libata's. */
START_TEST(test_log_disturbed) {
        next_error = _i ? EPIPE : EINTR;
        say(OTHER);
        pass(event, SECOND / 10);
        ck_assert_int_eq(next_error, 0);
        ck_assert_int_lt(recv(kmsg, &kmsg, 0, MSG_DONTWAIT), 0);
        pass(event, 3 * SECOND);
        ck_assert_str_eq(all_done(), _i ? "sda:reset " : "");
}
END_TEST

/* While libata goes on the links are left alone, but not for ever. */
START_TEST(test_log_goes_on) {
        unsigned n = 0; /* tenths of a second until they are looked at */

        for (; done[0] == '\0' && n < 300; n++) {
                if (n % 15 == 0)
                        say(LIBATA);
                pass(event, SECOND / 10);
        }
        ck_assert_uint_gt(n, 100);
        ck_assert_uint_lt(n, 125);
        ck_assert_str_eq(all_done(), "sda:reset ");
}
END_TEST

/* The log wakes nobody up more than once in a second. */
START_TEST(test_log_rate) {
        say(OTHER);
        run(event);
        ck_assert_int_lt(recv(kmsg, &kmsg, 0, MSG_DONTWAIT | MSG_PEEK), 0);
        pass(event, SECOND / 2);
        say(OTHER);
        run(event);
        ck_assert_int_ge(recv(kmsg, &kmsg, 0, MSG_DONTWAIT | MSG_PEEK), 0);
        pass(event, SECOND);
        ck_assert_int_lt(recv(kmsg, &kmsg, 0, MSG_DONTWAIT | MSG_PEEK), 0);
}
END_TEST

/* The kernel is still at it when libata has been quiet for long enough: it is looked at again. */
START_TEST(test_log_recovering) {
        noted = LINK_RESET;
        recovering = true;
        say(LIBATA);
        pass(event, 5 * SECOND / 2);
        ck_assert_str_eq(all_done(), "");
        recovering = false;
        pass(event, SECOND);
        ck_assert_str_eq(all_done(), "");
        pass(event, 2 * SECOND);
        ck_assert_str_eq(all_done(), "sda:reset ");
        noted = LINK_RESET;
        pass(event, 10 * SECOND);
        ck_assert_str_eq(all_done(), "");
}
END_TEST

/* Another device, or one that has no end: that is told, and it is left alone. */
START_TEST(test_other_device) {
        static const unsigned devices[][2] = { { 1, 12 }, { 2, 11 }, { 1, 10 }, { 1, 11 } };
        Recheck *without;

        log_device = makedev(devices[_i][0], devices[_i][1]);
        next_error = _i == ELEMENTSOF(devices) - 1 ? ESPIPE : 0;
        recheck = recheck_free(recheck);
        ck_assert_int_eq(recheck_new(event, manager, kmsg, &without), 0);
        next_error = 0;
        ck_assert_int_eq(last_priority, 5);
        say(LIBATA);
        pass(event, 10 * SECOND);
        ck_assert_str_eq(all_done(), "");
        (void) recheck_free(without);
}
END_TEST

/* What would be looked at later is told of where there are no timers. */
START_TEST(test_no_timers) {
        ck_assert(sd_event_exit(event, 0) >= 0 && sd_event_loop(event) == 0);
        last_priority = 0;
        recheck_recheck_every(recheck, 0);
        ck_assert_int_eq(last_priority, 0);
        recheck_recheck_every(recheck, 60 * SECOND);
        ck_assert_int_eq(last_priority, 4);
}
END_TEST

static const struct {
        const char *attached, *done;
} attached[] = { { "sda", "sda:recheck sdb:recheck " }, { "nvme0n1", "" }, { "sdaa", "" } };

/* Two seconds after the last one; where no rule is, nobody looks. */
START_TEST(test_attached) {
        recheck_attached(recheck, attached[_i].attached);
        pass(event, SECOND);
        recheck_attached(recheck, attached[_i].attached);
        pass(event, 3 * SECOND / 2);
        ck_assert_str_eq(all_done(), "");
        pass(event, SECOND);
        ck_assert_str_eq(all_done(), recheck_meets_debian("") ? attached[_i].done : "");
}
END_TEST

int main(void) {
        TCase *t = tcase_create("recheck"), *drives = tcase_create("drives");
        Suite *s = suite_create("recheck");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_loop_test(t, test_meets_debian, 0, ELEMENTSOF(cases));
        suite_add_tcase(s, t);
        tcase_add_checked_fixture(drives, setup, teardown);
        tcase_add_test(drives, test_wakes);
        tcase_add_test(drives, test_both_sleep);
        tcase_add_loop_test(drives, test_resumes, 0, ELEMENTSOF(resumes));
        tcase_add_test(drives, test_resumes_meanwhile);
        tcase_add_loop_test(drives, test_recheck, 0, 2);
        tcase_add_test(drives, test_recheck_same);
        tcase_add_test(drives, test_recheck_sleeps);
        tcase_add_loop_test(drives, test_link, 0, ELEMENTSOF(links));
        tcase_add_loop_test(drives, test_no_log, 0, 2);
        tcase_add_loop_test(drives, test_attached, 0, ELEMENTSOF(attached));
        tcase_add_test(drives, test_no_timers);
        suite_add_tcase(s, drives);

        t = tcase_create("log");
        tcase_add_checked_fixture(t, setup_log, teardown_log);
        tcase_add_test(t, test_log);
        tcase_add_loop_test(t, test_log_disturbed, 0, 2);
        tcase_add_test(t, test_log_goes_on);
        tcase_add_test(t, test_log_rate);
        tcase_add_test(t, test_log_recovering);
        tcase_add_loop_test(t, test_other_device, 0, 4);
        suite_add_tcase(s, t);
        return suite_run(s);
}
