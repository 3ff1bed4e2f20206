/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The connection to the system bus before the bus starts, while the bus runs, and after the bus restarts. The test plays the bus. */

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/un.h>

#include "bus-pair.h"
#include "bus.h"
#include "journal.h"
#include "suite.h"

static char dir[] = "/tmp/drivekeep-test-XXXXXX", path[64], own_path[64], address[80];
static sd_event *event;
static Bus *service;

/* ---- the bus ---- */

static int listening;
static sd_event_source *listen_source;
static sd_bus *served;

static unsigned n_names; /* number of calls of RequestName by the service */
static int name_answer;  /* reply to RequestName; < 0: an error */
static unsigned n_logged;

void __wrap_journal_log(int priority, const char *format, ...) _printf_(2, 3);
void __wrap_journal_log(_unused_ int priority, _unused_ const char *format, ...) {
        n_logged++;
}

static int on_call(sd_bus_message *m, void *userdata _unused_, sd_bus_error *error) {
        const char *name;
        uint32_t flags;

        if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus", "RequestName") > 0) {
                n_names++;
                ck_assert_int_gt(sd_bus_message_read(m, "su", &name, &flags), 0);
                ck_assert_str_eq(name, "org.drivekeep1");
                /* The service does not queue for the name, and does not allow replacement. */
                ck_assert_uint_eq(flags, 4);
                if (name_answer < 0)
                        return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED, "no");
                return name_answer == 0 ? sd_bus_reply_method_return(m, "s", "?")
                                        : sd_bus_reply_method_return(m, "u", (uint32_t) name_answer);
        }
        if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus", "Hello") > 0)
                return sd_bus_reply_method_return(m, "s", ":1.7");
        return 0;
}

static int on_connection(sd_event_source *source _unused_, int fd, uint32_t revents _unused_, void *userdata _unused_) {
        ck_assert_ptr_null(served);
        served = bus_end(event, accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), true);
        return sd_bus_add_filter(served, NULL, on_call, NULL);
}

static void bus_start(void) {
        struct sockaddr_un un = { .sun_family = AF_UNIX };

        (void) strcpy(un.sun_path, path);
        listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        ck_assert(bind(listening, (const struct sockaddr *) &un, sizeof un) >= 0 && listen(listening, 4) >= 0);
        ck_assert_int_ge(sd_event_add_io(event, &listen_source, listening, EPOLLIN, on_connection, NULL), 0);
}

static void bus_stop(void) {
        served = sd_bus_close_unref(served);
        listen_source = sd_event_source_disable_unref(listen_source);
        closep(&listening);
        listening = -EBADF;
        (void) unlink(path);
}

/* ---- the service ---- */

static char changes[16]; /* C: the service reports a connection; L: it reports a loss */
static sd_bus *connection;

void sleep_bus_connected(Sleep *s, sd_bus *bus) {
        ck_assert_ptr_eq(s, (Sleep *) changes);
        ck_assert_ptr_null(connection);
        connection = sd_bus_ref(bus);
        (void) strcat(changes, "C");
}

void sleep_bus_lost(_unused_ Sleep *s) {
        connection = sd_bus_unref(connection);
        (void) strcat(changes, "L");
}

static void run_until(const char *what) {
        while (!streq(changes, what)) {
                ck_assert_uint_lt(strlen(changes), strlen(what));
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
        }
}

static void setup(void) {
        listening = -EBADF;
        name_answer = 1;
        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(path, sizeof path, "%s/system", dir);
        (void) snprintf(own_path, sizeof own_path, "%s/own", dir);
        (void) snprintf(address, sizeof address, "unix:path=%s", path);
        ck_assert_int_ge(sd_event_new(&event), 0);
}

static void teardown(void) {
        connection = sd_bus_unref(connection);
        service = bus_free(service);
        bus_stop();
        (void) unlink(own_path);
        (void) rmdir(dir);
        event = sd_event_unref(event);
}

static void service_start(void) {
        ck_assert_int_eq(bus_new(event, own_path, NULL, NULL, NULL, NULL, &service), 0);
        bus_connect(service, address, (Sleep *) changes);
        ck_assert_str_eq(changes, "");
}

/* ---- the tests ---- */

/* The service starts after the bus (_i = 0) or before the bus (_i = 1), and reconnects after each disconnect. */
START_TEST(test_reconnect) {
        static const char all[] = "CLCLC";

        if (_i == 0)
                bus_start();
        service_start();
        if (_i == 1) {
                bus_settle(event);
                ck_assert_str_eq(changes, "");
                bus_start();
        }
        for (size_t n = 1; n <= strlen(all); n += 2) {
                char so_far[sizeof all] = "";
                const char *name;

                (void) memcpy(so_far, all, n);
                run_until(so_far);
                ck_assert_int_ge(sd_bus_get_unique_name(connection, &name), 0);
                ck_assert_str_eq(name, ":1.7");
                bus_settle(event);
                ck_assert_uint_eq(n_names, n / 2 + 1);
                if (n == strlen(all))
                        break;

                bus_stop();
                (void) memcpy(so_far, all, n + 1);
                run_until(so_far);
                bus_settle(event);
                bus_start();
        }
}
END_TEST

static const struct {
        int answer;
        bool told;
} names[] = { { 1, false }, { 2, true }, { 3, true }, { -1, true }, { 0, false } };

/* If the service does not get the bus name, the service logs the failure, and the connection stays open for other
 * uses. */
START_TEST(test_name) {
        name_answer = names[_i].answer;
        bus_start();
        service_start();
        run_until("C");
        bus_settle(event);
        ck_assert_uint_eq(n_names, 1);
        ck_assert_uint_eq(n_logged, names[_i].told);
        ck_assert_str_eq(changes, "C");
}
END_TEST

/* A bus that accepts connections and never replies does not block the service, even when the service ends. */
START_TEST(test_silent) {
        bus_start();
        listen_source = sd_event_source_disable_unref(listen_source);
        service_start();
        bus_settle(event);
        ck_assert_str_eq(changes, "");
}
END_TEST

int main(void) {
        Suite *s = suite_create("system-bus");
        TCase *t = tcase_create("system-bus");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_reconnect, 0, 2);
        tcase_add_loop_test(t, test_name, 0, ELEMENTSOF(names));
        tcase_add_test(t, test_silent);
        suite_add_tcase(s, t);

        return suite_run(s);
}
