/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The D-Bus interface: which callers may use which method, and which calls are handled first. The test plays the system bus and the
 * clients. There are no drives: tests/unit/scripts/bus covers the effect of the methods on drives. */

#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "bus-pair.h"
#include "bus.h"
#include "inject.h"
#include "bus-requests.h"
#include "suite.h"

#define QUESTIONS 100U

/* ---- stand-ins ---- */

static unsigned n_settles, n_answers, n_lists, n_lists_before;

Target *manager_first(_unused_ Manager *m) {
        n_lists++;
        return NULL;
}
Target *manager_find(_unused_ Manager *m, _unused_ const char *name) {
        return NULL;
}
static unsigned n_logged;
void __wrap_journal_log(int priority, const char *format, ...);
void __wrap_journal_log(_unused_ int priority, _unused_ const char *format, ...) {
        n_logged++;
}

void monitor_settle(_unused_ Monitor *m) {
        n_settles++;
        n_lists_before = n_lists;
}

static int reload_error;

static int on_reload(_unused_ void *userdata, char **ret_sentence) {
        if (reload_error == -EINVAL)
                *ret_sentence = strdup("a.conf:3: error: no");
        return reload_error;
}

/* ---- connections ---- */

static char dir[] = "/tmp/drivekeep-test-XXXXXX", path[64];
static sd_event *event;
static Bus *bus;
static sd_bus *service, *user; /* the two ends of the connection that the service treats as the system bus */

int sd_bus_is_bus_client(sd_bus *b) {
        return b == service;
}

static int append_error;

/* Replaces the function of libsystemd. A negative `append_error` is returned as an error. Otherwise appends an empty list. */
int sd_bus_message_append_strv(sd_bus_message *m, char **names) {
        ck_assert(!names || !names[0]);
        return append_error < 0 ? append_error : sd_bus_message_append(m, "as", 0);
}

static void setup(void) {
        n_settles = n_answers = n_lists = n_logged = 0;
        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(path, sizeof path, "%s/bus", dir);
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(bus_new(event, path, NULL, NULL, on_reload, NULL, &bus), 0);
        service = bus_pair(NULL, &user);
        ck_assert_int_ge(sd_bus_attach_event(service, event, BUS_PRIORITY), 0);
        ck_assert_int_ge(sd_bus_attach_event(user, event, SD_EVENT_PRIORITY_NORMAL), 0);
        /* The connection does not lead to a real bus, so the request for the bus name fails. bus_offer() logs this failure. */
        bus_offer(bus, service);
        ck_assert_uint_eq(n_logged, 1);
        n_logged = 0;
}

static void teardown(void) {
        sd_bus_close_unref(service);
        sd_bus_close_unref(user);
        bus = bus_free(bus);
        event = sd_event_unref(event);
        (void) unlink(path);
        (void) rmdir(dir);
}

static void run(void) {
        bus_settle(event);
}

static int on_answer(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error) {
        ck_assert(!sd_bus_message_is_method_error(m, NULL));
        n_answers++;
        return 0;
}

static void call_without_args(sd_bus *b, const char *method) {
        ck_assert_int_ge(sd_bus_call_method_async(b, NULL, "org.drivekeep1", "/org/drivekeep1",
                                                  "org.drivekeep1.Manager", method, on_answer, NULL, NULL),
                         0);
}

/* ListDrives, which all users may call, does not process pending udev events. Settle, which only root may call, processes them. */
static const struct {
        const char *method;
        unsigned n_settles;
} rows[] = {
        { "ListDrives", 0 },
        { "Settle", 1 },
};

START_TEST(test_reading) {
        run();
        for (unsigned i = 1; i <= 3; i++) {
                call_without_args(user, rows[_i].method);
                run();
                ck_assert_uint_eq(n_answers, i);
                ck_assert_uint_eq(n_settles, i * rows[_i].n_settles);
        }
}
END_TEST

static sd_bus *root_connect(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        (void) strncpy(address.sun_path, path, sizeof address.sun_path - 1);
        ck_assert_int_eq(connect(fd, (const struct sockaddr *) &address, sizeof address), 0);
        return bus_end(event, fd, false);
}

/* Calls on the private socket are handled before calls on the system bus. */
START_TEST(test_priority) {
        sd_bus_message *m;
        sd_bus *root;

        run();
        for (unsigned i = 0; i < QUESTIONS; i++)
                call_without_args(user, "ListDrives");
        ck_assert_int_ge(sd_bus_flush(user), 0);

        root = root_connect();
        ck_assert_int_ge(sd_bus_message_new_method_call(root, &m, "org.drivekeep1", "/org/drivekeep1",
                                                        "org.drivekeep1.Manager", "Apply"),
                         0);
        ck_assert_int_ge(sd_bus_message_append(m, "as", 0), 0);
        ck_assert_int_ge(sd_bus_call_async(root, NULL, m, NULL, NULL, 0), 0);
        sd_bus_message_unref(m);
        run();

        ck_assert_uint_eq(n_settles, 1);
        ck_assert_uint_eq(n_lists_before, 0);
        ck_assert_uint_eq(n_answers, QUESTIONS);
        sd_bus_close_unref(root);
        run();
}
END_TEST

/* ---- methods for root ---- */

static sd_bus *root;
static char answer[256]; /* error and message of the last reply; empty: success */

static int on_result(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error) {
        const sd_bus_error *e = sd_bus_message_get_error(m);

        n_answers++;
        (void) snprintf(answer, sizeof answer, "%s%s%s", e ? e->name : "", e ? ": " : "", e ? e->message : "");
        return 0;
}

static void call(sd_bus *from, const char *method, const char *types, ...) {
        sd_bus_message *m;
        va_list ap;

        answer[0] = '\0';
        ck_assert_int_ge(sd_bus_message_new_method_call(from, &m, "org.drivekeep1", "/org/drivekeep1",
                                                        "org.drivekeep1.Manager", method),
                         0);
        va_start(ap, types);
        ck_assert_int_ge(sd_bus_message_appendv(m, types, ap), 0);
        va_end(ap);
        ck_assert_int_ge(sd_bus_call_async(from, NULL, m, on_result, NULL, 0), 0);
        sd_bus_message_unref(m);
        run();
}

static void setup_root(void) {
        setup();
        root = root_connect();
        run();
}

static void teardown_root(void) {
        sd_bus_close_unref(root);
        run();
        teardown();
}

#define NONE "org.drivekeep1.Error.NoSuchDrive: There is no drive 'sdq'."

/* Methods that act on drives process pending udev events first. `name`: the drive; NULL: no argument. */
static const struct {
        const char *method, *types, *name, *answer;
} acts[] = {
        { "Apply", "as", NULL, "" },      { "ApplyPermanent", "as", NULL, "" }, { "Read", "as", NULL, "" },
        { "Apply", "as", "sdq", NONE },   { "SpinDown", "as", "sdq", NONE },    { "Read", "as", "sdq", NONE },
        { "Release", "ss", "sdq", NONE }, { "Rewrite", "sas", "sdq", NONE },
};

START_TEST(test_actions) {
        if (streq(acts[_i].types, "ss"))
                call(root, acts[_i].method, "ss", acts[_i].name, "");
        else if (streq(acts[_i].types, "sas"))
                call(root, acts[_i].method, "sas", acts[_i].name, 0);
        else
                call(root, acts[_i].method, "as", acts[_i].name ? 1U : 0U, acts[_i].name);
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(answer, acts[_i].answer);
        ck_assert_uint_eq(n_settles, 1);
}
END_TEST

/* If the list of drives cannot be appended to the reply, the caller gets an error instead of the list. If there is no memory for the
 * request, requests_visit() fails. */
START_TEST(test_reply_fails) {
        Requests none = {};
        sd_bus_message *m;

        append_error = -ENOMEM;
        call(root, "Apply", "as", 0);
        append_error = 0;
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_msg(starts_with(answer, "org.freedesktop.DBus.Error."), "%s", answer);

        ck_assert_int_ge(sd_bus_message_new_method_call(user, &m, NULL, "/x", "x.y", "Apply"), 0);
        inject_arm(INJECT_MEMORY, 1);
        ck_assert_int_eq(requests_visit(&none, m, VISIT_REQUEST, NULL), -ENOMEM);
        ck_assert(inject_disarm());
        ck_assert_ptr_null(none.items);
        (void) sd_bus_message_unref(m);
}
END_TEST

/* Methods that need a private connection are refused on the system bus, where the service does not notice a disconnect. */
static const struct {
        const char *method, *types;
} own[] = {
        { "GetReadPermission", "s" },
        { "EndTemporary", "s" },
        { "SetTemporary", "ssss" },
};

START_TEST(test_private_socket) {
        call(user, own[_i].method, own[_i].types, "sda", "read_ahead_kb", "1MiB", "128KiB");
        ck_assert_msg(strstr(answer, "This method is available only on the service's private socket."), "%s", answer);
}
END_TEST

static const struct {
        int error;
        const char *answer;
} reloads[] = {
        { 0, "" },
        { -EINVAL, "org.drivekeep1.Error.BadConfiguration: a.conf:3: error: no" },
        { -EACCES, "org.freedesktop.DBus.Error.AccessDenied: Permission denied" },
};

START_TEST(test_reload) {
        static const char *const methods[] = { "Reload", "ReloadAndVisit" };

        reload_error = reloads[_i].error;
        for (size_t i = 0; i < ELEMENTSOF(methods); i++) {
                answer[0] = '\0';
                call(root, methods[i], "");
                ck_assert_uint_eq(n_answers, i + 1);
                ck_assert_str_eq(answer, reloads[_i].answer);
        }
}
END_TEST

static int on_version(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error) {
        const char *version;

        ck_assert_int_gt(sd_bus_message_read(m, "v", "s", &version), 0);
        (void) strcpy(answer, version);
        return 0;
}

START_TEST(test_version) {
        run();
        ck_assert_int_ge(sd_bus_call_method_async(user, NULL, "org.drivekeep1", "/org/drivekeep1",
                                                  "org.freedesktop.DBus.Properties", "Get", on_version, NULL, "ss",
                                                  "org.drivekeep1.Manager", "Version"),
                         0);
        run();
        ck_assert_str_eq(answer, DRIVEKEEP_VERSION);
}
END_TEST

static int on_text(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error) {
        const char *text;

        ck_assert_int_gt(sd_bus_message_read(m, "s", &text), 0);
        ck_assert_ptr_nonnull(strstr(text, "ListDrives"));
        /* No member is marked as deprecated, since clients would avoid a deprecated member. */
        ck_assert_ptr_null(strstr(text, "Deprecated"));
        n_answers++;
        return 0;
}

START_TEST(test_introspection) {
        run();
        ck_assert_int_ge(sd_bus_call_method_async(user, NULL, "org.drivekeep1", "/org/drivekeep1",
                                                  "org.freedesktop.DBus.Introspectable", "Introspect", on_text, NULL,
                                                  NULL),
                         0);
        run();
        ck_assert_uint_eq(n_answers, 1);
}
END_TEST

/* ---- the socket ---- */

/* A socket that is left over from an earlier run is replaced. Only the owner can connect to the socket. If the socket
 * cannot be created, bus_new() logs the failure and succeeds. */
START_TEST(test_socket) {
        struct stat st;
        Bus *second_bus;

        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert(S_ISSOCK(st.st_mode));
        ck_assert_int_eq(st.st_mode & 0777, 0600);
        ck_assert_int_eq(bus_new(event, path, NULL, NULL, on_reload, NULL, &second_bus), 0);
        ck_assert_uint_eq(n_logged, 0);
        (void) bus_free(second_bus);

        ck_assert_int_eq(bus_new(event, "/nonexistent/socket", NULL, NULL, on_reload, NULL, &second_bus), 0);
        ck_assert_uint_eq(n_logged, 1);
        (void) bus_free(second_bus);

        inject_arm(INJECT_ERRORS, 1);
        ck_assert_int_eq(bus_new(event, path, NULL, NULL, on_reload, NULL, &second_bus), 0);
        ck_assert(inject_disarm());
        ck_assert_uint_eq(n_logged, 2);
        (void) bus_free(second_bus);

        inject_arm(INJECT_MEMORY, 1);
        ck_assert_int_eq(bus_new(event, path, NULL, NULL, on_reload, NULL, &second_bus), -ENOMEM);
        ck_assert(inject_disarm());
        ck_assert_ptr_null(bus_free(NULL));
}
END_TEST

/* If the bus cannot be reached, bus_connect() logs the failure and does not wait for the bus. */
START_TEST(test_no_bus) {
        bus_connect(bus, "no address", NULL);
        ck_assert_uint_eq(n_logged, 1);
        run();
        ck_assert_uint_eq(n_logged, 1);
}
END_TEST

int main(void) {
        Suite *s = suite_create("bus");
        TCase *t = tcase_create("bus");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_reading, 0, ELEMENTSOF(rows));
        tcase_add_test(t, test_priority);
        suite_add_tcase(s, t);

        t = tcase_create("root");
        tcase_add_checked_fixture(t, setup_root, teardown_root);
        tcase_add_loop_test(t, test_actions, 0, ELEMENTSOF(acts));
        tcase_add_test(t, test_reply_fails);
        tcase_add_loop_test(t, test_private_socket, 0, ELEMENTSOF(own));
        tcase_add_loop_test(t, test_reload, 0, ELEMENTSOF(reloads));
        tcase_add_test(t, test_version);
        tcase_add_test(t, test_introspection);
        tcase_add_test(t, test_socket);
        tcase_add_test(t, test_no_bus);
        suite_add_tcase(s, t);

        return suite_run(s);
}
