/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "proxy.h"
#include "inject.h"
#include "sandbox.h"
#include "suite.h"
#include "unit-status.h"
#include "wire.h"

#define MANAGER "/org/freedesktop/systemd1"
#define MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"
#define UNIT "/org/freedesktop/systemd1/unit/x_2eservice"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define LOGIN "/org/freedesktop/login1"
#define LOGIN_INTERFACE "org.freedesktop.login1.Manager"

static char dir[32], own_path[64], peer_path[64];

/* ---- PID 1 and logind, which answer every call ---- */

static bool is_whole(sd_bus_message *m) {
        bool login = streq(sd_bus_message_get_member(m), "Inhibit");
        const char *const signatures[] = { "asas", "as", "ss", "ssss" };
        bool known = false;

        for (size_t i = 0; i < ELEMENTSOF(signatures); i++)
                known = known || sd_bus_message_has_signature(m, signatures[i]) > 0;
        return known && sd_bus_message_has_signature(m, "ssss") == login &&
               sd_bus_message_has_signature(m, "asas") == streq(sd_bus_message_get_member(m), "ListUnitsByPatterns") &&
               streq_ptr(sd_bus_message_get_destination(m),
                         login ? "org.freedesktop.login1" : "org.freedesktop.systemd1");
}

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *member = sd_bus_message_get_member(m);

        if (sd_bus_message_is_method_call(m, NULL, NULL) <= 0)
                return 0;
        if (!streq(member, "Any") && !is_whole(m))
                return sd_bus_error_set(error, "org.example.Error.Other", "it is not as it was asked");
        if (streq(member, "Inhibit"))
                return sd_bus_reply_method_return(m, "h", STDIN_FILENO);
        if (streq(member, "Get"))
                return sd_bus_error_set(error, "org.example.Error.Theirs", "as they said it");
        if (streq(member, "ListUnitsByNames")) {
                (void) sd_bus_emit_signal(sd_bus_message_get_bus(m), MANAGER, MANAGER_INTERFACE, "JobNew", "uos", 7,
                                          "/job/7", "a.service");
                (void) sd_bus_emit_signal(sd_bus_message_get_bus(m), MANAGER, MANAGER_INTERFACE, "JobRemoved", "uoss",
                                          7, "/job/7", "a.service", "done");
        }
        return sd_bus_reply_method_return(m, "ss", member, "whole");
}

static sd_bus *serve(sd_event *event, int fd) {
        sd_bus *bus;
        sd_id128_t id;

        if (sd_id128_randomize(&id) < 0 || sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, fd, fd) < 0 ||
            sd_bus_set_server(bus, 1, id) < 0 || sd_bus_negotiate_fds(bus, 1) < 0 ||
            sd_bus_add_filter(bus, NULL, on_call, NULL) < 0 || sd_bus_start(bus) < 0 ||
            sd_bus_attach_event(bus, event, 0) < 0)
                _exit(EXIT_FAILURE);
        return bus;
}

static int on_connection(sd_event_source *source, int fd, uint32_t revents _unused_, void *userdata _unused_) {
        (void) serve(sd_event_source_get_event(source), accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
        return 0;
}

static int listen_at(const char *path, int type) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

        (void) strcpy(address.sun_path, path);
        ck_assert(fd >= 0 && bind(fd, (const struct sockaddr *) &address, sizeof address) >= 0 && listen(fd, 8) >= 0);
        return fd;
}

static pid_t fork_child(void) {
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0)
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        return pid;
}

static pid_t start_peers(void) {
        int fd = listen_at(peer_path, SOCK_STREAM);
        pid_t pid = fork_child();

        if (pid == 0) {
                sd_event *event;

                if (sd_event_new(&event) >= 0 && sd_event_add_io(event, NULL, fd, EPOLLIN, on_connection, NULL) >= 0)
                        (void) sd_event_loop(event);
                _exit(EXIT_FAILURE);
        }
        (void) close(fd);
        return pid;
}

static void stop_peers(pid_t pid) {
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
}

/* ---- the proxy and its client ---- */

static int open_peer(sd_bus **ret) {
        char address[128];

        (void) snprintf(address, sizeof address, "unix:path=%s", peer_path);
        return systemd_open_socket(address, ret);
}

static int open_nothing(sd_bus **ret _unused_) {
        return -ENOENT;
}

/* Ends the child after a check for leaks. The parent's buffered output is dropped, so that the child does not write
 * it. */
static _Noreturn void end(int r) {
        __fpurge(stdout);
        exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

static bool takes_no_fds;

/* Starts the proxy, and connects to the proxy. */
static pid_t start_proxy(bool reachable, sd_bus **ret) {
        ProxyTargets targets = { reachable ? open_peer : open_nothing, reachable ? open_peer : open_nothing };
        int fds[2];
        pid_t pid;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        pid = fork_child();
        if (pid == 0) {
                (void) close(fds[0]);
                end(proxy_serve(fds[1], &targets));
        }
        (void) close(fds[1]);
        ck_assert(sd_bus_new(ret) >= 0 && sd_bus_set_fd(*ret, fds[0], fds[0]) >= 0 &&
                  sd_bus_negotiate_fds(*ret, !takes_no_fds) >= 0 && sd_bus_start(*ret) >= 0);
        return pid;
}

static void setup(void) {
        (void) strcpy(dir, "/tmp/drivekeep-test-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(own_path, sizeof own_path, "%s/ours", dir);
        (void) snprintf(peer_path, sizeof peer_path, "%s/peer_path", dir);
}

static void teardown(void) {
        (void) unlink(own_path);
        (void) unlink(peer_path);
        (void) rmdir(dir);
}

static void assert_ends(pid_t pid) {
        int status;

        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- calls ---- */

static const struct {
        const char *path, *interface, *member, *types;
        const char *strings[4];
        const char *error; /* prefix of the expected error name; NULL: no error */
} questions[] = {
        { MANAGER, MANAGER_INTERFACE, "ListUnitsByPatterns", "asas", {}, NULL },
        { MANAGER, MANAGER_INTERFACE, "ListUnitsByNames", "as", {}, NULL },
        { UNIT, PROPERTIES, "Get", "ss", { "a", "b" }, "org.example.Error.Theirs" },
        { LOGIN, LOGIN_INTERFACE, "Inhibit", "ssss", { "sleep", "a", "b", "delay" }, NULL },

        { LOGIN, LOGIN_INTERFACE, "Inhibit", "ssss", { "shutdown", "a", "b", "delay" }, "org.freedesktop.DBus.Error." },
        { LOGIN, LOGIN_INTERFACE, "Inhibit", "ssss", { "sleep", "a", "b", "block" }, "org.freedesktop.DBus.Error." },
        { LOGIN "/x",
          LOGIN_INTERFACE,
          "Inhibit",
          "ssss",
          { "sleep", "a", "b", "delay" },
          "org.freedesktop.DBus.Error." },
        { MANAGER "/x", MANAGER_INTERFACE, "ListUnitsByPatterns", "asas", {}, "org.freedesktop.DBus.Error." },
        { LOGIN, LOGIN_INTERFACE, "Inhibit", "s", { "sleep" }, "org.freedesktop.DBus.Error." },
        { LOGIN, LOGIN_INTERFACE, "PowerOff", "", {}, "org.freedesktop.DBus.Error." },
        { MANAGER, MANAGER_INTERFACE, "StartTransientUnit", "ss", { "a", "b" }, "org.freedesktop.DBus.Error." },
        { MANAGER, MANAGER_INTERFACE, "StartUnit", "ss", { "a", "b" }, "org.freedesktop.DBus.Error." },
        { MANAGER, MANAGER_INTERFACE, "SetEnvironment", "as", {}, "org.freedesktop.DBus.Error." },
        { MANAGER, MANAGER_INTERFACE, "PowerOff", "", {}, "org.freedesktop.DBus.Error." },
        { MANAGER, MANAGER_INTERFACE, "ListUnitsByNames", "ss", { "a", "b" }, "org.freedesktop.DBus.Error." },
        { MANAGER "/x", MANAGER_INTERFACE, "ListUnitsByNames", "as", {}, "org.freedesktop.DBus.Error." },
        { MANAGER, PROPERTIES, "Get", "ss", { "a", "b" }, "org.freedesktop.DBus.Error." },
        { UNIT, PROPERTIES, "Set", "ss", { "a", "b" }, "org.freedesktop.DBus.Error." },
        { UNIT, PROPERTIES, "GetAll", "s", { "a" }, "org.freedesktop.DBus.Error." },
        { UNIT, "org.freedesktop.systemd1.Unit", "Kill", "ss", { "a", "b" }, "org.freedesktop.DBus.Error." },
};

static int call_method(sd_bus *bus, size_t i, sd_bus_message **ret, sd_bus_error *error) {
        sd_bus_message *m;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, "org.example.Any", questions[i].path, questions[i].interface,
                                           questions[i].member);
        for (const char *t = questions[i].types, *const *s = questions[i].strings; *t && r >= 0; t++)
                if (*t == 'a')
                        r = sd_bus_message_append(m, "as", 1, "x"), t++;
                else
                        r = sd_bus_message_append(m, "s", *s++);
        ck_assert_int_ge(r, 0);
        r = sd_bus_call(bus, m, 0, error, ret);
        (void) sd_bus_message_unref(m);
        return r;
}

START_TEST(test_call) {
        pid_t pid1 = start_peers(), proxy;
        _cleanup_(sd_bus_error_free) sd_bus_error error = {};
        sd_bus_message *reply = NULL;
        const char *result, *rest;
        sd_bus *bus;
        int r, fd;

        proxy = start_proxy(true, &bus);
        r = call_method(bus, _i, &reply, &error);
        if (questions[_i].error) {
                ck_assert_int_lt(r, 0);
                ck_assert_msg(error.name && strncmp(error.name, questions[_i].error, strlen(questions[_i].error)) == 0,
                              "%s: %s", questions[_i].member, error.name);
        } else {
                ck_assert_msg(r >= 0, "%s: %s", questions[_i].member, error.message);
                if (sd_bus_message_read(reply, "h", &fd) >= 0)
                        ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
                else {
                        ck_assert_int_gt(sd_bus_message_read(reply, "ss", &result, &rest), 0);
                        ck_assert_str_eq(result, questions[_i].member);
                        ck_assert_str_eq(rest, "whole");
                }
        }

        (void) sd_bus_message_unref(reply);
        (void) sd_bus_close_unref(bus);
        assert_ends(proxy);
        stop_peers(pid1);
}
END_TEST

/* If a reply of PID 1 contains a descriptor that the client cannot receive, the client gets an error reply at once. */
START_TEST(test_reply_lost) {
        pid_t pid1 = start_peers(), proxy;
        _cleanup_(sd_bus_error_free) sd_bus_error error = {};
        sd_bus *bus;

        takes_no_fds = true;
        proxy = start_proxy(true, &bus);
        ck_assert_int_lt(call_method(bus, 3, NULL, &error), 0);
        ck_assert_str_eq(error.name, SD_BUS_ERROR_NOT_SUPPORTED);

        (void) sd_bus_close_unref(bus);
        assert_ends(proxy);
        stop_peers(pid1);
}
END_TEST

static int on_job(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        const char *path, *unit, *result = "";
        char *signals = userdata;
        uint32_t id;

        ck_assert_int_gt(sd_bus_message_read(m, "uos", &id, &path, &unit), 0);
        if (streq(sd_bus_message_get_member(m), "JobRemoved"))
                ck_assert_int_gt(sd_bus_message_read(m, "s", &result), 0);
        ck_assert_str_eq(result, streq(sd_bus_message_get_member(m), "JobRemoved") ? "done" : "");
        (void) snprintf(signals + strlen(signals), 64, "%s %u %s %s;", sd_bus_message_get_member(m), id, path, unit);
        return 0;
}

START_TEST(test_signal) {
        pid_t pid1 = start_peers(), proxy;
        _cleanup_(sd_bus_error_free) sd_bus_error error = {};
        sd_bus_message *reply = NULL;
        char result[256] = "";
        sd_bus *bus;

        proxy = start_proxy(true, &bus);
        ck_assert_int_ge(sd_bus_match_signal(bus, NULL, NULL, MANAGER, MANAGER_INTERFACE, NULL, on_job, result), 0);
        ck_assert_int_ge(call_method(bus, 1, &reply, &error), 0);
        while (!strstr(result, "JobRemoved") && sd_bus_process(bus, NULL) >= 0)
                (void) sd_bus_wait(bus, 10 * 1000);
        ck_assert_str_eq(result, "JobNew 7 /job/7 a.service;JobRemoved 7 /job/7 a.service;");

        (void) sd_bus_message_unref(reply);
        (void) sd_bus_close_unref(bus);
        assert_ends(proxy);
        stop_peers(pid1);
}
END_TEST

/* When PID 1 disconnects, the proxy exits, so that the client notices that no further signals will come. */
START_TEST(test_pid1_disconnects) {
        pid_t pid1 = start_peers(), proxy;
        _cleanup_(sd_bus_error_free) sd_bus_error error = {};
        sd_bus *bus;

        proxy = start_proxy(true, &bus);
        ck_assert_int_ge(call_method(bus, 1, NULL, &error), 0);
        stop_peers(pid1);
        while (sd_bus_process(bus, NULL) >= 0)
                (void) sd_bus_wait(bus, 10 * 1000);
        (void) sd_bus_close_unref(bus);
        assert_ends(proxy);
}
END_TEST

static void proxy_child(BrokerChild child, int fd) {
        static const ProxyTargets targets = { open_peer, open_peer };

        end(child == BROKER_PROXY ? proxy_serve(fd, &targets) : -EINVAL);
}

/* proxy_open() starts the proxy through a broker, as the manager does. */
START_TEST(test_open) {
        pid_t pid1 = start_peers(), pid;
        _cleanup_(sd_bus_error_free) sd_bus_error error = {};
        int listener = listen_at(own_path, SOCK_SEQPACKET);
        Broker *broker;
        sd_bus *bus;

        pid = fork_child();
        if (pid == 0)
                _exit(broker_serve(accept4(listener, NULL, NULL, SOCK_CLOEXEC), 0, proxy_child) < 0);
        (void) close(listener);

        ck_assert_int_eq(broker_new(own_path, &broker), 0);
        ck_assert_int_eq(proxy_open(broker, &bus), 0);
        ck_assert_msg(call_method(bus, 1, NULL, &error) >= 0, "%s", error.message);
        (void) sd_bus_close_unref(bus);
        /* The broker exits with 0, so no child of the broker was left. */
        assert_ends(pid);
        ck_assert_int_eq(proxy_open(broker, &bus), -ECONNREFUSED);

        (void) broker_free(broker);
        stop_peers(pid1);
}
END_TEST

/* If the proxy cannot connect to PID 1, the client gets an error reply. */
START_TEST(test_unreachable) {
        pid_t proxy;
        _cleanup_(sd_bus_error_free) sd_bus_error error = {};
        sd_bus *bus;

        proxy = start_proxy(false, &bus);
        ck_assert_int_lt(call_method(bus, 0, NULL, &error), 0);
        ck_assert(sd_bus_error_is_set(&error));
        (void) sd_bus_close_unref(bus);
        assert_ends(proxy);
}
END_TEST

/* _i == 0: proxy_main() serves a client even if PID 1 and logind cannot be reached. _i == 1: proxy_main() fails if its
 * descriptor for the client is invalid. */
START_TEST(test_main) {
        int fds[2], status;
        sd_bus *bus;
        pid_t pid;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        pid = fork_child();
        if (pid == 0) {
                (void) close(fds[0]);
                proxy_main(_i ? -EBADF : fds[1]);
        }
        (void) close(fds[1]);
        if (_i == 0) {
                ck_assert(sd_bus_new(&bus) >= 0 && sd_bus_set_fd(bus, fds[0], fds[0]) >= 0 && sd_bus_start(bus) >= 0);
                ck_assert_int_ge(
                                sd_bus_call_method(bus, NULL, "/", "org.freedesktop.DBus.Peer", "Ping", NULL, NULL, ""),
                                0);
                (void) sd_bus_close_unref(bus);
        } else
                (void) close(fds[0]);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == (_i ? EXIT_FAILURE : EXIT_SUCCESS));
}
END_TEST

START_TEST(test_no_socket) {
        sd_bus *bus = NULL;

        inject_arm(INJECT_ERRORS, 1);
        ck_assert_int_eq(proxy_open(NULL, &bus), -EIO);
        ck_assert(inject_disarm());
        ck_assert_ptr_null(bus);
}
END_TEST

/* ---- its rights ---- */

/* Opens the test's abstract socket. `use` is connect() or bind(). */
static int open_abstract(int (*use)(int fd, const struct sockaddr *address, socklen_t size)) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

        (void) strcpy(address.sun_path + 1, dir);
        return use(fd, (const struct sockaddr *) &address, sizeof address) < 0 ? -1 : fd;
}

/* Tries to connect to an abstract socket, to read a file, to create a directory, and to call PID 1, in this order.
 * Stores '+' for each success and '-' for each failure. */
static void try_rights(char result[static 5]) {
        sd_bus *bus;

        (void) strcpy(result, "----");
        if (open_abstract(connect) >= 0)
                result[0] = '+';
        if (open("/proc/self/status", O_RDONLY | O_CLOEXEC) >= 0)
                result[1] = '+';
        if (open(dir, O_PATH | O_CLOEXEC) >= 0 && mkdir(own_path, 0755) >= 0)
                result[2] = '+';
        if (open_peer(&bus) >= 0 &&
            sd_bus_call_method(bus, "org.example.Any", MANAGER, MANAGER_INTERFACE, "Any", NULL, NULL, "") >= 0)
                result[3] = '+';
}

/* The sandbox of the proxy leaves no capability, and permits only connections to sockets with a path. Kernels without Landlock scopes
 * (ABI < 6) also permit connections to abstract sockets. */
START_TEST(test_rights) {
        static const char *const sets[] = { "CapPrm", "CapEff", "CapInh" };
        bool scoped = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 6;
        int listener = open_abstract(bind), fds[2], file;
        pid_t pid1 = start_peers(), pid;
        char result[5] = "", text[4096] = "";

        ck_assert_int_eq(listen(listener, 8), 0);
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        pid = fork_child();
        if (pid == 0) {
                if (sandbox_proxy() >= 0)
                        try_rights(result);
                _exit(write(fds[1], result, sizeof result) == sizeof result ? EXIT_SUCCESS : EXIT_FAILURE);
        }
        ck_assert_int_eq(read(fds[0], result, sizeof result), sizeof result);
        ck_assert_str_eq(result, scoped ? "---+" : "+--+");

        /* The child has ended and is a zombie. /proc still has the status of a zombie. */
        (void) snprintf(text, sizeof text, "/proc/%d/status", pid);
        file = open(text, O_RDONLY | O_CLOEXEC);
        ck_assert_int_gt(read(file, text, sizeof text - 1), 0);
        for (size_t i = 0; i < ELEMENTSOF(sets); i++) {
                const char *set = strstr(text, sets[i]);

                ck_assert_ptr_nonnull(set);
                ck_assert_uint_eq(strtoull(set + strlen("CapXxx:"), NULL, 16), 0);
        }

        assert_ends(pid);
        closep(&file);
        closep(&listener);
        closep(&fds[0]);
        closep(&fds[1]);
        (void) rmdir(own_path);
        stop_peers(pid1);
}
END_TEST

/* ---- permitted clients ---- */

static const struct {
        const char *change; /* a command that changes the socket file "ours" after the connection was made */
        bool by_root, owned;
} owners[] = {
        { "true", false, true },
        { "chown 65534 ours", true, false },
        { "rm ours", false, false },
        { "rm ours; : >ours", false, false },
};

START_TEST(test_owner) {
        char command[128];
        int listener, client, fd;
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        if (owners[_i].by_root && geteuid() != 0)
                return;
        listener = listen_at(own_path, SOCK_STREAM);
        client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        (void) strcpy(address.sun_path, own_path);
        ck_assert_int_eq(connect(client, (const struct sockaddr *) &address, sizeof address), 0);
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        (void) snprintf(command, sizeof command, "cd %s && { %s; }", dir, owners[_i].change);
        ck_assert_int_eq(system(command), 0);
        ck_assert_msg(unix_peer_owns_socket(fd) == owners[_i].owned, "%s", owners[_i].change);
        (void) close(fd);
        (void) close(client);
        (void) close(listener);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("proxy");
        TCase *tc = tcase_create("proxy");

        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_loop_test(tc, test_call, 0, ELEMENTSOF(questions));
        tcase_add_test(tc, test_reply_lost);
        tcase_add_test(tc, test_signal);
        tcase_add_test(tc, test_pid1_disconnects);
        tcase_add_test(tc, test_open);
        tcase_add_test(tc, test_unreachable);
        tcase_add_loop_test(tc, test_main, 0, 2);
        tcase_add_test(tc, test_no_socket);
        tcase_add_test(tc, test_rights);
        tcase_add_loop_test(tc, test_owner, 0, ELEMENTSOF(owners));
        suite_add_tcase(suite, tc);
        return suite_run(suite);
}
