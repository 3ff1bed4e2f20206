/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests queries of PID 1. The test takes the place of PID 1 at the other end of a socket. It sends replies, errors and
 * signals, and ends the connection. */

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#include "bus-pair.h"
#include "inject.h"
#include "pid1.h"
#include "suite.h"
#include "unit-status.h"

/* ---- PID 1 ---- */

typedef struct Unit {
        const char *name, *state;
        uint32_t job;
        const char *sysfs_path; /* property SysFSPath of a device unit; NULL: "" */
} Unit;

#define CHECK(d) "systemd-fsck@dev-" d ".service"

#define PID1 ":1.1"

static const Unit *world;
/* The call or property that gets an error reply. With the suffix ", gone" the connection ends instead; with ", gone after" the connection
 * ends after the reply; with ", silent" there is no reply. */
static const char *refused;
static sd_bus *served[2]; /* PID 1's ends of the connections: [0] by the bus, [1] by the proxy */
static unsigned n_opened[2];
static bool is_closed[2]; /* new connections by the bus [0] or the proxy [1] fail */
static bool subscribed, loop_ended;
static sd_event *event;

static bool is_refused(const char *what) {
        return refused && starts_with(refused, what);
}

static const Unit *unit_at(const char *path) {
        for (const Unit *u = world; u->name; u++) {
                _cleanup_free_ char *at = NULL;

                ck_assert_int_ge(sd_bus_path_encode(SYSTEMD_UNIT_PATH, u->name, &at), 0);
                if (streq(at, path))
                        return u;
        }
        ck_abort_msg("nothing is at %s", path);
}

static int reply_units(sd_bus_message *m, bool checks) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

        ck_assert_int_ge(sd_bus_message_new_method_return(m, &reply), 0);
        ck_assert_int_ge(sd_bus_message_open_container(reply, 'a', UNIT_STATUS_SIGNATURE), 0);
        for (const Unit *u = world; u->name; u++) {
                _cleanup_free_ char *path = NULL;

                if (starts_with(u->name, "systemd-fsck") != checks)
                        continue;
                ck_assert_int_ge(sd_bus_path_encode(SYSTEMD_UNIT_PATH, u->name, &path), 0);
                ck_assert_int_ge(sd_bus_message_append(reply, UNIT_STATUS_SIGNATURE, u->name, "", "loaded", u->state,
                                                       "", "", path, u->job, "", "/job"),
                                 0);
        }
        ck_assert_int_ge(sd_bus_message_close_container(reply), 0);
        return sd_bus_send(NULL, reply, NULL);
}

static int reply_property(sd_bus_message *m, const char *property) {
        const Unit *u = unit_at(sd_bus_message_get_path(m));

        ck_assert_str_eq(property, "SysFSPath");
        return sd_bus_reply_method_return(m, "v", "s", u->sysfs_path ?: "");
}

/* Checks the names of the queried units. */
static void check_names(sd_bus_message *m, const char *const *names) {
        const char *name;

        ck_assert_int_gt(sd_bus_message_enter_container(m, 'a', "s"), 0);
        for (; *names; names++) {
                ck_assert_int_gt(sd_bus_message_read(m, "s", &name), 0);
                ck_assert_str_eq(name, *names);
        }
        ck_assert_int_eq(sd_bus_message_at_end(m, false), 1);
        ck_assert_int_ge(sd_bus_message_exit_container(m), 0);
}

static const char *const any[] = { NULL }, *const devices_asked[] = { "dev-sda1.device", NULL },
                         *const checks_asked[] = { "systemd-fsck@*.service", "systemd-fsck-*.service", NULL };

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *member = sd_bus_message_get_member(m), *what = member, *interface;

        if (sd_bus_message_is_method_call(m, NULL, NULL) <= 0)
                return 0;
        if (streq(member, "GetNameOwner")) {
                ck_assert_ptr_null(userdata); /* not called through the proxy, which has no bus names */
                ck_assert(!subscribed);       /* called before Subscribe: the sender of job signals must be known */
                return sd_bus_reply_method_return(m, "s", PID1);
        }
        if (streq(member, "Subscribe")) {
                ck_assert_ptr_null(userdata); /* not called through the proxy, which does not forward this call */
                subscribed = true;
                return sd_bus_reply_method_return(m, "");
        }
        /* On the bus, units are queried only after Subscribe, so that PID 1 sends signals about jobs that are queued
         * after the reply. */
        ck_assert(subscribed || userdata);

        if (streq(member, "Get"))
                ck_assert_int_ge(sd_bus_message_read(m, "ss", &interface, &what), 0);
        if (is_refused(what) && ends_with(refused, "silent"))
                return 1;
        if (is_refused(what) && strchr(refused, ',')) {
                if (ends_with(refused, "after"))
                        ck_assert(reply_units(m, true) >= 0 && sd_bus_flush(sd_bus_message_get_bus(m)) >= 0);
                refused = NULL;
                sd_bus_close(sd_bus_message_get_bus(m));
                return 1;
        }
        if (is_refused(what))
                return sd_bus_error_set(error, SD_BUS_ERROR_FAILED, "no");
        if (streq(member, "Get"))
                return reply_property(m, what);
        if (streq(member, "ListUnitsByPatterns"))
                check_names(m, any);
        check_names(m, streq(member, "ListUnitsByPatterns") ? checks_asked : devices_asked);
        return reply_units(m, streq(member, "ListUnitsByPatterns"));
}

static int open_way(sd_bus **ret, size_t way) {
        sd_id128_t id;
        int fds[2];

        if (is_closed[way])
                return -ECONNREFUSED;

        n_opened[way]++;
        subscribed = false;
        served[way] = sd_bus_close_unref(served[way]);
        ck_assert_int_ge(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
        ck_assert_int_ge(sd_id128_randomize(&id), 0);
        ck_assert(sd_bus_new(&served[way]) >= 0 && sd_bus_set_fd(served[way], fds[0], fds[0]) >= 0 &&
                  sd_bus_set_server(served[way], true, id) >= 0 && sd_bus_set_anonymous(served[way], true) >= 0 &&
                  sd_bus_add_filter(served[way], NULL, on_call, way == 1 ? served : NULL) >= 0 &&
                  sd_bus_start(served[way]) >= 0 && sd_bus_set_close_on_exit(served[way], false) >= 0 &&
                  (loop_ended || sd_bus_attach_event(served[way], event, 0) >= 0));
        ck_assert(sd_bus_new(ret) >= 0 && sd_bus_set_fd(*ret, fds[1], fds[1]) >= 0 &&
                  sd_bus_set_anonymous(*ret, true) >= 0 && sd_bus_start(*ret) >= 0);
        return 0;
}

static int open_bus(sd_bus **ret) {
        return open_way(ret, 0);
}

static int open_proxy(Broker *broker _unused_, sd_bus **ret) {
        return open_way(ret, 1);
}

static const Pid1Ways ways = { open_bus, open_proxy };

/* ---- the caller ---- */

static Pid1 *pid1;
static char answered[512];
static unsigned n_changes;
static bool is_answered;

static void on_change(_unused_ void *userdata) {
        n_changes++;
}

/* Stores the reply in `answered`: "UNIT=DEVICE" for each check, and "-UNIT" for each inactive device. DEVICE is "?" if the device is not
 * known, and "/" for the root file system. */
static void on_status(_unused_ void *userdata, int error, const FsckStatus *s) {
        size_t n = 0;

        is_answered = true;
        ck_assert_int_le(error, 0);
        n += snprintf(answered, sizeof answered, "%s", error < 0 ? "error" : "");
        for (size_t i = 0; i < s->n_units; i++) {
                ck_assert_int_eq(s->units[i].sysname == NULL, s->units[i].disks == NULL);
                n += snprintf(answered + n, sizeof answered - n, "%s=%s ", s->units[i].name,
                              s->units[i].root ? "/" : s->units[i].sysname ?: "?");
        }
        for (char **i = s->inactive; i && *i; i++)
                n += snprintf(answered + n, sizeof answered - n, "-%s ", *i);
}

static void start_query_for(char *const *devices) {
        is_answered = false;
        if (pid1_query_fsck_status(pid1, devices) < 0) {
                (void) snprintf(answered, sizeof answered, "error");
                return;
        }
        ck_assert(!is_answered);
        while (!is_answered)
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
}

static void start_query(void) {
        char *const devices[] = { (char *) "dev-sda1.device", NULL };

        start_query_for(devices);
}

/* Sends a job signal from `sender`. If `sender` is NULL, the signal comes through the proxy, whose connection has no
 * bus names. */
static void send_signal(sd_bus *bus, const char *sender, const char *member, const char *unit) {
        bool ended = streq(member, "JobRemoved");
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

        ck_assert_int_ge(sd_bus_message_new_signal(bus, &m, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER_INTERFACE, member),
                         0);
        ck_assert(!sender || sd_bus_message_set_sender(m, sender) >= 0);
        ck_assert_int_ge(sd_bus_message_append(m, "uos", 7, "/job", unit), 0);
        if (ended)
                ck_assert_int_ge(sd_bus_message_append(m, "s", "done"), 0);
        ck_assert_int_ge(sd_bus_send(bus, m, NULL), 0);
}

static void send_job(sd_bus *bus, const char *member, const char *unit) {
        send_signal(bus, bus == served[0] ? PID1 : NULL, member, unit);
}

static void change_owner(const char *sender, const char *owner) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

        ck_assert(sd_bus_message_new_signal(served[0], &m, "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                            "NameOwnerChanged") >= 0 &&
                  sd_bus_message_set_sender(m, sender) >= 0 &&
                  sd_bus_message_append(m, "sss", "org.freedesktop.systemd1", PID1, owner) >= 0 &&
                  sd_bus_send(served[0], m, NULL) >= 0);
}

/* Waits until `n` changes are reported, and checks that no further report follows. */
static void wait_changes(unsigned n) {
        while (n_changes < n)
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
        while (sd_event_run(event, 0) > 0)
                ;
        ck_assert_uint_eq(n_changes, n);
}

static const Unit nothing[] = { {} };

static void setup(void) {
        world = nothing;
        ck_assert_int_ge(sd_event_new(&event), 0);
        ck_assert_int_eq(pid1_new(event, NULL, &ways, on_status, on_change, NULL, &pid1), 0);
}

static void teardown(void) {
        pid1 = pid1_free(pid1);
        for (size_t i = 0; i < ELEMENTSOF(served); i++)
                served[i] = sd_bus_close_unref(served[i]);
        event = sd_event_unref(event);
}

/* ---- the tests ---- */

static const struct {
        Unit units[4];
        const char *answer;
} rows[] = {
        { { {} }, "" },
        { { { "dev-sda1.device", "active", 0, NULL }, {} }, "" },
        { { { "dev-sda1.device", "inactive", 0, NULL }, {} }, "-dev-sda1.device " },
        { { { CHECK("sda1"), "active", 0, NULL }, {} }, "" }, /* the check has finished */
        { { { CHECK("sda1"), "inactive", 0, NULL }, {} }, "" },
        { { { CHECK("sda1"), "inactive", 9, NULL }, { "dev-sda1.device", "active", 0, "/sys/x/block/sda/sda1" }, {} },
          CHECK("sda1") "=sda1 " },
        { { { CHECK("sda1"), "activating", 0, NULL },
            { "dev-sda1.device", "active", 0, "/sys/x/block/sda/sda1" },
            { CHECK("x"), "inactive", 8, NULL },
            { "dev-x.device", "inactive", 0, NULL } },
          CHECK("sda1") "=sda1 " CHECK("x") "=? -dev-x.device " },
        { { { CHECK("x"), "deactivating", 0, NULL }, { "dev-x.device", "inactive", 0, NULL }, {} },
          CHECK("x") "=? -dev-x.device " },
        { { { "systemd-fsck@x", "activating", 0, NULL }, { "systemd-fsck-a.b@c", "activating", 0, NULL }, {} },
          "systemd-fsck@x=? systemd-fsck-a.b@c=? " }, /* names of checks from which no device name can be read */
        { { { "systemd-fsck-root.service", "activating", 0, NULL }, {} }, "systemd-fsck-root.service=/ " },
};

START_TEST(test_status) {
        Unit units[ELEMENTSOF(rows[0].units) + 1] = {};

        memcpy(units, rows[_i].units, sizeof rows[_i].units);
        world = units;
        start_query();
        ck_assert_str_eq(answered, rows[_i].answer);

        /* The next query uses the same connection. */
        start_query();
        ck_assert_str_eq(answered, rows[_i].answer);
        ck_assert_uint_eq(n_opened[0], 1);
        ck_assert_uint_eq(n_opened[1], 0);
}
END_TEST

static const char *const refusals[] = {
        "ListUnitsByPatterns",
        "ListUnitsByNames",
        "SysFSPath",
        "ListUnitsByPatterns, gone",
        "ListUnitsByNames, gone",
        "SysFSPath, gone",
        "ListUnitsByPatterns, gone after",
        "ListUnitsByPatterns, silent",
        "ListUnitsByNames, silent",
        "SysFSPath, silent",
};

/* The whole query fails if one reply is an error or is late, or if the connection ends. The next query uses the proxy
 * instead of the bus. */
START_TEST(test_refused) {
        Unit units[ELEMENTSOF(rows[6].units) + 1] = {};

        memcpy(units, rows[6].units, sizeof rows[6].units);
        world = units;
        refused = refusals[_i];
        if (ends_with(refused, "silent"))
                ck_assert_int_eq(setenv("SYSTEMD_BUS_TIMEOUT", "100ms", true), 0);
        start_query();
        ck_assert_str_eq(answered, "error");

        refused = NULL;
        ck_assert_int_eq(unsetenv("SYSTEMD_BUS_TIMEOUT"), 0);
        start_query();
        ck_assert_str_eq(answered, rows[6].answer);
        ck_assert_uint_eq(n_opened[0], 1);
        ck_assert_uint_eq(n_opened[1], 1);
}
END_TEST

/* A query fails if the bus and the proxy are both out of reach. A query succeeds if only the proxy can be reached. A
 * query also succeeds after the bus can be reached again. */
START_TEST(test_ways) {
        is_closed[0] = is_closed[1] = true;
        start_query();
        ck_assert_str_eq(answered, "error");

        is_closed[1] = false;
        start_query();
        ck_assert_str_eq(answered, "");
        ck_assert_uint_eq(n_opened[1], 1);

        is_closed[0] = false;
        pid1_disconnect(pid1);
        start_query();
        ck_assert_str_eq(answered, "");
}
END_TEST

/* After the connections to the bus and to the proxy have failed, the next query tries the bus first. */
START_TEST(test_bus_retry) {
        is_closed[0] = is_closed[1] = true;
        start_query();
        is_closed[0] = false;
        start_query();
        ck_assert_str_eq(answered, "");
        ck_assert_uint_eq(n_opened[0], 1);
        ck_assert_uint_eq(n_opened[1], 0);
}
END_TEST

/* If the caller names no device units, PID 1 is queried only about checks. */
START_TEST(test_no_devices) {
        char *const none[] = { NULL };
        const Unit units[] = { { "systemd-fsck-root.service", "activating", 0, NULL }, {} };

        world = units;
        refused = "ListUnitsByNames";
        start_query_for(_i ? none : NULL);
        ck_assert_str_eq(answered, "systemd-fsck-root.service=/ ");
}
END_TEST

/* When the event loop ends, a query without a reply does not delay the end. A query after the end fails. */
START_TEST(test_loop_ends) {
        char *const none[] = { NULL };
        struct pollfd p = { .events = POLLIN };

        start_query();
        ck_assert_int_ge(pid1_query_fsck_status(pid1, none), 0);
        bus_loop_ends(event);
        p.fd = sd_bus_get_fd(served[0]);
        ck_assert_int_ge(poll(&p, 1, 0), 0);
        ck_assert(!(p.revents & POLLHUP));

        loop_ended = true;
        pid1 = pid1_free(pid1);
        ck_assert_int_eq(pid1_new(event, NULL, &ways, on_status, on_change, NULL, &pid1), 0);
        for (unsigned i = 2; i <= 3; i++) {
                start_query();
                ck_assert_str_eq(answered, "error");
                ck_assert_uint_eq(n_opened[0], i);
        }
}
END_TEST

START_TEST(test_no_memory) {
        char *unit;
        Pid1 *p;

        inject_arm(INJECT_MEMORY, 1);
        ck_assert_int_eq(pid1_new(event, NULL, &ways, on_status, on_change, NULL, &p), -ENOMEM);
        ck_assert(inject_disarm());
        ck_assert_ptr_null(pid1_free(NULL));
        inject_arm(INJECT_MEMORY, 1);
        ck_assert_int_eq(device_unit_name("/dev/sda", &unit), -ENOMEM);
        ck_assert(inject_disarm());
}
END_TEST

static const struct {
        const char *member, *unit;
        bool news;
} jobs[] = {
        { "JobNew", CHECK("sda1"), true },
        { "JobRemoved", CHECK("sda1"), true },
        { "JobNew", "systemd-fsck-root.service", true },
        { "JobRemoved", "dev-sda1.device", true },
        { "JobNew", "dev-sda1.device", false },
        { "JobNew", "ssh.service", false },
        { "JobRemoved", "ssh.service", false },
        { "JobRemoved", "device", false },
        { "UnitNew", CHECK("sda1"), false },
};

/* Sends each signal through the bus and then through the proxy. After each signal, sends a signal about CHECK("last"),
 * which is always reported. The number of reports shows whether the first signal was reported. */
START_TEST(test_signals) {
        for (size_t way = 0; way < 2; way++) {
                is_closed[0] = way == 1;
                pid1_disconnect(pid1);
                start_query();
                n_changes = 0;
                send_job(served[way], jobs[_i].member, jobs[_i].unit);
                send_job(served[way], "JobRemoved", CHECK("last"));
                wait_changes(jobs[_i].news ? 2 : 1);
        }
}
END_TEST

/* Any user can send a job signal to the service's connection. Only signals of the owner of PID 1's name are reported, even if the owner
 * changes. */
START_TEST(test_senders) {
        static const char *const others[] = { ":1.9", ":1.11", "org.freedesktop.systemd1", "org.freedesktop.DBus",
                                              NULL };

        start_query();
        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                send_signal(served[0], others[i], "JobNew", CHECK("sda1"));
        change_owner(":1.9", ":1.9");
        send_signal(served[0], ":1.9", "JobNew", CHECK("sda1"));
        send_job(served[0], "JobNew", CHECK("last"));
        wait_changes(1);

        subscribed = false;
        change_owner("org.freedesktop.DBus", ":1.2");
        wait_changes(2);
        ck_assert(subscribed);
        send_job(served[0], "JobNew", CHECK("sda1"));
        send_signal(served[0], ":1.2", "JobNew", CHECK("last"));
        wait_changes(3);

        /* While PID 1 re-executes itself, its bus name has no owner. No signal is accepted until the name has an owner
         * again. */
        subscribed = false;
        change_owner("org.freedesktop.DBus", "");
        wait_changes(4);
        ck_assert(!subscribed);
        send_signal(served[0], ":1.2", "JobNew", CHECK("sda1"));
        change_owner("org.freedesktop.DBus", ":1.3");
        wait_changes(5);
}
END_TEST

/* The end of the connection is reported as a change. The next query opens a new connection, which receives job signals again. */
START_TEST(test_disconnected) {
        start_query();
        served[0] = sd_bus_close_unref(served[0]);
        wait_changes(1);
        start_query();
        ck_assert_uint_eq(n_opened[0], 2);
        send_job(served[0], "JobNew", CHECK("sda1"));
        wait_changes(2);
}
END_TEST

static const struct {
        const char *node, *unit;
} nodes[] = {
        { "/dev/sda1", "dev-sda1.device" },
        { "/dev/disk/by-label/a-b", "dev-disk-by\\x2dlabel-a\\x2db.device" },
        { "/dev/.x.y:z_0", "dev-.x.y:z_0.device" },
        { "/dev/09azAZ", "dev-09azAZ.device" },
        { "@[`{;\xc3", "\\x40\\x5b\\x60\\x7b\\x3b\\xc3.device" },
        { "/.x", "\\x2ex.device" },
};

START_TEST(test_device_unit) {
        _cleanup_free_ char *unit = NULL;

        ck_assert_int_eq(device_unit_name(nodes[_i].node, &unit), 0);
        ck_assert_str_eq(unit, nodes[_i].unit);
}
END_TEST

int main(void) {
        Suite *s = suite_create("pid1");
        TCase *t = tcase_create("pid1");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_status, 0, ELEMENTSOF(rows));
        tcase_add_loop_test(t, test_refused, 0, ELEMENTSOF(refusals));
        tcase_add_test(t, test_ways);
        tcase_add_test(t, test_bus_retry);
        tcase_add_loop_test(t, test_no_devices, 0, 2);
        tcase_add_test(t, test_loop_ends);
        tcase_add_test(t, test_no_memory);
        tcase_add_loop_test(t, test_signals, 0, ELEMENTSOF(jobs));
        tcase_add_test(t, test_senders);
        tcase_add_test(t, test_disconnected);
        tcase_add_loop_test(t, test_device_unit, 0, ELEMENTSOF(nodes));
        suite_add_tcase(s, t);

        return suite_run(s);
}
