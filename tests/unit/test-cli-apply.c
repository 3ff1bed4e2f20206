/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What `drivekeep apply` asks, against a daemon of ours at the other end of a socket, and what it makes of answers. */

#include <err.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "request.h"
#include "test-cli.h"

typedef struct Answer {
        const char *error, *message; /* NULL: the names that it was asked for, and "sdz" */
        const char *asked;           /* what must have been asked, joined by blanks */
} Answer;

static int on_apply(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const Answer *a = userdata;
        char joined[64] = "", **names = NULL;
        sd_bus_message *reply;

        if (sd_bus_message_read_strv(m, &names) < 0)
                _exit(2);
        for (char **n = names; n && *n; n++) {
                (void) strcat(joined, n == names ? "" : " ");
                (void) strcat(joined, *n);
                free(*n);
        }
        free(names);
        if (!streq(joined, a->asked))
                _exit(3);

        if (a->error)
                return sd_bus_error_set(error, a->error, a->message);

        if (sd_bus_message_new_method_return(m, &reply) < 0 ||
            sd_bus_message_append(reply, "as", 2, "sda", "sdz") < 0 || sd_bus_send(NULL, reply, NULL) < 0)
                _exit(4);
        sd_bus_message_unref(reply);
        return 1;
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Apply", "as", "as", on_apply, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

/* Serves until the other end closes. */
static void daemon_run(int fd, const Answer *answer) {
        sd_bus *bus;
        sd_id128_t id;

        if (sd_id128_randomize(&id) < 0 || sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, fd, fd) < 0 ||
            sd_bus_set_server(bus, 1, id) < 0 || sd_bus_start(bus) < 0 ||
            sd_bus_add_object_vtable(bus, NULL, "/org/drivekeep1", "org.drivekeep1.Manager", vtable,
                                     (void *) (uintptr_t) answer) < 0)
                _exit(5);

        for (;;) {
                int r = sd_bus_process(bus, NULL);

                if (r < 0)
                        break;
                if (r == 0 && sd_bus_wait(bus, UINT64_MAX) < 0)
                        break;
        }

        sd_bus_flush_close_unref(bus);
        _exit(0);
}

static int ask(const Answer *answer, char *const *names, char ***ret_visited, sd_bus_error *ret_error) {
        int fds[2], r, child_status;
        sd_bus *bus;
        pid_t child;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                (void) close(fds[0]);
                daemon_run(fds[1], answer);
        }
        (void) close(fds[1]);

        ck_assert_int_ge(sd_bus_new(&bus), 0);
        ck_assert_int_ge(sd_bus_set_fd(bus, fds[0], fds[0]), 0);
        ck_assert_int_ge(sd_bus_start(bus), 0);

        r = request_visit(bus, "Apply", names, ret_visited, ret_error);

        sd_bus_flush_close_unref(bus);
        ck_assert_int_eq(waitpid(child, &child_status, 0), child);
        ck_assert_int_eq(child_status, 0);
        return r;
}

START_TEST(test_apply) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        char *const names[] = { (char *) "sda", (char *) "nvme0n1", NULL };
        const Answer answer = { .asked = "sda nvme0n1" };
        char **visited;

        ck_assert_int_ge(ask(&answer, names, &visited, &error), 0);
        ck_assert_str_eq(visited[0], "sda");
        ck_assert_str_eq(visited[1], "sdz");
        ck_assert_ptr_null(visited[2]);
        for (char **v = visited; *v; v++)
                free(*v);
        free(visited);
}
END_TEST

START_TEST(test_apply_all) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        char *const names[] = { NULL };
        const Answer answer = { .error = SD_BUS_ERROR_ACCESS_DENIED, .message = "No", .asked = "" };
        char **visited;

        ck_assert_int_lt(ask(&answer, names, &visited, &error), 0);
        ck_assert_str_eq(error.name, SD_BUS_ERROR_ACCESS_DENIED);
}
END_TEST

/* clang-format off */
static const struct {
        int result;
        const char *error, *message;
        ExitStatus status;
        const char *said;
} cases[] = {
        { -ENOENT,       NULL, NULL,                             EXIT_NO_SERVICE, "does not run"               },
        { -ECONNREFUSED, NULL, NULL,                             EXIT_NO_SERVICE, "does not run"               },
        { -EHOSTUNREACH, SD_BUS_ERROR_SERVICE_UNKNOWN, "x",      EXIT_NO_SERVICE, "does not run"               },
        { -ENXIO,        SD_BUS_ERROR_NAME_HAS_NO_OWNER, "x",    EXIT_NO_SERVICE, "does not run"               },
        { -ECONNRESET,   NULL, NULL,                             EXIT_NO_SERVICE, "has not answered"           },
        { -ENOTCONN,     NULL, NULL,                             EXIT_NO_SERVICE, "has not answered"           },
        { -ETIMEDOUT,    NULL, NULL,                             EXIT_NO_SERVICE, "has not answered"           },
        { -EIO,          SD_BUS_ERROR_NO_REPLY, "x",             EXIT_NO_SERVICE, "has not answered"           },
        { -EACCES,       NULL, NULL,                             EXIT_BAD_INPUT,  "only root"                  },
        { -EACCES,       SD_BUS_ERROR_ACCESS_DENIED, "x",        EXIT_BAD_INPUT,  "only root"                  },
        { -EINVAL,       SD_BUS_ERROR_INVALID_ARGS, "bad \x1b[", EXIT_BAD_INPUT,  "cannot do that: bad \\x1b[" },
        /* A daemon that says ENOENT of something is one that runs. */
        { -ENOENT,       SD_BUS_ERROR_FILE_NOT_FOUND, "no sdq",  EXIT_BAD_INPUT,  "cannot do that: no sdq"     },
        { -EIO,          NULL, NULL,                             EXIT_BAD_INPUT,  "Input/output error"         },
};
/* clang-format on */

START_TEST(test_explain) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_free_ char *said = NULL;
        FILE *f = catch_begin(stderr);

        if (cases[_i].error)
                (void) sd_bus_error_set(&error, cases[_i].error, cases[_i].message);
        ck_assert_int_eq(request_explain(cases[_i].result, &error), cases[_i].status);
        said = catch_end(stderr, f);
        ck_assert_ptr_nonnull(strstr(said, cases[_i].said));
}
END_TEST

/* The whole verb, where there is no bus, and where there is not even a state directory. */
START_TEST(test_no_bus) {
        char *argv[] = { (char *) "drivekeep apply", (char *) "--state-dir=.", NULL };

        ck_assert_int_eq(setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1), 0);
        ck_assert_int_eq(verb_run(&verb_apply, 2, argv), EXIT_NO_SERVICE);
        argv[1] = (char *) "--state-dir=missing";
        ck_assert_int_eq(verb_run(&verb_apply, 2, argv), EXIT_NO_SERVICE);
}
END_TEST

START_TEST(test_unknown_drive) {
        char *argv[] = { (char *) "drivekeep apply", (char *) "--state-dir=.", (char *) "sdq", NULL };

        ck_assert_int_eq(verb_run(&verb_apply, 3, argv), EXIT_BAD_INPUT);
}
END_TEST

/* "$SETTING" of a script that never set it is not every setting. */
START_TEST(test_release_nothing) {
        char *argv[] = { (char *) "drivekeep release", (char *) "--state-dir=missing", (char *) "sda", (char *) "",
                         NULL };

        ck_assert_int_eq(verb_run(&verb_release, 4, argv), EXIT_BAD_INPUT);
        argv[3] = (char *) "apm";
        ck_assert_int_eq(verb_run(&verb_release, 4, argv), EXIT_NO_SERVICE);
}
END_TEST

int main(void) {
        TCase *t = tcase_create("apply");

        tcase_add_checked_fixture(t, scratch_make, scratch_remove);
        tcase_add_test(t, test_apply);
        tcase_add_test(t, test_apply_all);
        tcase_add_loop_test(t, test_explain, 0, ELEMENTSOF(cases));
        tcase_add_test(t, test_no_bus);
        tcase_add_test(t, test_unknown_drive);
        tcase_add_test(t, test_release_nothing);
        return test_main("cli-apply", t);
}
