/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/landlock.h>
#include <linux/nvme_ioctl.h>
#include <linux/seccomp.h>
#include <scsi/sg.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "sandbox.h"

/* ---- files: Landlock ---- */

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
/* All of Landlock's first version; what is not allowed below is forbidden. */
#define HANDLED ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

bool sandbox_lacks_landlock(void) {
        return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0 &&
               (errno == ENOSYS || errno == EOPNOTSUPP);
}

/* What is not there need not be allowed. */
static int rules_allow(int rules, const char *path, uint64_t access) {
        _cleanup_close_ int fd = -EBADF;
        struct landlock_path_beneath_attr attr = { .allowed_access = access };

        fd = open(path, O_PATH | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT || errno == ENODEV || errno == ENXIO ? 0 : -errno;

        attr.parent_fd = fd;
        return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0 ? -errno : 0;
}

/* ---- system calls: seccomp ---- */

static const int allowed[] = {
        SCMP_SYS(read),
        SCMP_SYS(pread64),
        SCMP_SYS(readv),
        SCMP_SYS(write),
        SCMP_SYS(writev),
        SCMP_SYS(close),
        SCMP_SYS(lseek),
        SCMP_SYS(_llseek),
        /* Landlock says which files. */
        SCMP_SYS(open),
        SCMP_SYS(openat),
        SCMP_SYS(fstat),
        SCMP_SYS(fstat64),
        SCMP_SYS(stat),
        SCMP_SYS(stat64),
        SCMP_SYS(lstat),
        SCMP_SYS(lstat64),
        SCMP_SYS(newfstatat),
        SCMP_SYS(fstatat64),
        SCMP_SYS(statx),
        SCMP_SYS(access),
        SCMP_SYS(faccessat),
        SCMP_SYS(faccessat2),
        SCMP_SYS(readlink),
        SCMP_SYS(readlinkat),
        SCMP_SYS(getdents),
        SCMP_SYS(getdents64),
        SCMP_SYS(fcntl),
        SCMP_SYS(fcntl64),
        SCMP_SYS(dup),
        /* The socket that it has. */
        SCMP_SYS(send),
        SCMP_SYS(sendto),
        SCMP_SYS(sendmsg),
        SCMP_SYS(recv),
        SCMP_SYS(recvfrom),
        SCMP_SYS(recvmsg),
        SCMP_SYS(socketcall),
        SCMP_SYS(poll),
        SCMP_SYS(ppoll),
        /* Memory, time and the end; no signals, of which abort() needs none to end it. */
        SCMP_SYS(brk),
        SCMP_SYS(mmap),
        SCMP_SYS(mmap2),
        SCMP_SYS(munmap),
        SCMP_SYS(mremap),
        SCMP_SYS(mprotect),
        SCMP_SYS(madvise),
        SCMP_SYS(futex),
        SCMP_SYS(clock_gettime),
        SCMP_SYS(clock_gettime64),
        SCMP_SYS(gettimeofday),
        SCMP_SYS(nanosleep),
        SCMP_SYS(clock_nanosleep),
        SCMP_SYS(clock_nanosleep_time64),
        SCMP_SYS(restart_syscall),
        SCMP_SYS(getpid),
        SCMP_SYS(gettid),
        SCMP_SYS(getrandom),
        SCMP_SYS(sched_yield),
        SCMP_SYS(rt_sigreturn),
        SCMP_SYS(sigreturn),
        SCMP_SYS(rt_sigaction),
        SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(sigaltstack),
        SCMP_SYS(exit),
        SCMP_SYS(exit_group),
};

/* SG_IO and NVMe's admin commands, the kernel's read-only flag, the number that tells one attach of a drive from another, and
 * nothing else. */
static const unsigned long ioctls[] = { SG_IO, NVME_IOCTL_ADMIN_CMD, BLKROSET, BLKGETDISKSEQ };

/* As the kernel takes it. The broker makes it, and its children have it from there. */
static struct sock_filter code[BPF_MAXINSNS];
static struct sock_fprog filter = { .filter = code };

/* libseccomp hands it out to files only. */
static int filter_export(scmp_filter_ctx c) {
        _cleanup_close_ int fd = -EBADF;
        ssize_t n;
        int r;

        fd = memfd_create("filter", MFD_CLOEXEC);
        if (fd < 0)
                return -errno;
        r = seccomp_export_bpf(c, fd);
        if (r < 0)
                return r;

        n = pread(fd, code, sizeof code, 0);
        if (n <= 0)
                return n < 0 ? -errno : -EBADMSG;
        filter.len = n / sizeof *code;
        return 0;
}

int sandbox_prepare(void) {
        scmp_filter_ctx c;
        int r;

        if (filter.len > 0)
                return 0;

        c = seccomp_init(SCMP_ACT_ERRNO(EPERM));
        if (!c)
                return -ENOMEM;

        /* A tree: the kernel runs the filter once for each system call that there is when it is loaded. */
        r = seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2);
        for (size_t i = 0; i < ELEMENTSOF(allowed) && r >= 0; i++) {
                r = seccomp_rule_add(c, SCMP_ACT_ALLOW, allowed[i], 0);
                /* Not on this architecture. */
                if (r == -EDOM)
                        r = 0;
        }
        for (size_t i = 0; i < ELEMENTSOF(ioctls) && r >= 0; i++)
                r = seccomp_rule_add(c, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                                     SCMP_A1_64(SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, ioctls[i]));
        if (r >= 0)
                r = filter_export(c);
        seccomp_release(c);
        return r;
}

static int limit_calls(void) {
        int r;

        r = sandbox_prepare();
        if (r < 0)
                return r;
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0 ? -errno : 0;
}

/* ---- workers ---- */

size_t sandbox_own(const char *syspath) {
        static const char *const ports[] = { "/ata", "/nvme", "/nvme-subsys" };
        const char *end;

        for (const char *p = strchr(syspath, '/'); p; p = strchr(p + 1, '/'))
                for (size_t i = 0; i < ELEMENTSOF(ports); i++)
                        if (starts_with(p, ports[i]) && isdigit((unsigned char) p[strlen(ports[i])]))
                                return p + 1 + strcspn(p + 1, "/") - syspath;

        /* What else there is has a directory of its own, above "block". */
        end = strstr(syspath, "/block/");
        return end ? (size_t) (end - syspath) : strlen(syspath);
}

/* With the kernel's own multipathing a disk hangs on its subsystem, which has a link to each controller. */
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

static int rules_allow_worker(int rules, const char *node, char *const *partitions, const char *own) {
        const uint64_t writing = READING | LANDLOCK_ACCESS_FS_WRITE_FILE;
        const struct {
                const char *path;
                uint64_t access;
        } allowed_paths[] = {
                { "/sys", READING },
                { "/proc", READING }, /* tells what is mounted */
                { own, writing },
                { node, LANDLOCK_ACCESS_FS_READ_FILE },
        };
        char path[PATH_MAX];
        int r;

        r = rules_allow_controllers(rules, own, writing);
        for (size_t i = 0; i < ELEMENTSOF(allowed_paths) && r >= 0; i++)
                r = rules_allow(rules, allowed_paths[i].path, allowed_paths[i].access);
        for (; r >= 0 && partitions && *partitions; partitions++) {
                (void) snprintf(path, sizeof path, "/dev/%s", *partitions);
                r = rules_allow(rules, path, LANDLOCK_ACCESS_FS_READ_FILE);
        }
        return r;
}

/* Without a node no file at all may be opened. Connecting to a socket is none of Landlock's first version. */
static int limit_files(const char *node, char *const *partitions, const char *own) {
        const struct landlock_ruleset_attr attr = { .handled_access_fs = HANDLED };
        _cleanup_close_ int rules = -EBADF;
        int r = 0;

        rules = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
        if (rules < 0)
                return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;

        if (node)
                r = rules_allow_worker(rules, node, partitions, own);
        if (r < 0)
                return r;
        return syscall(SYS_landlock_restrict_self, rules, 0) < 0 ? -errno : 0;
}

int sandbox_worker(const char *node, char *const *partitions, const char *own) {
        int r;

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        r = limit_files(node, partitions, own);
        return r < 0 ? r : limit_calls();
}

/* ---- the asker ---- */

int sandbox_asker(void) {
        const struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

        if (syscall(SYS_capset, &header, none) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        return limit_files(NULL, NULL, NULL);
}
