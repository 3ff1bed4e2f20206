/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the service makes of PID 1's word on the boot; PID 1 is ours. */

#include <sys/socket.h>

#include "boot-finished.h"
#include "suite.h"
#include "unit-status.h"

static sd_event *event;
static sd_bus *manager, *client; /* the two ends of one connection */
static uint64_t finished;        /* what PID 1 says; UINT64_MAX: an error */
static unsigned n_questions;

static int on_question(sd_bus_message *m, _unused_ void *userdata, sd_bus_error *error) {
        const char *interface, *property;

        if (!sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Properties", "Get"))
                return 0;

        ck_assert_str_eq(sd_bus_message_get_path(m), SYSTEMD_MANAGER_PATH);
        ck_assert_int_gt(sd_bus_message_read(m, "ss", &interface, &property), 0);
        ck_assert_str_eq(interface, SYSTEMD_MANAGER_INTERFACE);
        ck_assert_str_eq(property, "FinishTimestampMonotonic");
        n_questions++;
        if (finished == UINT64_MAX)
                return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED, "no");
        return sd_bus_reply_method_return(m, "v", "t", finished);
}

static sd_bus *end_make(int fd, bool server) {
        sd_id128_t id = SD_ID128_NULL;
        sd_bus *bus;

        ck_assert_int_ge(sd_bus_new(&bus), 0);
        ck_assert_int_ge(sd_bus_set_fd(bus, fd, fd), 0);
        ck_assert_int_ge(sd_bus_set_server(bus, server, id), 0);
        ck_assert_int_ge(sd_bus_set_anonymous(bus, true), 0);
        ck_assert_int_ge(sd_bus_start(bus), 0);
        ck_assert_int_ge(sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL), 0);
        return bus;
}

static void setup(void) {
        int fds[2];

        n_questions = 0;
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
        manager = end_make(fds[0], true);
        client = end_make(fds[1], false);
        ck_assert_int_ge(sd_bus_add_filter(manager, NULL, on_question, NULL), 0);
}

static void teardown(void) {
        sd_bus_close_unref(manager);
        sd_bus_close_unref(client);
        sd_event_unref(event);
}

/* Until nobody has anything to say any more. */
static void run(void) {
        while (sd_event_run(event, 200 * 1000) > 0)
                ;
}

/* While PID 1 has not said that the boot is over, whoever wants to know has it asked again; then never. */
START_TEST(test_over) {
        Boot b = {};

        ck_assert(!boot_is_over(&b)); /* no bus: nobody knows */

        finished = 0;
        boot_bus_connected(&b, client);
        run();
        ck_assert_uint_eq(n_questions, 1);

        /* One question at a time. */
        ck_assert(!boot_is_over(&b));
        ck_assert(!boot_is_over(&b));
        run();
        ck_assert_uint_eq(n_questions, 2);

        /* An error is no answer. */
        finished = UINT64_MAX;
        ck_assert(!boot_is_over(&b));
        run();
        ck_assert_uint_eq(n_questions, 3);

        finished = 17000000;
        ck_assert(!boot_is_over(&b));
        run();
        ck_assert(boot_is_over(&b));
        boot_bus_lost(&b);
        ck_assert(boot_is_over(&b));
        boot_bus_connected(&b, client);
        run();
        ck_assert_uint_eq(n_questions, 4);
        boot_bus_lost(&b);
}
END_TEST

/* The bus goes while the answer is on its way. */
START_TEST(test_lost) {
        Boot b = {};

        finished = 17000000;
        boot_bus_connected(&b, client);
        boot_bus_lost(&b);
        run();
        ck_assert(!boot_is_over(&b));

        boot_bus_connected(&b, client);
        run();
        ck_assert(boot_is_over(&b));
        boot_bus_lost(&b);
}
END_TEST

int main(void) {
        Suite *s = suite_create("boot-finished");
        TCase *t = tcase_create("boot-finished");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_test(t, test_over);
        tcase_add_test(t, test_lost);
        suite_add_tcase(s, t);

        return suite_run(s);
}
