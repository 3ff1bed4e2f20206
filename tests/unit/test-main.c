/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Start and exit of the service, its broker and its tracer, each in a separate process. The test replaces the functions that main()
 * calls. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>

#include "proxy.h"
#include "daemon.h"
#include "done-log.h"
#include "journal.h"
#include "notify-socket.h"
#include "sandbox.h"
#include "state-file.h"
#include "suite.h"
#include "tracer.h"
#include "worker-message.h"

int service_main(int argc, char *argv[]);

/* ---- replacements ---- */

static int state_error, prepare_error, broker_error, serve_answer, daemon_error, loop_error, trace_answer;
static BrokerChild child;      /* the kind of child that the broker starts */
static int niceness, niced[2]; /* niceness: nice value of the unit; niced: pipe in place of /proc/self/autogroup */
static bool without_autogroup; /* the kernel has no autogroups */
static int notified;           /* the test's socket in place of the socket of the service manager */
static int out;                /* pipe that receives the recorded steps */
static char part;

/* Ends the process under test. */
static _Noreturn void end(int status) {
        (void) dprintf(out, "%s", all_done());
        _exit(status);
}

/* Moves `fd` to descriptor 0, and returns 0. */
static int next_fd(int fd) {
        ck_assert_int_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
        return STDIN_FILENO;
}

int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, _unused_ int flags, ...) {
        ck_assert_str_eq(path, "/proc/self/autogroup");
        return without_autogroup ? -1 : next_fd(niced[1]);
}
int __wrap___open64_2(const char *path, int flags);
int __wrap___open64_2(const char *path, int flags) {
        return __wrap_open64(path, flags);
}
int __wrap_getpriority(__priority_which_t which, id_t who);
int __wrap_getpriority(__priority_which_t which, id_t who) {
        ck_assert(which == PRIO_PROCESS && who == 0);
        return niceness;
}

int state_lock(const char *dir) {
        ck_assert_str_eq(dir, "/run/drivekeep/drives");
        note("lock");
        return state_error < 0 ? state_error : next_fd(notified);
}
int sandbox_prepare(void) {
        note("prepare");
        return prepare_error;
}
int broker_run(int listener, BrokerChildFn run) {
        ck_assert_int_eq(listener, SD_LISTEN_FDS_START);
        note(getenv("LISTEN_FDS") ? "serve-inherited" : "serve");
        if (serve_answer == 0)
                run(child, 7);
        return serve_answer;
}
int tracer_run(int listener, const char *instance) {
        ck_assert_int_eq(listener, SD_LISTEN_FDS_START);
        ck_assert_str_eq(instance, "/sys/kernel/tracing/instances/drivekeep");
        note(getenv("LISTEN_FDS") ? "trace-inherited" : "trace");
        return trace_answer;
}
void proxy_main(int fd) {
        note("proxy:%d", fd);
        end(5);
}
void worker_main(int fd) {
        note("worker:%d", fd);
        end(6);
}
int broker_new(const char *path, Broker **ret) {
        ck_assert_str_eq(path, "/run/drivekeep-broker");
        note("broker");
        if (broker_error < 0)
                return broker_error;
        *ret = (Broker *) &part;
        return 0;
}
Broker *broker_free(Broker *b) {
        ck_assert_ptr_eq(b, (Broker *) &part);
        note("broker-free");
        return NULL;
}

static void note_news(void) {
        const char *message = notify_next(notified);

        if (*message)
                note("%s", message);
}

/* Records the message to the service manager and the step "loop", and ends the event loop with loop_error. */
static int on_loop(sd_event_source *source, _unused_ void *userdata) {
        note_news();
        ck_assert_ptr_nonnull(getenv("NOTIFY_SOCKET"));
        note("loop");
        return sd_event_exit(sd_event_source_get_event(source), loop_error);
}

int daemon_new(sd_event *event, Broker *b, Daemon **ret) {
        static const int wanted[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD };
        sigset_t mask;
        int n = 0;

        ck_assert_ptr_eq(b, (Broker *) &part);
        /* Exactly those signals are blocked that the event loop handles, which are the signals in `wanted`. */
        ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
        for (int i = 1; i < 32; i++)
                n += sigismember(&mask, i);
        for (size_t i = 0; i < ELEMENTSOF(wanted); i++)
                ck_assert_int_eq(sigismember(&mask, wanted[i]), 1);
        ck_assert_int_eq(n, ELEMENTSOF(wanted));
        note("daemon");
        if (daemon_error < 0)
                return daemon_error;
        *ret = (Daemon *) &part;
        return sd_event_add_defer(event, NULL, on_loop, NULL);
}
Daemon *daemon_free(Daemon *d) {
        if (!d)
                return NULL;
        ck_assert_ptr_eq(d, (Daemon *) &part);
        note(state_error < 0 || fcntl(STDIN_FILENO, F_GETFD) >= 0 ? "daemon-free" : "unlocked");
        return NULL;
}
void journal_attach(_unused_ sd_event *event) {
        note("attach");
}
void journal_finish(void) {
        note("finish");
}
void journal_log(int priority, _unused_ const char *format, ...) {
        note("log:%d", priority);
}

/* ---- the tests ---- */

/* Runs main(), stores the recorded steps in `steps`, and returns the exit status. `n_fds`: the number of descriptors from systemd. */
static int run_main(const char *const *arguments, const char *n_fds, char steps[static 512]) {
        int fds[2], status, argc = 1;
        char number[16];
        size_t n = 0;
        ssize_t k;
        pid_t pid;

        notified = notify_listen();
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        ck_assert_int_eq(pipe2(niced, O_CLOEXEC), 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                char *argv[4] = { (char *) "drivekeepd" };

                for (; arguments[argc - 1]; argc++)
                        argv[argc] = (char *) arguments[argc - 1];
                (void) snprintf(number, sizeof number, "%d", (int) getpid());
                ck_assert(setenv("LISTEN_PID", number, 1) == 0 && setenv("LISTEN_FDS", n_fds, 1) == 0);
                out = fcntl(fds[1], F_DUPFD_CLOEXEC, 20);
                notified = fcntl(notified, F_DUPFD_CLOEXEC, 20);
                (void) dup2(fds[1], STDERR_FILENO);
                /* The process must not inherit the descriptors of the test library. */
                for (int i = 0; i < 2; i++)
                        (void) dup2(STDIN_FILENO, SD_LISTEN_FDS_START + i);
                (void) close(STDIN_FILENO);
                status = service_main(argc, argv);
                note_news();
                if (sd_event_default(NULL) > 0)
                        note("loop-left");
                end(status);
        }
        (void) close(fds[1]);
        (void) close(niced[1]);
        while ((k = read(fds[0], steps + n, 511 - n)) > 0)
                n += (size_t) k;
        steps[n] = '\0';
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        (void) close(fds[0]);
        (void) close(notified);
        ck_assert_msg(WIFEXITED(status), "%s", steps);
        return WEXITSTATUS(status);
}

static const struct {
        int *error;
        int status;
        const char *done;
} services[] = {
        { NULL, EXIT_SUCCESS, "lock broker attach daemon READY=1 loop daemon-free broker-free finish " },
        /* Without the state directory everything except `drivekeep status` works, so a warning suffices. */
        { &state_error, EXIT_SUCCESS, "lock log:4 broker attach daemon READY=1 loop daemon-free broker-free finish " },
        { &broker_error, EXIT_FAILURE, "lock broker log:3 finish " },
        { &daemon_error, EXIT_FAILURE, "lock broker attach daemon broker-free log:3 finish " },
        { &loop_error, EXIT_FAILURE, "lock broker attach daemon READY=1 loop daemon-free broker-free log:3 finish " },
};

START_TEST(test_service) {
        char steps[512];

        if (services[_i].error)
                *services[_i].error = -EIO;
        ck_assert_int_eq(run_main((const char *const[]){ NULL }, "0", steps), services[_i].status);
        ck_assert_str_eq(steps, services[_i].done);
}
END_TEST

static const struct {
        const char *n_fds;
        BrokerChild child;
        int prepare, serve, status;
        const char *done;
} brokers[] = {
        { "1", BROKER_PROXY, 0, 0, 5, "prepare serve proxy:7 " },
        { "1", BROKER_WORKER, 0, 0, 6, "prepare serve worker:7 " },
        { "1", BROKER_WORKER, 0, 1, EXIT_SUCCESS, "prepare serve finish " },
        { "1", BROKER_WORKER, 0, -EIO, EXIT_FAILURE, "prepare serve log:3 finish " },
        { "1", BROKER_WORKER, -EIO, 1, EXIT_FAILURE, "prepare log:3 finish " },
        { "0", BROKER_WORKER, 0, 1, EXIT_FAILURE,
          "log:3 finish " }, /* without a socket, the broker has nothing to serve */
        { "2", BROKER_WORKER, 0, 1, EXIT_FAILURE, "log:3 finish " },
};

START_TEST(test_broker) {
        char steps[512];

        child = brokers[_i].child;
        prepare_error = brokers[_i].prepare;
        serve_answer = brokers[_i].serve;
        ck_assert_int_eq(run_main((const char *const[]){ "--broker", NULL }, brokers[_i].n_fds, steps),
                         brokers[_i].status);
        ck_assert_str_eq(steps, brokers[_i].done);
}
END_TEST

static const struct {
        const char *n_fds;
        int answer, status;
        const char *done;
} tracers[] = {
        { "1", 0, EXIT_SUCCESS, "trace finish " },
        { "1", -ENOENT, EXIT_FAILURE, "trace log:3 finish " },
        { "0", 0, EXIT_FAILURE, "log:3 finish " },
        { "2", 0, EXIT_FAILURE, "log:3 finish " },
};

/* The tracer starts no part of the service or the broker. */
START_TEST(test_tracer) {
        char steps[512];

        trace_answer = tracers[_i].answer;
        ck_assert_int_eq(run_main((const char *const[]){ "--tracer", NULL }, tracers[_i].n_fds, steps),
                         tracers[_i].status);
        ck_assert_str_eq(steps, tracers[_i].done);
}
END_TEST

static const char *const arguments[][3] = { { "--help" },
                                            { "--broker", "--broker" },
                                            { "x", "--broker" },
                                            { "--tracer", "--tracer" },
                                            { "--tracer", "--broker" },
                                            { "--broker", "--tracer" } };

/* With any arguments except --broker alone or --tracer alone, drivekeepd starts nothing. It prints its version and the
 * name of its manual page. */
START_TEST(test_arguments) {
        char steps[512];

        ck_assert_int_eq(run_main(arguments[_i], "1", steps), EXIT_FAILURE);
        ck_assert_msg(strstr(steps, "version " DRIVEKEEP_VERSION) && strstr(steps, "drivekeepd(8)"), "%s", steps);
}
END_TEST

static const struct {
        int niceness;
        bool without_autogroup;
        const char *told;
} nices[] = { { 5, false, "5" }, { 5, true, "" }, { 1, false, "1" }, { 0, false, "" }, { -5, false, "" } };

/* The autogroup gets the nice value of the unit if this value is above 0. */
START_TEST(test_nice) {
        char steps[512], told[16] = "";

        niceness = nices[_i].niceness;
        without_autogroup = nices[_i].without_autogroup;
        ck_assert_int_eq(run_main((const char *const[]){ NULL }, "0", steps), EXIT_SUCCESS);
        ck_assert_str_eq(steps, services[0].done);
        (void) !read(niced[0], told, sizeof told - 1);
        ck_assert_str_eq(told, nices[_i].told);
}
END_TEST

int main(void) {
        Suite *s = suite_create("main");
        TCase *t = tcase_create("main");

        tcase_add_loop_test(t, test_service, 0, ELEMENTSOF(services));
        tcase_add_loop_test(t, test_broker, 0, ELEMENTSOF(brokers));
        tcase_add_loop_test(t, test_tracer, 0, ELEMENTSOF(tracers));
        tcase_add_loop_test(t, test_arguments, 0, ELEMENTSOF(arguments));
        tcase_add_loop_test(t, test_nice, 0, ELEMENTSOF(nices));
        suite_add_tcase(s, t);

        return suite_run(s);
}
