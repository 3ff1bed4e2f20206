/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/landlock.h>
#include <linux/nvme_ioctl.h>
#include <linux/seccomp.h>
#include <scsi/sg.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "sandbox.h"

/* ---- system calls: seccomp ---- */

#define WORKER (1U << CALLS_WORKER)
#define PROXY (1U << CALLS_PROXY)
#define TRACER (1U << CALLS_TRACER)
#define FILES (WORKER | TRACER)
#define ALL (WORKER | PROXY | TRACER)

/* clang-format off */
static const struct {
        int call;
        unsigned users;
} calls[] = {
        { SCMP_SYS(read),                    ALL },
        { SCMP_SYS(readv),                   ALL },
        { SCMP_SYS(write),                   ALL },
        { SCMP_SYS(writev),                  ALL },
        { SCMP_SYS(close),                   ALL },
        { SCMP_SYS(fstat),                   ALL },
        { SCMP_SYS(fstat64),                 ALL },
        { SCMP_SYS(newfstatat),              ALL },
        { SCMP_SYS(fstatat64),               ALL },
        { SCMP_SYS(statx),                   ALL },
        { SCMP_SYS(poll),                    ALL },
        { SCMP_SYS(ppoll),                   ALL },
        { SCMP_SYS(ppoll_time64),            ALL },

        /* Files; Landlock limits the paths. */
        { SCMP_SYS(open),                    FILES },
        { SCMP_SYS(openat),                  FILES },
        { SCMP_SYS(pread64),                 FILES },
        { SCMP_SYS(lseek),                   FILES },
        { SCMP_SYS(_llseek),                 FILES },
        { SCMP_SYS(stat),                    FILES },
        { SCMP_SYS(stat64),                  FILES },
        { SCMP_SYS(lstat),                   FILES },
        { SCMP_SYS(lstat64),                 FILES },
        { SCMP_SYS(access),                  FILES },
        { SCMP_SYS(faccessat),               FILES },
        { SCMP_SYS(faccessat2),              FILES },
        { SCMP_SYS(readlink),                FILES },
        { SCMP_SYS(readlinkat),              FILES },
        { SCMP_SYS(getdents),                FILES },
        { SCMP_SYS(getdents64),              FILES },
        /* libsystemd uses these calls to find the unit of a process. */
        { SCMP_SYS(statfs),                  TRACER },
        { SCMP_SYS(statfs64),                TRACER },
        { SCMP_SYS(fstatfs),                 TRACER },
        { SCMP_SYS(fstatfs64),               TRACER },

        /* Calls on the inherited socket. Workers have no sendmsg(): with CAP_SYS_ADMIN, sendmsg() can state any process as the sender, and
         * the journal would trust this statement. libseccomp itself allows socketcall() for the calls of this table. */
        { SCMP_SYS(send),                    ALL },
        { SCMP_SYS(sendto),                  ALL },
        { SCMP_SYS(recv),                    ALL },
        { SCMP_SYS(recvfrom),                ALL },

        /* Used by sd-bus. */
        { SCMP_SYS(socket),                  PROXY },
        { SCMP_SYS(bind),                    PROXY },
        { SCMP_SYS(connect),                 PROXY },
        { SCMP_SYS(getsockname),             PROXY },
        { SCMP_SYS(getpeername),             PROXY },
        { SCMP_SYS(getsockopt),              PROXY },
        { SCMP_SYS(setsockopt),              PROXY },
        { SCMP_SYS(sendmsg),                 PROXY },
        { SCMP_SYS(recvmsg),                 PROXY },
        { SCMP_SYS(epoll_create1),           PROXY },
        { SCMP_SYS(epoll_ctl),               PROXY },
        { SCMP_SYS(epoll_wait),              PROXY },
        { SCMP_SYS(epoll_pwait),             PROXY },
        { SCMP_SYS(epoll_pwait2),            PROXY },
        { SCMP_SYS(timerfd_create),          PROXY },
        { SCMP_SYS(timerfd_settime),         PROXY },
        { SCMP_SYS(timerfd_settime64),       PROXY },
        { SCMP_SYS(getuid),                  PROXY },
        { SCMP_SYS(getuid32),                PROXY },
        { SCMP_SYS(geteuid),                 PROXY },
        { SCMP_SYS(geteuid32),               PROXY },
        { SCMP_SYS(getgid),                  PROXY },
        { SCMP_SYS(getgid32),                PROXY },
        { SCMP_SYS(getegid),                 PROXY },
        { SCMP_SYS(getegid32),               PROXY },

        /* Memory, time and exit. Signals are not needed: abort() ends the process even if it cannot send a signal. */
        { SCMP_SYS(brk),                     ALL },
        { SCMP_SYS(mmap),                    ALL },
        { SCMP_SYS(mmap2),                   ALL },
        { SCMP_SYS(munmap),                  ALL },
        { SCMP_SYS(mremap),                  ALL },
        { SCMP_SYS(mprotect),                ALL },
        { SCMP_SYS(madvise),                 ALL },
        { SCMP_SYS(futex),                   ALL },
        { SCMP_SYS(futex_time64),            ALL },
        { SCMP_SYS(clock_gettime),           ALL },
        { SCMP_SYS(clock_gettime64),         ALL },
        { SCMP_SYS(gettimeofday),            ALL },
        { SCMP_SYS(nanosleep),               ALL },
        { SCMP_SYS(clock_nanosleep),         ALL },
        { SCMP_SYS(clock_nanosleep_time64),  ALL },
        { SCMP_SYS(restart_syscall),         ALL },
        { SCMP_SYS(getpid),                  ALL },
        { SCMP_SYS(gettid),                  ALL },
        { SCMP_SYS(getrandom),               ALL },
        { SCMP_SYS(sched_yield),             ALL },
        { SCMP_SYS(rt_sigreturn),            ALL },
        { SCMP_SYS(sigreturn),               ALL },
        { SCMP_SYS(rt_sigaction),            ALL },
        { SCMP_SYS(rt_sigprocmask),          ALL },
        { SCMP_SYS(sigaltstack),             ALL },
        { SCMP_SYS(exit),                    ALL },
        { SCMP_SYS(exit_group),              ALL },
};

/* Calls that are allowed only with `command` as the second argument, and without the bits `without` in the third argument. */
static const struct {
        int call;
        unsigned users;
        uint32_t command, without;
} commands[] = {
        /* Commands to SCSI, ATA and NVMe drives. BLKROSET sets the kernel's read-only flag. BLKGETDISKSEQ reads a
         * number that is new at each attach. */
        { SCMP_SYS(ioctl),   WORKER, SG_IO,                0 },
        { SCMP_SYS(ioctl),   WORKER, NVME_IOCTL_ADMIN_CMD, 0 },
        { SCMP_SYS(ioctl),   WORKER, BLKROSET,             0 },
        { SCMP_SYS(ioctl),   WORKER, BLKGETDISKSEQ,        0 },
        /* The commands that C libraries and libsystemd use. None of these commands makes the kernel signal a process or
         * wait for a process. */
        { SCMP_SYS(fcntl),   ALL,    F_GETFD,              0 },
        { SCMP_SYS(fcntl),   ALL,    F_SETFD,              0 },
        { SCMP_SYS(fcntl),   ALL,    F_GETFL,              0 },
        { SCMP_SYS(fcntl),   PROXY,  F_SETFL,              O_ASYNC },
        { SCMP_SYS(fcntl),   PROXY,  F_DUPFD_CLOEXEC,      0 },
        { SCMP_SYS(fcntl64), ALL,    F_GETFD,              0 },
        { SCMP_SYS(fcntl64), ALL,    F_SETFD,              0 },
        { SCMP_SYS(fcntl64), ALL,    F_GETFL,              0 },
        { SCMP_SYS(fcntl64), PROXY,  F_SETFL,              O_ASYNC },
        { SCMP_SYS(fcntl64), PROXY,  F_DUPFD_CLOEXEC,      0 },
};
/* clang-format on */

/* Reads the filter back from a memory file, since libseccomp exports filters only to files. */
static int filter_export(scmp_filter_ctx c, struct sock_fprog *ret) {
        _cleanup_close_ int fd = -EBADF;
        struct sock_filter *code;
        struct stat st;
        int r;

        fd = memfd_create("filter", MFD_CLOEXEC);
        if (fd < 0)
                return -errno;
        r = seccomp_export_bpf(c, fd);
        if (r < 0)
                return r;
        if (fstat(fd, &st) < 0)
                return -errno;

        code = malloc(st.st_size);
        if (!code)
                return -ENOMEM;
        if (pread(fd, code, st.st_size, 0) != st.st_size) {
                free(code);
                return -EBADMSG;
        }
        *ret = (struct sock_fprog){ .len = st.st_size / sizeof *code, .filter = code };
        return 0;
}

static int filter_add(scmp_filter_ctx c, CallUser user) {
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(calls) && r >= 0; i++) {
                if (calls[i].users & 1U << user)
                        r = seccomp_rule_add(c, SCMP_ACT_ALLOW, calls[i].call, 0);
                /* Ignores a system call that does not exist on this architecture. */
                if (r == -EDOM)
                        r = 0;
        }
        for (size_t i = 0; i < ELEMENTSOF(commands) && r >= 0; i++) {
                if (commands[i].users & 1U << user)
                        r = seccomp_rule_add(c, SCMP_ACT_ALLOW, commands[i].call, commands[i].without ? 2 : 1,
                                             SCMP_A1_64(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, commands[i].command),
                                             SCMP_A2_64(SCMP_CMP_MASKED_EQ, commands[i].without, 0));
                if (r == -EDOM)
                        r = 0;
        }
        return r;
}

int call_filter_make(uint32_t architecture, CallUser user, struct sock_fprog *ret) {
        scmp_filter_ctx c;
        int r = 0;

        c = seccomp_init(SCMP_ACT_ERRNO(EPERM));
        if (!c)
                return -ENOMEM;

        if (architecture != SCMP_ARCH_NATIVE) {
                r = seccomp_arch_remove(c, SCMP_ARCH_NATIVE);
                if (r >= 0)
                        r = seccomp_arch_add(c, architecture);
        }
        /* Optimizes the filter as a binary tree, since the kernel evaluates a filter for each system call number when
         * the filter is loaded. */
        if (r >= 0)
                r = seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2);
        if (r >= 0)
                r = filter_add(c, user);
        if (r >= 0)
                r = filter_export(c, ret);
        seccomp_release(c);
        return r;
}

/* Filters that the broker prepares and its children inherit. */
static struct sock_fprog filters[_CALL_USER_MAX];

/* Creates the filter once, for this process and its children. */
static int call_filter_prepare(CallUser user) {
        return filters[user].len > 0 ? 0 : call_filter_make(SCMP_ARCH_NATIVE, user, filters + user);
}

/* Restricts this process to the permitted calls. Requires PR_SET_NO_NEW_PRIVS. */
static int call_filter_load(CallUser user) {
        int r;

        r = call_filter_prepare(user);
        if (r < 0)
                return r;
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filters + user) < 0 ? -errno : 0;
}

/* ---- files and processes: Landlock ---- */

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITING (READING | LANDLOCK_ACCESS_FS_WRITE_FILE)
/* All rights of Landlock's first version. Rights in this mask are forbidden unless a rule allows them. Later versions
 * add rights for ioctl() and truncation; the system call filters limit these calls instead. */
#define HANDLED ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* Scopes of Linux 6.12, defined for builds with older headers. An older kernel accepts RulesetAttr if the members that
 * are new to the kernel are 0. */
#define SCOPE_VERSION 6
#ifndef LANDLOCK_SCOPE_SIGNAL
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define LANDLOCK_SCOPE_SIGNAL (1ULL << 1)
#endif
typedef struct RulesetAttr {
        uint64_t handled_access_fs, handled_access_net, scoped;
} RulesetAttr;

static long landlock_version(void) {
        return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool sandbox_lacks_landlock(void) {
        return landlock_version() < 0 && (errno == ENOSYS || errno == EOPNOTSUPP);
}

/* Creates a ruleset that allows nothing yet; *ret is negative if the kernel has no Landlock. From Linux 6.12 on, the process cannot signal
 * processes outside the sandbox or connect to their abstract sockets. Landlock does not cover sockets with a path. */
static int rules_new(int *ret) {
        const uint64_t scopes = LANDLOCK_SCOPE_SIGNAL | LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET;
        const RulesetAttr attr = { .handled_access_fs = HANDLED,
                                   .scoped = landlock_version() >= SCOPE_VERSION ? scopes : 0 };

        *ret = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
        return *ret >= 0 || errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
}

/* Allows `access` below `path`. Does nothing if the path does not exist. */
static int rules_allow(int rules, const char *path, uint64_t access) {
        _cleanup_close_ int fd = -EBADF;
        struct landlock_path_beneath_attr attr = { .allowed_access = access };

        if (rules < 0)
                return 0;
        fd = open(path, O_PATH | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT || errno == ENODEV || errno == ENXIO ? 0 : -errno;

        attr.parent_fd = fd;
        return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0 ? -errno : 0;
}

static int sandbox_close(int rules, CallUser user) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        if (rules >= 0 && syscall(SYS_landlock_restrict_self, rules, 0) < 0)
                return -errno;
        return call_filter_load(user);
}

/* ---- common to workers and proxies ---- */

int sandbox_prepare(void) {
        int r;

        r = call_filter_prepare(CALLS_WORKER);
        return r < 0 ? r : call_filter_prepare(CALLS_PROXY);
}

/* ---- workers ---- */

size_t sandbox_own(const char *syspath) {
        static const char *const ports[] = { "/ata", "/nvme", "/nvme-subsys" };
        const char *end;

        for (const char *p = strchr(syspath, '/'); p; p = strchr(p + 1, '/'))
                for (size_t i = 0; i < ELEMENTSOF(ports); i++)
                        if (starts_with(p, ports[i]) && isdigit((unsigned char) p[strlen(ports[i])]))
                                return p + 1 + strcspn(p + 1, "/") - syspath;

        /* If the path has no ATA port, NVMe controller or NVMe subsystem, the drive's own directory is the parent of
         * "block". */
        end = strstr(syspath, "/block/");
        return end ? (size_t) (end - syspath) : strlen(syspath);
}

/* Allows access to the NVMe controllers. With multipathing, a disk is in the directory of its subsystem, which has a
 * link to each controller. */
static int rules_allow_controllers(int rules, const char *own, uint64_t access) {
        char pattern[PATH_MAX];
        glob_t found = {};
        int r = 0;

        if (!starts_with(base_name(own), "nvme-subsys"))
                return 0;

        (void) snprintf(pattern, sizeof pattern, "%s/nvme[0-9]*", own);
        if (glob(pattern, GLOB_NOSORT, NULL, &found) == GLOB_NOSPACE)
                r = -ENOMEM;
        for (size_t i = 0; i < found.gl_pathc && r >= 0; i++)
                r = rules_allow(rules, found.gl_pathv[i], access);
        globfree(&found);
        return r;
}

static int rules_allow_worker(int rules, const char *node, char *const *partitions, const char *syspath) {
        _cleanup_free_ char *own = strndup(syspath, sandbox_own(syspath));
        const struct {
                const char *path;
                uint64_t access;
        } allowed_paths[] = {
                { "/sys", READING },
                { "/proc", READING }, /* for mountinfo and swaps */
                { own, WRITING },
                { node, LANDLOCK_ACCESS_FS_READ_FILE },
        };
        char path[PATH_MAX];
        int r;

        if (!own)
                return -ENOMEM;
        r = rules_allow_controllers(rules, own, WRITING);
        /* Also allows the target of the link "bdi", which is a directory elsewhere in sysfs. */
        (void) snprintf(path, sizeof path, "%s/bdi", syspath);
        if (r >= 0 && *syspath)
                r = rules_allow(rules, path, WRITING);
        for (size_t i = 0; i < ELEMENTSOF(allowed_paths) && r >= 0; i++)
                r = rules_allow(rules, allowed_paths[i].path, allowed_paths[i].access);
        for (; r >= 0 && partitions && *partitions; partitions++) {
                (void) snprintf(path, sizeof path, "/dev/%s", *partitions);
                r = rules_allow(rules, path, LANDLOCK_ACCESS_FS_READ_FILE);
        }
        return r;
}

int sandbox_worker(const char *node, char *const *partitions, const char *syspath) {
        _cleanup_close_ int rules = -EBADF;
        int r;

        r = rules_new(&rules);
        if (r >= 0)
                r = rules_allow_worker(rules, node, partitions, syspath);
        return r < 0 ? r : sandbox_close(rules, CALLS_WORKER);
}

/* ---- the proxy ---- */

int sandbox_proxy(void) {
        const struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
        _cleanup_close_ int rules = -EBADF;
        int r;

        if (syscall(SYS_capset, &header, none) < 0)
                return -errno;
        r = rules_new(&rules);
        return r < 0 ? r : sandbox_close(rules, CALLS_PROXY);
}

/* ---- the tracer ---- */

/* Allows only this instance of tracefs. The rest of tracefs, like all of /sys/kernel, stays forbidden. */
int sandbox_tracer(const char *instance) {
        static const char *const read_paths[] = { "/proc", "/sys/class/block", "/sys/devices", "/sys/fs/cgroup" };
        _cleanup_close_ int rules = -EBADF;
        int r;

        r = rules_new(&rules);
        for (size_t i = 0; i < ELEMENTSOF(read_paths) && r >= 0; i++)
                r = rules_allow(rules, read_paths[i], READING);
        if (r >= 0)
                r = rules_allow(rules, instance, WRITING);
        return r < 0 ? r : sandbox_close(rules, CALLS_TRACER);
}
