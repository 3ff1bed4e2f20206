/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <linux/seccomp.h>
#include <scsi/sg.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "call-filter.h"

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

int call_filter_prepare(void) {
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

int call_filter_load(void) {
        int r;

        r = call_filter_prepare();
        if (r < 0)
                return r;
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0 ? -errno : 0;
}
