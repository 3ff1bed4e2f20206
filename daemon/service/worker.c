/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "worker.h"

/* The child's half. */
typedef struct Child {
        int fd;
        const Wishes *wishes;
        WorkerAnswer answer; /* the last one; anything but WORKER_GO holds for the rest of the visit */
} Child;

static void child_send(Child *c, const WorkerMessage *m) {
        /* Without a manager there is nobody to work for. */
        if (send(c->fd, m, sizeof *m, MSG_NOSIGNAL) != (ssize_t) sizeof *m)
                _exit(EXIT_FAILURE);
}

static int child_gate(void *userdata, const char **ret_why) {
        static const char *const why[_WORKER_ANSWER_MAX] = {
                [WORKER_DEFER] = "not now: a file system check is queued or running on it",
                [WORKER_STOP] = "not now: the machine goes to sleep, or the service stops",
        };
        Child *c = userdata;

        if (c->answer == WORKER_GO) {
                child_send(c, &(WorkerMessage){ .type = WORKER_ASKS });
                if (recv(c->fd, &c->answer, sizeof c->answer, 0) != (ssize_t) sizeof c->answer)
                        _exit(EXIT_FAILURE);
        }

        if (c->answer == WORKER_GO)
                return 0;

        *ret_why = why[c->answer];
        return STEP_DEFERRED;
}

static void child_ended(void *userdata, const Step *s) {
        Child *c = userdata;
        WorkerMessage m = {
                .type = WORKER_STEP,
                .wish = s->wish - c->wishes->items,
                .written = s->written,
                .failed = s->failed,
                .error = s->error,
                .before = s->before,
                .after = s->after,
                .verdict = s->verdict,
        };

        memcpy(m.reason, s->reason, sizeof m.reason);
        child_send(c, &m);
}

static _Noreturn void child_main(int fd, const Visit *template) {
        Child c = { .fd = fd, .wishes = template->wishes };
        DeviceIO io = device_io_real;
        Visit v = *template;
        Plan p;

        io.gate = child_gate;
        io.userdata = &c;
        v.io = &io;
        v.ended = child_ended;
        v.userdata = &c;

        if (visit_run(&v, &p) < 0)
                _exit(EXIT_FAILURE);

        child_send(&c, &(WorkerMessage){ .type = WORKER_END });
        /* Not exit(): the parent's buffers and handlers are not ours to run. */
        _exit(EXIT_SUCCESS);
}

/* Nothing of the manager's stays open in the child but its own socket and the standard streams. */
static int child_close_fds(int keep) {
        if (dup2(keep, STDERR_FILENO + 1) < 0)
                return -errno;
        if (close_range(STDERR_FILENO + 2, ~0U, 0) < 0)
                return -errno;
        return STDERR_FILENO + 1;
}

static void child_reset_signals(void) {
        sigset_t none;

        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
}

int worker_start(const Drive *drive, const Wishes *wishes, const Memory *memories, const SettingTable *settings,
                 Worker *ret) {
        const Visit v = { .drive = drive, .wishes = wishes, .memories = memories, .settings = settings };
        int fds[2];
        pid_t pid, parent = getpid();

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;

        pid = fork();
        if (pid < 0) {
                int r = -errno;

                (void) close(fds[0]);
                (void) close(fds[1]);
                return r;
        }

        if (pid == 0) {
                char name[16];
                int fd;

                (void) snprintf(name, sizeof name, "keep-%s", drive->name);
                (void) prctl(PR_SET_NAME, name);
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (getppid() != parent)
                        _exit(EXIT_FAILURE);

                child_reset_signals();
                fd = child_close_fds(fds[1]);
                if (fd < 0)
                        _exit(EXIT_FAILURE);
                child_main(fd, &v);
        }

        (void) close(fds[1]);
        *ret = (Worker){ .pid = pid, .fd = fds[0] };
        return 0;
}

int worker_receive(const Worker *w, size_t n_wishes, WorkerMessage *ret) {
        WorkerMessage m;
        ssize_t n;

        n = recv(w->fd, &m, sizeof m, MSG_DONTWAIT);
        if (n < 0)
                return errno == ECONNRESET ? 0 : -errno;
        if (n == 0)
                return 0;
        if (n != (ssize_t) sizeof m ||
            (m.type == WORKER_STEP && (m.wish >= n_wishes || m.verdict < 0 || m.verdict >= _VERDICT_MAX)))
                return -EBADMSG;

        m.reason[sizeof m.reason - 1] = '\0';
        m.before.value.name[VALUE_NAME_MAX - 1] = m.after.value.name[VALUE_NAME_MAX - 1] = '\0';
        *ret = m;
        return 1;
}

int worker_answer(const Worker *w, WorkerAnswer answer) {
        if (send(w->fd, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
                return -errno;
        return 0;
}
