/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who may have the service do what over D-Bus, and whose turn it is. The drives are ours, and so is the system bus: the other
 * end of it is in our hands. */

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "bus.h"
#include "suite.h"
#include "system-bus.h"

#define QUESTIONS 100U

/* ---- stand-ins ---- */

static DriveRecord record = { .identity = (char *) "wwn" };
static Drive disk = { .name = (char *) "sda" };
static TargetEnv env;
static Target watched = { .env = &env, .drive = &disk, .record = &record };
static FsckWaitFn gate_fn;
static void *gate_userdata;
static unsigned n_visits, n_catch_ups, n_answers, n_lists, n_lists_before;

Target *manager_first(_unused_ Manager *m) {
        n_lists++;
        return &watched;
}
Target *manager_find(_unused_ Manager *m, const char *name) {
        return streq(name, "sda") ? &watched : NULL;
}
void manager_visit(_unused_ Manager *m, _unused_ Target *t, _unused_ VisitReason reason) {
        n_visits++;
        n_lists_before = n_lists;
}
unsigned target_release(_unused_ Target *t, _unused_ const char *setting) {
        return 0;
}
void manager_schedule(_unused_ Manager *m) {
}
bool visit_job_has_worker(_unused_ const VisitJob *v) {
        return false;
}
int fsck_wait_ask(_unused_ FsckWait *g, _unused_ const char *name, _unused_ bool settled, FsckWaitFn fn, void *userdata,
                  FsckTicket **ret) {
        gate_fn = fn;
        gate_userdata = userdata;
        *ret = NULL;
        return 0;
}
FsckTicket *fsck_ticket_free(_unused_ FsckTicket *t) {
        return NULL;
}
void journal_log(_unused_ int priority, _unused_ const char *format, ...) {
}

static void on_catch_up(_unused_ void *userdata) {
        n_catch_ups++;
}

static int on_reload(_unused_ void *userdata, _unused_ char **ret_sentence) {
        return 0;
}

static const BusActions actions = { .reload = on_reload, .catch_up = on_catch_up };

/* ---- connections ---- */

static char path[64];
static sd_event *event;
static Bus *bus;
static sd_bus *service, *user; /* the two ends of what is the system bus to the service */

static sd_bus *end_make(int fd, bool server, int64_t priority) {
        sd_id128_t id = SD_ID128_NULL;
        sd_bus *b;

        ck_assert_int_ge(sd_bus_new(&b), 0);
        ck_assert_int_ge(sd_bus_set_fd(b, fd, fd), 0);
        ck_assert_int_ge(sd_bus_set_server(b, server, id), 0);
        ck_assert_int_ge(sd_bus_start(b), 0);
        ck_assert_int_ge(sd_bus_attach_event(b, event, priority), 0);
        return b;
}

static void setup(void) {
        int fds[2];

        n_visits = n_catch_ups = n_answers = n_lists = 0;
        (void) snprintf(path, sizeof path, "/tmp/test-bus-%d", (int) getpid());
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(bus_new(event, path, NULL, &actions, NULL, &bus), 0);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
        service = end_make(fds[0], true, SYSTEM_BUS_PRIORITY);
        user = end_make(fds[1], false, SD_EVENT_PRIORITY_NORMAL);
        bus_connected(bus, service);
}

static void teardown(void) {
        bus_lost(bus);
        (void) bus_free(bus);
        sd_bus_close_unref(service);
        sd_bus_close_unref(user);
        sd_event_unref(event);
        (void) unlink(path);
}

static void run(void) {
        while (sd_event_run(event, 200 * 1000) > 0)
                ;
}

static int on_answer(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error) {
        ck_assert(!sd_bus_message_is_method_error(m, NULL));
        n_answers++;
        return 0;
}

static void ask(sd_bus *b, const char *method) {
        ck_assert_int_ge(sd_bus_call_method_async(b, NULL, "org.drivekeep1", "/org/drivekeep1",
                                                  "org.drivekeep1.Manager", method, on_answer, NULL, NULL),
                         0);
}

/* What anybody may ask has nothing looked at; only who may have it act can have udev's news heard at once. */
static const struct {
        const char *method;
        unsigned n_catch_ups;
} rows[] = {
        { "ListDrives", 0 },
        { "CatchUp", 1 },
};

START_TEST(test_reading) {
        run();
        for (unsigned i = 1; i <= 3; i++) {
                ask(user, rows[_i].method);
                run();
                ck_assert_uint_eq(n_answers, i);
                ck_assert_uint_eq(n_catch_ups, i * rows[_i].n_catch_ups);
        }
}
END_TEST

static sd_bus *root_connect(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        (void) strncpy(address.sun_path, path, sizeof address.sun_path - 1);
        ck_assert_int_eq(connect(fd, (const struct sockaddr *) &address, sizeof address), 0);
        return end_make(fd, false, SD_EVENT_PRIORITY_NORMAL);
}

/* Whoever reads a drive has it for himself until he goes, however he goes. */
START_TEST(test_reader) {
        sd_bus *root = root_connect();

        ck_assert_int_ge(sd_bus_call_method_async(root, NULL, "org.drivekeep1", "/org/drivekeep1",
                                                  "org.drivekeep1.Manager", "MayRead", on_answer, NULL, "s", "sda"),
                         0);
        run();
        ck_assert_uint_eq(n_answers, 0);
        ck_assert(bus_drive_is_read(bus, &watched));
        ck_assert_ptr_nonnull(gate_fn);
        gate_fn(gate_userdata, (Wait){ WAIT_NOTHING });
        run();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert(bus_drive_is_read(bus, &watched));

        sd_bus_close_unref(root);
        run();
        ck_assert(!bus_drive_is_read(bus, &watched));
}
END_TEST

/* Questions of others wait for root at the socket, and not the other way round. */
START_TEST(test_turn) {
        sd_bus_message *m;
        sd_bus *root;

        run();
        for (unsigned i = 0; i < QUESTIONS; i++)
                ask(user, "ListDrives");
        ck_assert_int_ge(sd_bus_flush(user), 0);

        root = root_connect();
        ck_assert_int_ge(sd_bus_message_new_method_call(root, &m, "org.drivekeep1", "/org/drivekeep1",
                                                        "org.drivekeep1.Manager", "Apply"),
                         0);
        ck_assert_int_ge(sd_bus_message_append(m, "as", 0), 0);
        ck_assert_int_ge(sd_bus_call_async(root, NULL, m, NULL, NULL, 0), 0);
        sd_bus_message_unref(m);
        run();

        ck_assert_uint_eq(n_visits, 1);
        ck_assert_uint_eq(n_lists_before, 1); /* its own */
        ck_assert_uint_eq(n_answers, QUESTIONS);
        sd_bus_close_unref(root);
        run();
}
END_TEST

int main(void) {
        Suite *s = suite_create("bus");
        TCase *t = tcase_create("bus");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_reading, 0, ELEMENTSOF(rows));
        tcase_add_test(t, test_reader);
        tcase_add_test(t, test_turn);
        suite_add_tcase(s, t);

        return suite_run(s);
}
