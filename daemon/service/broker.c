/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "broker.h"
#include "clock.h"
#include "wire.h"

/* How often a broker without a manager looks whether its last worker has ended. */
#define WORKERS_MS 500

/* A worker that the manager lets go of, as it said what it may not, has told all, or its drive is gone, ends by itself or is
 * killed after so long. */
#define LET_GO_USEC (5ULL * 1000 * 1000)
/* A manager that goes lets go of all of them, and honest ones may be in the middle of what belongs together: a write cache is
 * turned on, and the kernel is told so. This is time enough for these few commands, though each ends only when the kernel gives
 * up. */
#define ORPHAN_USEC (600ULL * 1000 * 1000)

/* Two descriptors for each: LimitNOFILE= of the unit. */
#define WORKERS_MAX 8000U

typedef union Control {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
} Control;

/* ---- the manager's half ---- */

/* A broker that cannot be started for so long has lost its socket too (StartLimitBurst=): systemd opens that again when the
 * manager begins anew. */
#define REFUSED_USEC (30ULL * 1000 * 1000)

struct Broker {
        const char *path;
        int fd;
        uint64_t refused_since; /* on the monotonic clock; 0: it is not */
};

int broker_new(const char *path, Broker **ret) {
        Broker *b;

        b = malloc(sizeof *b);
        if (!b)
                return -ENOMEM;

        *b = (Broker){ .path = path, .fd = -EBADF };
        *ret = b;
        return 0;
}

Broker *broker_free(Broker *b) {
        if (!b)
                return NULL;

        closep(&b->fd);
        free(b);
        return NULL;
}

/* A message of one byte, since there is none without any, and a socket. */
static int broker_ask(const Broker *b, BrokerChild child, int fd) {
        Control control = {};
        struct iovec iov = { .iov_base = &(char){ child }, .iov_len = 1 };
        struct msghdr m = { .msg_iov = &iov,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control };
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);

        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);

        return sendmsg(b->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int broker_fork(Broker *b, BrokerChild child, int fd) {
        int r;

        r = b->fd < 0 ? -EPIPE : broker_ask(b, child, fd);
        if (r != -EPIPE && r != -ECONNRESET)
                return r;

        /* There was nothing to ask for so far, or it has ended, mostly for want of work: systemd makes another. */
        closep(&b->fd);
        b->fd = -EBADF;
        r = unix_connect(b->path);
        if (r >= 0)
                b->fd = r;
        if (r != -ECONNREFUSED && r != -ENOENT)
                b->refused_since = 0;
        else if (b->refused_since == 0)
                b->refused_since = monotonic_usec();
        else if (monotonic_usec() - b->refused_since > REFUSED_USEC)
                return -ESHUTDOWN;
        return r < 0 ? r : broker_ask(b, child, fd);
}

/* ---- the broker itself ---- */

/* Returns 1 with a child's socket; 0: the manager has gone. */
static int request_receive(int fd, BrokerChild *ret_child, int *ret) {
        Control control = {};
        unsigned char byte;
        struct iovec iov = { .iov_base = &byte, .iov_len = sizeof byte };
        struct msghdr m = { .msg_iov = &iov,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control };
        const struct cmsghdr *c;
        ssize_t n;

        n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
        if (n < 0)
                return -errno;

        c = CMSG_FIRSTHDR(&m);
        if (n == 0 && !c)
                return 0;
        if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof *ret))
                return -EBADMSG;
        memcpy(ret, CMSG_DATA(c), sizeof *ret);

        if (n != sizeof byte || byte >= _BROKER_CHILD_MAX || m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
                (void) close(*ret);
                return -EBADMSG;
        }
        *ret_child = byte;
        return 1;
}

static _Noreturn void child_main(BrokerChild child, int fd, pid_t broker, BrokerChildFn run) {
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != broker)
                _exit(EXIT_FAILURE);

        /* Its own socket and the standard streams; the broker's is not for it. */
        if (dup2(fd, STDERR_FILENO + 1) < 0 || close_range(STDERR_FILENO + 2, ~0U, 0) < 0)
                _exit(EXIT_FAILURE);

        run(child, STDERR_FILENO + 1);
        _exit(EXIT_FAILURE);
}

typedef struct BrokerWorker {
        int pidfd;
        /* A copy of its end of the socket, which tells when the manager lets go; < 0: it has. While there is this copy, a worker that
         * closes its own does not pass for one that has ended. */
        int end;
        uint64_t kill_usec; /* on the monotonic clock; UINT64_MAX: not */
} BrokerWorker;

static BrokerWorker workers[WORKERS_MAX];
static size_t n_workers;

/* Takes over the fd. */
static void workers_add(pid_t pid, int fd) {
        int pidfd;

        pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
        if (pidfd < 0) {
                if (errno != ESRCH)
                        (void) kill(pid, SIGKILL);
                (void) close(fd);
                return;
        }

        workers[n_workers++] = (BrokerWorker){ .pidfd = pidfd, .end = fd, .kill_usec = UINT64_MAX };
}

/* From now on, `usec` is what it has left. */
static void worker_let_go(BrokerWorker *w, uint64_t usec) {
        closep(&w->end);
        w->end = -EBADF;
        w->kill_usec = monotonic_usec() + usec;
}

/* `polls`: of each its process and its end. */
static void workers_poll(const struct pollfd *polls) {
        for (size_t i = n_workers; i-- > 0;) {
                BrokerWorker *w = workers + i;

                if (polls[2 * i].revents) {
                        (void) close(w->pidfd);
                        closep(&w->end);
                        *w = workers[--n_workers];
                        continue;
                }
                if (polls[2 * i + 1].revents)
                        worker_let_go(w, LET_GO_USEC);
                /* One that a drive holds in the kernel dies when that lets go of it: no command is aborted by this. */
                if (w->kill_usec <= monotonic_usec()) {
                        (void) syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
                        w->kill_usec = UINT64_MAX;
                }
        }
}

/* Returns 1: there is something to receive; 0: nothing for so long (< 0: for ever), and no worker is left. */
static int request_wait(int fd, int idle_ms) {
        static struct pollfd polls[1 + 2 * WORKERS_MAX];

        for (;;) {
                uint64_t now = monotonic_usec(), wake = idle_ms < 0 ? UINT64_MAX : now + (uint64_t) idle_ms * 1000;
                int r;

                polls[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
                for (size_t i = 0; i < n_workers; i++) {
                        polls[1 + 2 * i] = (struct pollfd){ .fd = workers[i].pidfd, .events = POLLIN };
                        polls[2 + 2 * i] = (struct pollfd){ .fd = workers[i].end, .events = POLLRDHUP };
                        wake = MIN(wake, workers[i].kill_usec);
                }

                r = poll(polls, 1 + 2 * n_workers,
                         wake == UINT64_MAX ? -1 : (int) ((MAX(wake, now) - now + 999) / 1000));
                if (r >= 0)
                        workers_poll(polls + 1);
                if (r > 0 && polls[0].revents)
                        return 1;
                if (r == 0 && n_workers == 0)
                        return 0;
                if (r < 0 && errno != EINTR)
                        return -errno;
        }
}

int broker_serve(int fd, int idle_ms, BrokerChildFn run) {
        pid_t self = getpid();
        bool asked = false, leaving = false;

        /* The manager sees the end of a worker by its socket; nobody else asks. */
        if (signal(SIGCHLD, SIG_IGN) == SIG_ERR)
                return -errno;

        for (;;) {
                int r, worker_fd = -EBADF;
                BrokerChild child = BROKER_WORKER;
                pid_t pid;

                /* Who has connected is about to ask, however long it is kept from running. */
                r = leaving ? 1 : request_wait(fd, asked ? idle_ms : -1);
                if (r < 0)
                        return r;
                if (r == 0) {
                        /* The manager's next request fails, and goes to the next broker; what it has sent by now is read. */
                        leaving = true;
                        if (shutdown(fd, SHUT_RD) < 0)
                                return -errno;
                }

                r = request_receive(fd, &child, &worker_fd);
                if (r == -EINTR)
                        continue;
                if (r <= 0)
                        return r < 0 ? r : leaving;

                asked = true;
                /* Without a process its socket is closed, and the manager sees that. */
                pid = n_workers < WORKERS_MAX ? fork() : -1;
                if (pid == 0)
                        child_main(child, worker_fd, self, run);
                if (pid < 0)
                        (void) close(worker_fd);
                else
                        workers_add(pid, worker_fd);
        }
}

/* The package has been exchanged: the next manager is of another build, which workers of this one do not understand. */
static bool program_is_replaced(void) {
        static const char gone[] = " (deleted)";
        char path[PATH_MAX];
        ssize_t n;

        n = readlink("/proc/self/exe", path, sizeof path);
        return n >= (ssize_t) strlen(gone) && memcmp(path + n - strlen(gone), gone, strlen(gone)) == 0;
}

int broker_run(int listener, BrokerChildFn run) {
        int r;

        do {
                _cleanup_close_ int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

                if (fd < 0)
                        return -errno;
                /* The socket's mode says so, too. */
                r = unix_knows_peer(fd) ? broker_serve(fd, BROKER_IDLE_MS, run) : 0;
                if (r < 0)
                        return r;

                /* The workers of a manager that has gone end after the command that they are at, which takes as long as the
                 * kernel has patience with a drive, or are killed. They are waited for, so that none is left behind; and
                 * whoever is the next manager does not wait for them. */
                for (size_t i = 0; i < n_workers; i++)
                        worker_let_go(workers + i, ORPHAN_USEC);
                r = n_workers > 0 ? request_wait(listener, WORKERS_MS) : 0;
        } while (r > 0 && !program_is_replaced());

        return MIN(r, 0);
}
