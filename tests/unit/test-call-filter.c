/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The system calls that the filters permit, for each architecture. The test interprets the filters as the kernel does. */

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/net.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <scsi/sg.h>
#include <seccomp.h>
#include <sys/ioctl.h>

#include "sandbox.h"
#include "suite.h"

static const uint32_t architectures[] = {
        SCMP_ARCH_X86_64, SCMP_ARCH_X86,     SCMP_ARCH_AARCH64, SCMP_ARCH_ARM,   SCMP_ARCH_PPC64LE,
        SCMP_ARCH_S390X,  SCMP_ARCH_RISCV64, SCMP_ARCH_MIPSEL,  SCMP_ARCH_PPC64,
};

/* Interprets classic BPF as far as libseccomp uses it (Documentation/networking/filter.rst). Returns the kernel's action. */
static uint32_t filter_run(const struct sock_fprog *p, const struct seccomp_data *d) {
        uint32_t a = 0;

        for (unsigned i = 0; i < p->len; i++) {
                const struct sock_filter *f = p->filter + i;
                bool jump;

                switch (f->code) {
                case BPF_LD | BPF_W | BPF_ABS:
                        ck_assert_uint_le(f->k + sizeof a, sizeof *d);
                        (void) memcpy(&a, (const char *) d + f->k, sizeof a);
                        continue;
                case BPF_ALU | BPF_AND | BPF_K:
                        a &= f->k;
                        continue;
                case BPF_RET | BPF_K:
                        return f->k;
                case BPF_JMP | BPF_JA:
                        i += f->k;
                        continue;
                case BPF_JMP | BPF_JEQ | BPF_K:
                        jump = a == f->k;
                        break;
                case BPF_JMP | BPF_JGT | BPF_K:
                        jump = a > f->k;
                        break;
                case BPF_JMP | BPF_JGE | BPF_K:
                        jump = a >= f->k;
                        break;
                default:
                        ck_abort_msg("code %#x", f->code);
                }
                i += jump ? f->jt : f->jf;
        }
        ck_abort_msg("no end");
}

#define BIT(user) (1U << (user))
#define WORKER BIT(CALLS_WORKER)
#define PROXY BIT(CALLS_PROXY)
#define TRACER BIT(CALLS_TRACER)
#define ALL (WORKER | PROXY | TRACER)

/* System calls with their second and third argument. The test skips calls that an architecture does not have. */
static const struct {
        const char *call;
        uint64_t second, third;
        unsigned allowed; /* mask of WORKER, PROXY and TRACER: the processes whose filter permits the call */
} calls[] = {
        { "read", 0, 0, ALL },
        { "send", 0, 0, ALL },
        { "sendto", 0, 0, ALL },
        { "recv", 0, 0, ALL },
        { "openat", 0, 0, WORKER | TRACER },
        { "statfs", 0, 0, TRACER },
        { "connect", 0, 0, PROXY },
        { "socket", 0, 0, PROXY },
        { "sendmsg", 0, 0, PROXY },
        { "recvmsg", 0, 0, PROXY },

        { "ioctl", SG_IO, 0, WORKER },
        { "ioctl", 0xFFFFFFFF00000000 | SG_IO, 0, WORKER },
        { "ioctl", BLKRRPART, 0, 0 },
        { "ioctl", FIOASYNC, 0, 0 },
        { "ioctl", FIOSETOWN, 0, 0 },
        { "ioctl", SIOCSPGRP, 0, 0 },

        { "fcntl", F_GETFD, 0, ALL },
        { "fcntl", F_SETFD, FD_CLOEXEC, ALL },
        { "fcntl", F_GETFL, 0, ALL },
        { "fcntl", F_SETFL, O_NONBLOCK, PROXY },
        { "fcntl", F_SETFL, O_ASYNC, 0 },
        { "fcntl", F_SETFL, O_ASYNC | O_NONBLOCK, 0 },
        { "fcntl", F_DUPFD_CLOEXEC, 3, PROXY },
        { "fcntl", F_SETOWN, 1, 0 },
        { "fcntl", 0xFFFFFFFF00000000 | F_SETOWN, 1, 0 },
        { "fcntl", F_SETOWN_EX, 1, 0 },
        { "fcntl", F_SETSIG, 9, 0 },
        { "fcntl", F_SETLEASE, F_RDLCK, 0 },
        { "fcntl", F_NOTIFY, 1, 0 },
        { "fcntl", F_SETLK, 0, 0 },
        { "fcntl", F_OFD_SETLK, 0, 0 },
        { "fcntl", F_SETPIPE_SZ, 1 << 20, 0 },
        { "fcntl", F_ADD_SEALS, 0, 0 },
        { "fcntl64", F_GETFL, 0, ALL },
        { "fcntl64", F_SETOWN, 1, 0 },
        { "fcntl64", F_SETOWN_EX, 1, 0 },
        { "fcntl64", F_SETSIG, 9, 0 },
        { "fcntl64", F_SETFL, O_ASYNC, 0 },

        { "kill", 0, 0, 0 },
        { "tkill", 0, 0, 0 },
        { "tgkill", 0, 0, 0 },
        { "rt_sigqueueinfo", 0, 0, 0 },
        { "pidfd_send_signal", 0, 0, 0 },
        { "ptrace", 0, 0, 0 },
        { "prctl", 0, 0, 0 },
        { "ipc", 0, 0, 0 },
        { "socketpair", 0, 0, 0 },
        { "sendmmsg", 0, 0, 0 },
        { "execve", 0, 0, 0 },
        { "clone", 0, 0, 0 },
        { "chmod", 0, 0, 0 },
        { "truncate", 0, 0, 0 },
};

static bool is_allowed(const struct sock_fprog *p, uint32_t architecture, int number, const uint64_t arguments[3]) {
        const struct seccomp_data d = { .arch = architecture,
                                        .nr = number,
                                        .args = { arguments[0], arguments[1], arguments[2] } };
        uint32_t action = filter_run(p, &d);

        ck_assert(action == SECCOMP_RET_ALLOW || action == (SECCOMP_RET_ERRNO | EPERM));
        return action == SECCOMP_RET_ALLOW;
}

/* Returns true if the architecture's byte order differs from this machine's. filter_run() reads data only in this machine's byte order. */
static bool is_foreign(uint32_t architecture) {
        return (architecture & __AUDIT_ARCH_LE) != (seccomp_arch_native() & __AUDIT_ARCH_LE);
}

START_TEST(test_calls) {
        uint32_t architecture = architectures[_i];

        if (is_foreign(architecture))
                return;
        for (CallUser user = 0; user < _CALL_USER_MAX; user++) {
                struct sock_fprog p;

                ck_assert_int_eq(call_filter_make(architecture, user, &p), 0);
                for (size_t i = 0; i < ELEMENTSOF(calls); i++) {
                        int number = seccomp_syscall_resolve_name_arch(architecture, calls[i].call);

                        if (number >= 0)
                                ck_assert_msg(is_allowed(&p, architecture, number,
                                                         (uint64_t[3]){ 3, calls[i].second, calls[i].third }) ==
                                                              !!(calls[i].allowed & BIT(user)),
                                              "architecture %#x, user %d: %s, %#" PRIx64 ", %#" PRIx64, architecture,
                                              user, calls[i].call, calls[i].second, calls[i].third);
                }
                free(p.filter);
        }
}
END_TEST

/* socketcall() multiplexes the socket calls. Its number is 102 on i386 and ppc64le, among others. */
START_TEST(test_socketcall) {
        uint32_t architecture = architectures[_i];
        int number = seccomp_syscall_resolve_name_arch(architecture, "socketcall");
        const unsigned own = BIT(SYS_SEND) | BIT(SYS_SENDTO) | BIT(SYS_RECV) | BIT(SYS_RECVFROM);
        const unsigned allowed[_CALL_USER_MAX] = {
                [CALLS_WORKER] = own,
                [CALLS_TRACER] = own,
                [CALLS_PROXY] = own | BIT(SYS_SENDMSG) | BIT(SYS_RECVMSG) | BIT(SYS_SOCKET) | BIT(SYS_BIND) |
                                BIT(SYS_CONNECT) | BIT(SYS_GETSOCKNAME) | BIT(SYS_GETPEERNAME) | BIT(SYS_GETSOCKOPT) |
                                BIT(SYS_SETSOCKOPT),
        };

        if (architecture == SCMP_ARCH_X86 || architecture == SCMP_ARCH_PPC64LE)
                ck_assert_int_eq(number, 102);
        if (number < 0 || is_foreign(architecture))
                return;
        for (CallUser user = 0; user < _CALL_USER_MAX; user++) {
                struct sock_fprog p;

                ck_assert_int_eq(call_filter_make(architecture, user, &p), 0);
                for (unsigned call = 0; call < 32; call++)
                        ck_assert_msg(is_allowed(&p, architecture, number, (uint64_t[3]){ call }) ==
                                                      !!(allowed[user] & BIT(call)),
                                      "architecture %#x, user %d: socketcall() of %u", architecture, user, call);
                free(p.filter);
        }
}
END_TEST

int main(void) {
        Suite *suite = suite_create("call-filter");
        TCase *t = tcase_create("call-filter");

        tcase_add_loop_test(t, test_calls, 0, ELEMENTSOF(architectures));
        tcase_add_loop_test(t, test_socketcall, 0, ELEMENTSOF(architectures));
        suite_add_tcase(suite, t);
        return suite_run(suite);
}
