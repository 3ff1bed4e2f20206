/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests which obstacle (check, udev, PID 1 or memory) the service reports for a drive whose visit waits. The test
 * supplies the replies of PID 1 and udev. */

#include "fake-pid1.h"
#include "inject.h"
#include "own-clock.h"

#define MS 1000ULL

/* ---- the holder of the ticket ---- */

static unsigned n_told;
static WaitKind reported_kind;
static char *reported_name;

static void on_permission(_unused_ void *userdata, Wait w) {
        n_told++;
        reported_kind = w.kind;
        free(reported_name);
        reported_name = w.name ? strdup(w.name) : NULL;
}

static sd_event *event;
static FsckWait *fsck_wait;
static FsckTicket *ticket;

static void setup(void) {
        n_told = 0;
        world = (typeof(world)){ .settled = true, .covers = true };
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(fsck_wait_new(event, NULL, &fsck_wait), 0);
}

static void teardown(void) {
        free(TAKE_PTR(reported_name));
        ticket = NULL;
        fsck_wait = fsck_wait_free(fsck_wait);
        ck_assert(!pid1_is_there);
        event = sd_event_unref(event);
}

/* Requests permission for sda. The ticket must have its own copy of the drive's kernel name, since the drive is freed at once. */
static void request_permission(void) {
        Drive d = { .name = strdup("sda") };

        ck_assert_int_eq(fsck_wait_request(fsck_wait, &d, on_permission, NULL, &ticket), 0);
        free(d.name);
}

static void report_change(void) {
        change_fn(change_userdata);
}

#define UNIT "systemd-fsck@dev-sda1.service"

static const struct {
        int error;
        const char *unit;
        const char *other;
        bool root, covers, settled, out_of_memory;
        WaitKind kind;
        const char *name;
} rows[] = {
        { .settled = true, .kind = WAIT_NOTHING },
        { .covers = true, .settled = true, .kind = WAIT_NOTHING },
        { .unit = UNIT, .settled = true, .kind = WAIT_NOTHING }, /* UNIT checks another disk */
        { .other = "x", .unit = UNIT, .covers = true, .settled = true, .kind = WAIT_CHECK, .name = UNIT },
        { .unit = UNIT, .covers = true, .settled = true, .kind = WAIT_CHECK, .name = UNIT },
        { .unit = "systemd-fsck-root.service",
          .root = true,
          .covers = true,
          .settled = true,
          .kind = WAIT_CHECK,
          .name = "systemd-fsck-root.service" },
        { .kind = WAIT_UDEV },
        { .error = -EIO, .settled = true, .kind = WAIT_SYSTEMD },
        { .settled = true, .out_of_memory = true, .kind = WAIT_MEMORY },
};

/* Makes PID 1 reply, unless the query fails for lack of memory before it is sent. */
static void reply_to_query(void) {
        if (!out_of_memory)
                pid1_reply(event);
        else
                (void) has_query(event);
}

/* Each reason to wait is reported with its kind, and a check also with the name of its unit. A repeated reply causes no
 * second report. */
START_TEST(test_kinds) {
        world = (typeof(world)){ .error = rows[_i].error,
                                 .other = rows[_i].other,
                                 .unit = rows[_i].unit,
                                 .root = rows[_i].root,
                                 .covers = rows[_i].covers,
                                 .settled = rows[_i].settled };
        out_of_memory = rows[_i].out_of_memory ? "sda" : NULL;

        request_permission();
        ck_assert_uint_eq(n_told, 0);
        reply_to_query();
        ck_assert_uint_eq(n_told, 1);
        ck_assert_int_eq(reported_kind, rows[_i].kind);
        if (rows[_i].name)
                ck_assert_str_eq(reported_name, rows[_i].name);
        else
                ck_assert_ptr_null(reported_name);

        if (rows[_i].kind != WAIT_NOTHING) {
                fsck_wait_poke(fsck_wait);
                reply_to_query();
                ck_assert_uint_eq(n_told, 1);
        }
}
END_TEST

/* The permission to send commands is withdrawn while a check of the drive is queued, and while PID 1 is not reachable.
 * Afterwards the permission is given again. Only an event that can withdraw the permission causes a query of PID 1. */
START_TEST(test_permission) {
        report_change();
        ck_assert(!has_query(event));

        request_permission();
        pid1_reply(event);
        ck_assert_uint_eq(n_told, 1);
        ck_assert_int_eq(reported_kind, WAIT_NOTHING);

        /* The permission to send commands stays while udev processes the drive, and while a check of another drive is
         * queued. */
        world.settled = false;
        fsck_wait_poke(fsck_wait);
        ck_assert(!has_query(event));
        report_change();
        pid1_reply(event);
        world.unit = UNIT;
        world.covers = false;
        report_change();
        pid1_reply(event);
        ck_assert_uint_eq(n_told, 1);

        for (int i = 0; i < 2; i++) {
                world.covers = true;
                world.settled = true;
                world.error = i == 1 ? -EIO : 0;
                report_change();
                pid1_reply(event);
                ck_assert_uint_eq(n_told, 2U + 2U * (unsigned) i);
                ck_assert_int_eq(reported_kind, world.error ? WAIT_SYSTEMD : WAIT_CHECK);

                world.error = 0;
                world.unit = NULL;
                report_change();
                pid1_reply(event);
                ck_assert_uint_eq(n_told, 3U + 2U * (unsigned) i);
                ck_assert_int_eq(reported_kind, WAIT_NOTHING);
                world.unit = UNIT;
        }

        /* A freed ticket gets no report and causes no query. */
        report_change();
        ck_assert(has_query(event));
        ticket = fsck_ticket_free(ticket);
        pid1_reply(event);
        ck_assert_uint_eq(n_told, 5);
        report_change();
        ck_assert(!has_query(event));
}
END_TEST

/* If a check is queued and the query of PID 1 fails, the permission to send commands is withdrawn. The query is
 * repeated after one second. */
START_TEST(test_query_repeated) {
        request_permission();
        pid1_reply(event);
        query_error = -ECONNREFUSED;
        world.unit = UNIT;
        report_change();
        ck_assert(!has_query(event));
        ck_assert_int_eq(reported_kind, WAIT_SYSTEMD);
        query_error = 0;
        pass(event, 1000 * MS);
        pid1_reply(event);
        ck_assert_int_eq(reported_kind, WAIT_CHECK);
}
END_TEST

/* A ticket is requested after a query was sent. The reply to that query is ignored. */
START_TEST(test_outdated_reply) {
        FsckTicket *first;

        request_permission();
        first = ticket;
        ck_assert(has_query(event));
        request_permission();
        (void) fsck_ticket_free(first);
        pid1_reply(event);
        ck_assert_uint_eq(n_told, 0);
        pid1_reply(event);
        ck_assert_uint_eq(n_told, 1);
}
END_TEST

/* When a check is reported, the callback frees the ticket and requests a new ticket. PID 1 must then be queried again
 * without delay. */
static void on_permission_request(_unused_ void *userdata, Wait w) {
        ck_assert_int_eq(w.kind, WAIT_CHECK);
        ticket = fsck_ticket_free(ticket);
        request_permission();
}

START_TEST(test_request_from_report) {
        world.unit = UNIT;
        ck_assert_int_eq(fsck_wait_request(fsck_wait, &(Drive){ .name = (char *) "sda" }, on_permission_request, NULL,
                                           &ticket),
                         0);
        pid1_reply(event);
        ck_assert(has_query(event));
        world.unit = NULL;
        pid1_reply(event);
        ck_assert_uint_eq(n_told, 1);
        ck_assert_int_eq(reported_kind, WAIT_NOTHING);
}
END_TEST

/* A check appears while commands to the drive are permitted. The devices on the drive are read and PID 1 is queried
 * again before the holder of the ticket gets a report. */
START_TEST(test_overlooked) {
        FsckUnit unit = { .name = (char *) UNIT };
        const FsckStatus s = { .units = &unit, .n_units = 1 };
        FsckStatusFn fn;

        request_permission();
        pid1_reply(event);
        ck_assert_int_eq(reported_kind, WAIT_NOTHING);
        report_change();
        for (unsigned i = 1; i <= 2; i++) {
                ck_assert(has_query(event));
                ck_assert_uint_eq(n_told, 1);
                fn = TAKE_PTR(status_fn);
                checks = true;
                fn(status_userdata, 0, &s);
                ck_assert_uint_eq(n_told, i);
        }
        ck_assert_int_eq(reported_kind, WAIT_CHECK);
}
END_TEST

/* The connection is closed after the last ticket is freed, so that signals no longer wake the service. */
START_TEST(test_idle) {
        request_permission();
        ck_assert(has_query(event));
        if (_i == 0)
                pid1_reply(event);
        n_disconnected = 0;
        ticket = fsck_ticket_free(ticket);
        ck_assert_uint_eq(n_disconnected, 0);
        if (_i == 1)
                pid1_reply(event);
        pass(event, 2999 * MS);
        ck_assert_uint_eq(n_disconnected, 0);
        pass(event, 2 * MS);
        ck_assert_uint_eq(n_disconnected, 1);
        pass(event, 10000 * MS);
        ck_assert_uint_eq(n_disconnected, 1);
}
END_TEST

static const struct {
        const char *unit;
        bool covers, settled;
        int error;
        uint64_t ms; /* delay until the next query; 0: no further query */
} waits[] = {
        { .settled = true },
        { .ms = 250 },
        { .unit = UNIT, .covers = true, .ms = 250 },
        { .unit = UNIT, .covers = true, .settled = true, .ms = 5000 },
        { .error = -EIO, .ms = 1000 },
};

/* While a ticket waits, PID 1 is queried again without a signal: after 250 ms if udev or PID 1 does not know all
 * devices yet, after one second if the query failed, and after five seconds if a check is queued. A ticket with
 * permission causes no further query. */
START_TEST(test_retry) {
        world = (typeof(world)){ .unit = waits[_i].unit,
                                 .covers = waits[_i].covers,
                                 .settled = waits[_i].settled,
                                 .error = waits[_i].error };
        request_permission();
        for (unsigned i = 0; i < 3; i++) {
                pid1_reply(event);
                pass(event, (waits[_i].ms ?: 60000) * MS - MS);
                ck_assert(!has_query(event));
                pass(event, 2 * MS);
                ck_assert_int_eq(has_query(event), waits[_i].ms > 0);
                if (waits[_i].ms == 0)
                        break;
        }
}
END_TEST

/* One query of PID 1 serves all tickets. If the devices of one drive cannot be read, PID 1 is not queried. After
 * commands to a drive are permitted, the drive's devices are read only while there are checks. */
START_TEST(test_several) {
        FsckTicket *second;

        request_permission();
        ck_assert_int_eq(fsck_wait_request(fsck_wait, &(Drive){ .name = (char *) "sdb" }, on_permission, NULL, &second),
                         0);
        out_of_memory = "sdb";
        run(event);
        ck_assert_ptr_null(status_fn);
        ck_assert_uint_eq(n_told, 2);
        ck_assert_int_eq(fsck_ticket_waits(ticket).kind, WAIT_MEMORY);
        ck_assert_int_eq(fsck_ticket_waits(second).kind, WAIT_MEMORY);

        out_of_memory = NULL;
        pass(event, 1000 * MS);
        ck_assert_str_eq(queried_units, "disk.device part.device disk.device part.device ");
        pid1_reply(event);
        ck_assert_uint_eq(n_told, 4);
        report_change();
        run(event);
        ck_assert_str_eq(queried_units, "");
        (void) fsck_ticket_free(ticket);
        pid1_reply(event);
        ck_assert_uint_eq(n_told, 4);
        ck_assert_int_eq(fsck_ticket_waits(second).kind, WAIT_NOTHING);
}
END_TEST

/* A ticket waits for one check after another, and each check is reported. */
START_TEST(test_next_check) {
        static const char *const units[] = { UNIT, "systemd-fsck@dev-sda2.service" };

        world.covers = true;
        request_permission();
        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                world.unit = units[i];
                report_change();
                pid1_reply(event);
                ck_assert_uint_eq(n_told, i + 1);
                ck_assert_str_eq(reported_name, units[i]);
                ck_assert_str_eq(fsck_ticket_waits(ticket).name, units[i]);
        }
}
END_TEST

/* PID 1 takes four seconds to reply, longer than the idle limit of the connection. Meanwhile, a ticket is freed and
 * another ticket is requested. The reply is ignored, and PID 1 is queried once more. */
START_TEST(test_slow) {
        request_permission();
        ck_assert(has_query(event));
        ticket = fsck_ticket_free(ticket);
        request_permission();
        pass(event, 4000 * MS);
        pid1_reply(event);
        ck_assert_uint_eq(n_told, 0);
        ck_assert(has_query(event));
        pid1_reply(event);
        ck_assert_uint_eq(n_told, 1);
}
END_TEST

/* Without memory, fsck_wait_new() and fsck_wait_request() leave nothing allocated. */
static bool make_once(Injected what, size_t nth) {
        FsckWait *g = NULL;
        bool failed;
        int r;

        inject_arm(what, nth);
        r = fsck_wait_new(event, NULL, &g);
        if (r >= 0)
                r = fsck_wait_request(g, &(Drive){ .name = (char *) "sda" }, on_permission, NULL, &ticket);
        failed = inject_disarm();
        ck_assert_int_eq(r, failed ? -ENOMEM : 0);
        ticket = NULL;
        (void) fsck_wait_free(g);
        return failed;
}

START_TEST(test_no_memory) {
        ck_assert_uint_eq(inject_each(make_once, INJECT_MEMORY), 3);
        ck_assert_ptr_null(fsck_ticket_free(NULL));
        ck_assert_ptr_null(fsck_wait_free(NULL));
}
END_TEST

/* If the event loop has exited, fsck_wait_new() fails, since the loop accepts no timers. */
START_TEST(test_no_loop) {
        FsckWait *none = NULL;

        ck_assert(sd_event_exit(event, 0) >= 0 && sd_event_loop(event) == 0);
        ck_assert_int_eq(fsck_wait_new(event, NULL, &none), -ESTALE);
        ck_assert_ptr_null(none);
}
END_TEST

/* Each kind of wait has a text. */
START_TEST(test_texts) {
        for (WaitKind k = 0; k < _WAIT_KIND_MAX; k++) {
                ck_assert_ptr_nonnull(wait_kind_to_string(k));
                ck_assert_ptr_nonnull(wait_describe((Wait){ k }));
        }
        ck_assert_ptr_null(wait_kind_to_string(_WAIT_KIND_MAX));
        ck_assert_str_eq(wait_describe((Wait){ WAIT_CHECK, UNIT }), UNIT);
        ck_assert_str_eq(wait_describe((Wait){ WAIT_CHECK }), "a file system check");
}
END_TEST

int main(void) {
        Suite *s = suite_create("fsck-wait");
        TCase *t = tcase_create("fsck-wait");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_kinds, 0, ELEMENTSOF(rows));
        tcase_add_test(t, test_permission);
        tcase_add_test(t, test_query_repeated);
        tcase_add_test(t, test_outdated_reply);
        tcase_add_test(t, test_request_from_report);
        tcase_add_test(t, test_overlooked);
        tcase_add_loop_test(t, test_idle, 0, 2);
        tcase_add_loop_test(t, test_retry, 0, ELEMENTSOF(waits));
        tcase_add_test(t, test_several);
        tcase_add_test(t, test_next_check);
        tcase_add_test(t, test_slow);
        tcase_add_test(t, test_no_memory);
        tcase_add_test(t, test_no_loop);
        tcase_add_test(t, test_texts);
        suite_add_tcase(s, t);

        return suite_run(s);
}
