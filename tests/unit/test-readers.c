/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whoever reads a drive beside the service: over a connection of its own, with stand-ins for manager, visits and gate. */

#include <stdio.h>
#include <sys/socket.h>
#include <systemd/sd-id128.h>

#include "readers.h"
#include "suite.h"

static Drive drive = { .name = (char *) "sda" };
static TargetEnv env;
static Target sda = { .env = &env, .drive = &drive };
static bool working; /* a worker is at it */
static bool pulled;  /* it is gone */
static unsigned n_schedules;

/* The question that waits at the gate. */
static FsckWaitFn gate_fn;
static void *gate_userdata;

static sd_event *event;
static sd_bus *server, *client;
static Readers readers;

static unsigned n_answers;
static char refusal[256];

Target *manager_find(Manager *m _unused_, const char *name) {
        return streq(name, "sda") && !pulled ? &sda : NULL;
}

void manager_schedule(Manager *m _unused_) {
        n_schedules++;
}

bool visit_job_has_worker(const VisitJob *v _unused_) {
        return working;
}

int fsck_wait_ask(FsckWait *g _unused_, const char *disk, FsckWaitFn fn, void *userdata, FsckTicket **ret) {
        ck_assert_str_eq(disk, "sda");
        ck_assert_ptr_null(gate_fn);
        gate_fn = fn;
        gate_userdata = userdata;
        *ret = (FsckTicket *) &gate_fn;
        return 0;
}

FsckTicket *fsck_ticket_free(FsckTicket *t) {
        if (t)
                gate_fn = NULL;
        return NULL;
}

static void gate_says(WaitKind kind, const char *name) {
        FsckWaitFn fn = gate_fn;

        ck_assert_ptr_nonnull(fn);
        if (kind == WAIT_NOTHING)
                gate_fn = NULL; /* the ticket is gone */
        fn(gate_userdata, (Wait){ kind, name });
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("MayRead", SD_BUS_ARGS("s", name), SD_BUS_NO_RESULT, readers_method,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static void connect_both(void) {
        sd_id128_t id;
        int fd[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd), 0);
        ck_assert_int_ge(sd_id128_randomize(&id), 0);
        ck_assert_int_ge(sd_event_new(&event), 0);
        readers = (Readers){ .event = event };

        ck_assert_int_ge(sd_bus_new(&server), 0);
        ck_assert_int_ge(sd_bus_set_fd(server, fd[0], fd[0]), 0);
        ck_assert_int_ge(sd_bus_set_server(server, true, id), 0);
        ck_assert_int_ge(sd_bus_add_object_vtable(server, NULL, "/x", "x.y", vtable, &readers), 0);
        ck_assert_int_ge(sd_bus_start(server), 0);
        ck_assert_int_ge(sd_bus_attach_event(server, event, 0), 0);

        ck_assert_int_ge(sd_bus_new(&client), 0);
        ck_assert_int_ge(sd_bus_set_fd(client, fd[1], fd[1]), 0);
        ck_assert_int_ge(sd_bus_start(client), 0);
        ck_assert_int_ge(sd_bus_attach_event(client, event, 0), 0);
}

static void disconnect_both(void) {
        readers_forget(&readers, NULL);
        ck_assert_ptr_null(gate_fn);
        (void) sd_bus_close_unref(client);
        (void) sd_bus_close_unref(server);
        (void) sd_event_unref(event);
}

static int on_answer(sd_bus_message *m, void *userdata _unused_, sd_bus_error *error _unused_) {
        const sd_bus_error *e = sd_bus_message_get_error(m);

        n_answers++;
        (void) snprintf(refusal, sizeof refusal, "%s", e ? e->message : "");
        return 1;
}

static int on_pong(sd_bus_message *m _unused_, void *userdata, sd_bus_error *error _unused_) {
        *(bool *) userdata = true;
        return 1;
}

/* All that was sent before has been dealt with, and its answers are here. */
static void go_on(void) {
        bool pong = false;

        ck_assert_int_ge(sd_bus_call_method_async(client, NULL, NULL, "/x", "org.freedesktop.DBus.Peer", "Ping",
                                                  on_pong, &pong, ""),
                         0);
        while (!pong)
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
}

static void ask(const char *name) {
        ck_assert_int_ge(sd_bus_call_method_async(client, NULL, NULL, "/x", "x.y", "MayRead", on_answer, NULL, "s",
                                                  name),
                         0);
        go_on();
}

START_TEST(test_idle) {
        ck_assert(!readers_read(&readers, &sda));
        ask("sda");
        ck_assert(readers_read(&readers, &sda));
        ck_assert_uint_eq(n_answers, 0);
        gate_says(WAIT_NOTHING, NULL);
        go_on();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(refusal, "");

        /* Every further command is a question of its own, and no visit begins in between. */
        ck_assert(readers_read(&readers, &sda));
        ask("sda");
        ck_assert_uint_eq(n_answers, 1);
        gate_says(WAIT_NOTHING, NULL);
        go_on();
        ck_assert_uint_eq(n_answers, 2);
        ck_assert_uint_eq(n_schedules, 0);

        readers_forget(&readers, server);
        ck_assert(!readers_read(&readers, &sda));
        ck_assert_uint_eq(n_schedules, 1);
}
END_TEST

/* The visit under way comes to its end, and the next one has to wait. */
START_TEST(test_visited) {
        sda.visit.job = (VisitJob *) &working;
        working = true;
        ask("sda");
        ck_assert_ptr_null(gate_fn);
        ck_assert(readers_read(&readers, &sda));
        readers_drive_rested(&readers, &sda);
        ck_assert_ptr_null(gate_fn);

        working = false;
        readers_drive_rested(&readers, &sda);
        gate_says(WAIT_NOTHING, NULL);
        go_on();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(refusal, "");
}
END_TEST

START_TEST(test_check) {
        ask("sda");
        gate_says(WAIT_UDEV, NULL);
        go_on();
        ck_assert_uint_eq(n_answers, 0);
        gate_says(WAIT_CHECK, "systemd-fsck@x.service");
        go_on();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(refusal, "it waits for systemd-fsck@x.service");
        ck_assert(!readers_read(&readers, &sda));
        ck_assert_uint_eq(n_schedules, 1);
}
END_TEST

/* Whoever goes while the question waits is not answered, nor waited for. */
START_TEST(test_gone) {
        ask("sda");
        readers_forget(&readers, client); /* another connection */
        ck_assert(readers_read(&readers, &sda));
        readers_forget(&readers, server);
        ck_assert(!readers_read(&readers, &sda));
        ck_assert_ptr_null(gate_fn);
}
END_TEST

/* The drive goes while a question waits for the end of a visit to it. */
START_TEST(test_pulled) {
        sda.visit.job = (VisitJob *) &working;
        working = true;
        ask("sda");
        pulled = true;
        readers_drive_rested(&readers, &sda);
        go_on();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(refusal, "No such device");
        ck_assert(!readers_read(&readers, &sda));
}
END_TEST

START_TEST(test_twice) {
        ask("sda");
        ask("sda");
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_ne(refusal, "");
        gate_says(WAIT_NOTHING, NULL);
        go_on();
        ck_assert_uint_eq(n_answers, 2);
        ck_assert_str_eq(refusal, "");
}
END_TEST

START_TEST(test_no_such_drive) {
        ask("sdq");
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(refusal, "There is no drive 'sdq'.");
        ck_assert_ptr_null(readers.items);
}
END_TEST

int main(void) {
        Suite *s = suite_create("readers");
        TCase *t = tcase_create("readers");

        tcase_add_checked_fixture(t, connect_both, disconnect_both);
        tcase_add_test(t, test_idle);
        tcase_add_test(t, test_visited);
        tcase_add_test(t, test_check);
        tcase_add_test(t, test_gone);
        tcase_add_test(t, test_pulled);
        tcase_add_test(t, test_twice);
        tcase_add_test(t, test_no_such_drive);
        suite_add_tcase(s, t);

        return suite_run(s);
}
