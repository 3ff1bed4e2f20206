/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The actions that the sandboxes still permit to a worker, a proxy and the tracer. The node is /dev/null with two
 * partitions. The test creates the drive's directory, and the directories of two controllers to which the drive's
 * directory links. */

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/landlock.h>
#include <linux/nvme_ioctl.h>
#include <linux/sockios.h>
#include <scsi/sg.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sandbox.h"
#include "test-cli.h"

typedef enum Sandbox {
        WORKER,
        LOST_WORKER, /* a worker that has found neither the drive's sysfs directory nor its partitions */
        PROXY,
        TRACER, /* a tracer, for which a directory of this test replaces the tracefs instance */
        _SANDBOX_MAX,
} Sandbox;

static int confine(Sandbox sandbox) {
        char *const partitions[] = { (char *) "zero", (char *) "nonesuch", (char *) "full", NULL };
        char own[128], disk[160];

        (void) snprintf(own, sizeof own, "%s/nvme-subsys0", scratch);
        (void) snprintf(disk, sizeof disk, "%s/nvme0n1", own);
        if (sandbox == PROXY)
                return sandbox_proxy();
        if (sandbox == TRACER)
                return sandbox_tracer(own);
        return sandbox == WORKER ? sandbox_worker("/dev/null", partitions, disk)
                                 : sandbox_worker("/dev/null", NULL, "");
}

/* Runs `action` in a child with this sandbox. Returns the result of `action`, which must fit in one byte. */
static int confined(Sandbox sandbox, int (*action)(void)) {
        int status;
        pid_t pid;

        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0)
                _exit(confine(sandbox) < 0 ? 0xFF : action());
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        ck_assert_int_ne(WEXITSTATUS(status), 0xFF);
        return WEXITSTATUS(status);
}

/* The Landlock version that the test's syscall() reports; 0: the real version. If the number is not 0, each attempt to
 * create rules fails with EIO. */
static long landlock_version;
static uint64_t scoped;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
        long a[4];
        va_list ap;

        va_start(ap, number);
        for (size_t i = 0; i < ELEMENTSOF(a); i++)
                a[i] = va_arg(ap, long);
        va_end(ap);

        if (number != SYS_landlock_create_ruleset || landlock_version == 0)
                return __real_syscall(number, a[0], a[1], a[2], a[3]);
        if (a[2] == LANDLOCK_CREATE_RULESET_VERSION)
                return landlock_version;
        ck_assert_int_eq(a[1], 3 * sizeof(uint64_t));
        scoped = ((const uint64_t *) a[0])[2];
        errno = EIO;
        return -1;
}

/* A socket pair that was created before the process enters the sandbox. */
static int pair[2];

static void setup(void) {
        scratch_make();
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
        ck_assert_int_eq(chmod(".", 0755), 0);
        ck_assert_int_eq(
                        system("mkdir -p nvme-subsys0/nvme0n1 first second other page-cache && touch page-cache/file && ln -s ../../page-cache nvme-subsys0/nvme0n1/bdi && "
                               "touch nvme-subsys0/file first/file second/file other/file && "
                               "ln -s ../first nvme-subsys0/nvme0 && ln -s ../nonesuch nvme-subsys0/nvme1 && ln -s ../second nvme-subsys0/nvme12 && "
                               "ln -s ../other nvme-subsys0/subsystem"),
                        0);
}

/* ---- files ---- */

/* Paths are relative to the scratch directory, unless they begin with a slash. */
static const struct {
        const char *path;
        int flags;
        bool allowed[_SANDBOX_MAX];
} files[] = {
        { "/dev/null", O_RDONLY, { [WORKER] = true, [LOST_WORKER] = true } },
        { "/dev/null", O_WRONLY, {} },
        { "/dev/zero", O_RDONLY, { [WORKER] = true } },
        { "/dev/zero", O_WRONLY, {} },
        { "/dev/full", O_RDONLY, { [WORKER] = true } },
        { "/dev/full", O_WRONLY, {} },
        { "/dev/urandom", O_RDONLY, {} },
        { "nvme-subsys0/file", O_RDONLY, { [WORKER] = true, [TRACER] = true } },
        { "nvme-subsys0/file", O_WRONLY, { [WORKER] = true, [TRACER] = true } },
        { "nvme-subsys0", O_RDONLY | O_DIRECTORY, { [WORKER] = true, [TRACER] = true } },
        { "nvme-subsys0/new", O_WRONLY | O_CREAT, {} },
        { "first/file", O_WRONLY, { [WORKER] = true } },
        { "second/file", O_WRONLY, { [WORKER] = true } },
        { "nvme-subsys0/nvme12/file", O_RDONLY, { [WORKER] = true } },
        { "nvme-subsys0/nvme0n1/bdi/file", O_WRONLY, { [WORKER] = true } },
        { "other/file", O_RDONLY, {} },
        { "other/file", O_WRONLY, {} },
        { "/sys/kernel/uevent_seqnum", O_RDONLY, { [WORKER] = true, [LOST_WORKER] = true } },
        { "/sys/class", O_RDONLY | O_DIRECTORY, { [WORKER] = true, [LOST_WORKER] = true } },
        { "/proc/self/mountinfo", O_RDONLY, { [WORKER] = true, [LOST_WORKER] = true, [TRACER] = true } },
        { "/sys/class/block", O_RDONLY | O_DIRECTORY, { [WORKER] = true, [LOST_WORKER] = true, [TRACER] = true } },
        { "/sys/devices", O_RDONLY | O_DIRECTORY, { [WORKER] = true, [LOST_WORKER] = true, [TRACER] = true } },
        { "/proc/self/comm", O_WRONLY, {} },
        { "/etc/passwd", O_RDONLY, {} },
        { "/etc", O_RDONLY | O_DIRECTORY, {} },
};
static size_t file_at;

static int try_open(void) {
        return open(files[file_at].path, files[file_at].flags | O_CLOEXEC, 0644) >= 0;
}

START_TEST(test_files) {
        file_at = _i;
        if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0) {
                printf("skipped: files, which a kernel with Landlock is needed for\n");
                return;
        }
        ck_assert(!sandbox_lacks_landlock());
        for (Sandbox sandbox = 0; sandbox < _SANDBOX_MAX; sandbox++)
                ck_assert_msg(confined(sandbox, try_open) == files[_i].allowed[sandbox], "%s, sandbox: %d",
                              files[_i].path, sandbox);
}
END_TEST

/* ---- system calls ---- */

/* Number of the ioctl() that try_ioctl() tries. /dev/null does not implement it, so a permitted ioctl() fails with ENOTTY. */
static unsigned long number;
static int try_ioctl(void) {
        uint64_t argument[16] = {};
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        return ioctl(fd, number, argument) < 0 ? errno : 0;
}

static const struct {
        unsigned long number;
        bool allowed;
} numbers[] = {
        { SG_IO, true },         { NVME_IOCTL_ADMIN_CMD, true }, { BLKROSET, true },
        { BLKGETDISKSEQ, true }, { NVME_IOCTL_IO_CMD, false },   { BLKFLSBUF, false },
        { BLKRRPART, false },    { SG_IO + 1, false },
};

START_TEST(test_ioctl) {
        number = numbers[_i].number;
        ck_assert_int_eq(confined(WORKER, try_ioctl), numbers[_i].allowed ? ENOTTY : EPERM);
        ck_assert_int_eq(confined(LOST_WORKER, try_ioctl), numbers[_i].allowed ? ENOTTY : EPERM);
}
END_TEST

static int try_socket(void) {
        return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) < 0 ? errno : 0;
}
static int try_read(void) {
        char c;
        int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

        return fd < 0 || read(fd, &c, 1) < 0 ? errno : 0;
}
static int try_process(void) {
        pid_t pid = fork();

        if (pid == 0)
                _exit(0);
        return pid < 0 ? errno : 0;
}
static int try_kill(void) {
        return kill(getpid(), 0) < 0 ? errno : 0;
}
static int try_sendmsg(void) {
        return sendmsg(pair[0], &(struct msghdr){}, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? errno : 0;
}
static const struct {
        int (*action)(void);
        int worker, proxy, tracer;
} actions[] = {
        { try_read, 0, EPERM, 0 },         { try_socket, EPERM, 0, EPERM },  { try_process, EPERM, EPERM, EPERM },
        { try_kill, EPERM, EPERM, EPERM }, { try_sendmsg, EPERM, 0, EPERM },
};

START_TEST(test_actions) {
        ck_assert_int_eq(confined(WORKER, actions[_i].action), actions[_i].worker);
        ck_assert_int_eq(confined(PROXY, actions[_i].action), actions[_i].proxy);
        ck_assert_int_eq(confined(TRACER, actions[_i].action), actions[_i].tracer);
}
END_TEST

/* The new owner of a socket: the test's process, which also created the socket. The kernel signals the owner when data arrives. */
static struct f_owner_ex owner = { .type = F_OWNER_PID };
#define OWNER ((uintptr_t) &owner)

static struct {
        int command;
        uintptr_t argument;
} control;
static int try_control(void) {
        return fcntl(pair[0], control.command, control.argument) < 0 ? errno : 0;
}

static const struct {
        int command;
        uintptr_t argument;
        int worker, proxy;
} controls[] = {
        { F_GETFD, 0, 0, 0 },
        { F_SETFD, FD_CLOEXEC, 0, 0 },
        { F_GETFL, 0, 0, 0 },
        { F_SETFL, O_NONBLOCK, EPERM, 0 },
        { F_SETFL, O_ASYNC, EPERM, EPERM },
        { F_SETFL, O_ASYNC | O_NONBLOCK, EPERM, EPERM },
        { F_SETOWN, 0, EPERM, EPERM },
        { F_SETOWN, 1, EPERM, EPERM },
        { F_SETOWN_EX, OWNER, EPERM, EPERM },
        { F_SETSIG, SIGKILL, EPERM, EPERM },
        { F_SETSIG, 0, EPERM, EPERM },
};

START_TEST(test_controls) {
        control.command = controls[_i].command;
        control.argument = controls[_i].argument;
        owner.pid = getpid();
        ck_assert_int_eq(confined(WORKER, try_control), controls[_i].worker);
        ck_assert_int_eq(confined(TRACER, try_control), controls[_i].worker);
        ck_assert_int_eq(confined(PROXY, try_control), controls[_i].proxy);
}
END_TEST

/* ioctl()s that set the owner of a descriptor. */
static const unsigned long owner_numbers[] = { FIOASYNC, FIOSETOWN, SIOCSPGRP };

static int try_own(void) {
        int own = getpid();

        return ioctl(pair[0], number, &own) < 0 ? errno : 0;
}

START_TEST(test_owner) {
        number = owner_numbers[_i];
        ck_assert_int_eq(confined(WORKER, try_own), EPERM);
        ck_assert_int_eq(confined(TRACER, try_own), EPERM);
        ck_assert_int_eq(confined(PROXY, try_own), EPERM);
}
END_TEST

/* ---- signals and abstract sockets: Landlock scopes ---- */

static const struct {
        long version;
        uint64_t scoped;
} versions[] = { { 1, 0 }, { 5, 0 }, { 6, 3 }, { 7, 3 } };

START_TEST(test_scope) {
        landlock_version = versions[_i].version;
        ck_assert_int_eq(sandbox_proxy(), -EIO);
        ck_assert_uint_eq(scoped, versions[_i].scoped);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("sandbox");

        tcase_add_checked_fixture(t, setup, scratch_remove);
        tcase_add_loop_test(t, test_files, 0, ELEMENTSOF(files));
        tcase_add_loop_test(t, test_ioctl, 0, ELEMENTSOF(numbers));
        tcase_add_loop_test(t, test_actions, 0, ELEMENTSOF(actions));
        tcase_add_loop_test(t, test_controls, 0, ELEMENTSOF(controls));
        tcase_add_loop_test(t, test_owner, 0, ELEMENTSOF(owner_numbers));
        tcase_add_loop_test(t, test_scope, 0, ELEMENTSOF(versions));
        return test_main("sandbox", t);
}
