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

/* The interval at which a broker without a manager polls for the end of its last worker. */
#define WORKERS_MS 500

/* The broker kills a worker this long after the manager has released it. The manager releases a worker that has
 * reported everything, has broken the protocol, or has lost its drive. */
#define RELEASED_USEC (5ULL * 1000 * 1000)
/* The broker kills a worker this long after the worker's manager has ended. A worker may be between two steps that
 * belong together, such as enabling the write cache and informing the kernel. The time is enough for these few
 * commands, even if each of them times out. */
#define ORPHAN_USEC (600ULL * 1000 * 1000)

/* The broker holds two descriptors per worker: LimitNOFILE= of the broker's unit must exceed twice this number. */
#define WORKERS_MAX 8000U

typedef union Control {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
} Control;

/* ---- used by the manager ---- */

/* If the broker is unreachable for this time, its socket unit has failed (StartLimitBurst=). systemd opens the socket again when the
 * manager restarts. */
#define REFUSED_USEC (30ULL * 1000 * 1000)

struct Broker {
        const char *path;
        int fd;
        uint64_t refused_since; /* when the socket began to refuse connections; CLOCK_MONOTONIC, µs; 0: it accepts connections */
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

/* Sends the child's kind as one byte, and the socket as SCM_RIGHTS. */
static int broker_request(const Broker *b, BrokerChild child, int fd) {
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

        r = b->fd < 0 ? -EPIPE : broker_request(b, child, fd);
        if (r != -EPIPE && r != -ECONNRESET)
                return r;

        /* The broker has not been started yet, or it was idle and exited: systemd starts it for this connection. */
        closep(&b->fd);
        b->fd = -EBADF;
        r = unix_connect(b->path, SOCK_SEQPACKET);
        if (r >= 0)
                b->fd = r;
        if (r != -ECONNREFUSED && r != -ENOENT)
                b->refused_since = 0;
        else if (b->refused_since == 0)
                b->refused_since = monotonic_usec();
        else if (monotonic_usec() - b->refused_since > REFUSED_USEC)
                return -ESHUTDOWN;
        return r < 0 ? r : broker_request(b, child, fd);
}

/* ---- used by the broker process ---- */

/* Returns 1 and the child's kind and socket, or 0 if the manager has disconnected. */
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

        /* The child keeps only its own socket and the standard streams. */
        if (dup2(fd, STDERR_FILENO + 1) < 0 || close_range(STDERR_FILENO + 2, ~0U, 0) < 0)
                _exit(EXIT_FAILURE);

        run(child, STDERR_FILENO + 1);
        _exit(EXIT_FAILURE);
}

typedef struct BrokerWorker {
        int pidfd;
        /* A copy of the worker's end of the socket. With this copy the broker notices that the manager closes the manager's end. While the
         * copy is open, the manager does not notice that the worker closes the worker's end. `end` is negative after the manager has
         * released the worker. */
        int end;
        uint64_t kill_usec; /* when to kill the worker; CLOCK_MONOTONIC, µs; UINT64_MAX: never */
        bool is_orphan;     /* the worker's manager has ended */
} BrokerWorker;

static BrokerWorker workers[WORKERS_MAX];
static size_t n_workers;

/* Adds the new worker to the list. Takes ownership of `fd`. */
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

/* Closes the copy of the worker's socket. Kills the worker if it still runs after `usec` µs. */
static void worker_release(BrokerWorker *w, uint64_t usec) {
        closep(&w->end);
        w->end = -EBADF;
        w->kill_usec = monotonic_usec() + usec;
}

/* Handles poll results. `polls` has two entries per worker: the pidfd and the copy of the worker's socket. */
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
                        worker_release(w, RELEASED_USEC);
                /* SIGKILL aborts no command: a worker that waits for its drive in the kernel dies when the command has ended. */
                if (w->kill_usec <= monotonic_usec()) {
                        (void) syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
                        w->kill_usec = UINT64_MAX;
                }
        }
}

/* Waits for a message. Returns 1 if `fd` is readable. Returns 0 if no worker is left and idle_ms have passed without a message. If idle_ms
 * is negative, waits without this limit. */
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
        bool requested = false, leaving = false;

        /* Workers are reaped automatically; the manager notices the end of a worker by the worker's socket. */
        if (signal(SIGCHLD, SIG_IGN) == SIG_ERR)
                return -errno;

        for (;;) {
                int r, worker_fd = -EBADF;
                BrokerChild child = BROKER_WORKER;
                pid_t pid;

                /* A manager connects only to send a request, so the first wait has no limit. */
                r = leaving ? 1 : request_wait(fd, requested ? idle_ms : -1);
                if (r < 0)
                        return r;
                if (r == 0) {
                        /* Requests already sent are still served. The manager's next request fails with EPIPE and goes to a new broker. */
                        leaving = true;
                        if (shutdown(fd, SHUT_RD) < 0)
                                return -errno;
                }

                r = request_receive(fd, &child, &worker_fd);
                if (r == -EINTR)
                        continue;
                if (r <= 0)
                        return r < 0 ? r : leaving;

                requested = true;
                /* If the fork fails, the manager finds the socket closed. */
                pid = n_workers < WORKERS_MAX ? fork() : -1;
                if (pid == 0)
                        child_main(child, worker_fd, self, run);
                if (pid < 0)
                        (void) close(worker_fd);
                else
                        workers_add(pid, worker_fd);
        }
}

/* Returns true if a package upgrade replaced the running program. The next manager is then of another build, and the
 * workers of this broker would reject the messages of that manager. */
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
                /* The mode of the socket already excludes other users. This check is a second barrier. */
                r = unix_peer_owns_socket(fd) ? broker_serve(fd, BROKER_IDLE_MS, run) : 0;
                if (r < 0)
                        return r;

                /* When a manager ends, its workers stop after their current command. The broker kills a worker that
                 * does not stop in time, and can serve the next manager meanwhile. */
                for (size_t i = 0; i < n_workers; i++)
                        if (!workers[i].is_orphan) {
                                worker_release(workers + i, ORPHAN_USEC);
                                workers[i].is_orphan = true;
                        }
                r = n_workers > 0 ? request_wait(listener, WORKERS_MS) : 0;
        } while (r > 0 && !program_is_replaced());

        return MIN(r, 0);
}
