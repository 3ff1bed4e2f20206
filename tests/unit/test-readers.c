/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whoever reads a drive beside the service: over a connection of its own, with stand-ins for visits and gate. */

#include <stdio.h>
#include <sys/socket.h>
#include <systemd/sd-id128.h>

#include "inject.h"
#include "own-clock.h"
#include "readers.h"
#include "suite.h"

static Drive drive = { .name = (char *) "sda" };
static void on_changed(void *userdata, Target *t);
static TargetEnv env = { .changed = on_changed };
static Target sda = { .env = &env, .drive = &drive };
static bool working; /* a worker is at it */
static unsigned n_changes;

/* The question that waits at the gate. */
static FsckWaitFn gate_fn;
static void *gate_userdata;
static int gate_error;

static sd_event *event;
static sd_bus *server, *client;

static unsigned n_answers;
static char refusal[256];

static void on_changed(void *userdata _unused_, Target *t) {
        ck_assert_ptr_eq(t, &sda);
        n_changes++;
}

bool visit_job_has_worker(const VisitJob *v _unused_) {
        return working;
}

int fsck_wait_ask(FsckWait *g _unused_, const Drive *d, FsckWaitFn fn, void *userdata, FsckTicket **ret) {
        ck_assert_str_eq(d->name, "sda");
        ck_assert_ptr_null(gate_fn);
        if (gate_error < 0)
                return gate_error;
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

static int on_may_read(sd_bus_message *m, void *userdata _unused_, sd_bus_error *error _unused_) {
        return readers_ask(&sda, m);
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("MayRead", SD_BUS_ARGS("s", name), SD_BUS_NO_RESULT, on_may_read,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static void connect_both(void) {
        sd_id128_t id;
        int fd[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd), 0);
        ck_assert_int_ge(sd_id128_randomize(&id), 0);
        ck_assert_int_ge(sd_event_new(&event), 0);
        env.event = event;

        ck_assert_int_ge(sd_bus_new(&server), 0);
        ck_assert_int_ge(sd_bus_set_fd(server, fd[0], fd[0]), 0);
        ck_assert_int_ge(sd_bus_set_server(server, true, id), 0);
        ck_assert_int_ge(sd_bus_add_object_vtable(server, NULL, "/x", "x.y", vtable, NULL), 0);
        ck_assert_int_ge(sd_bus_start(server), 0);
        ck_assert_int_ge(sd_bus_attach_event(server, event, 0), 0);

        ck_assert_int_ge(sd_bus_new(&client), 0);
        ck_assert_int_ge(sd_bus_set_fd(client, fd[1], fd[1]), 0);
        ck_assert_int_ge(sd_bus_start(client), 0);
        ck_assert_int_ge(sd_bus_attach_event(client, event, 0), 0);
}

static void disconnect_both(void) {
        readers_forget(&sda, NULL);
        ck_assert_ptr_null(gate_fn);
        (void) sd_bus_close_unref(client);
        (void) sd_bus_close_unref(server);
        env.event = event = sd_event_unref(event);
        gate_userdata = NULL; /* what is not freed is nobody's then */
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

static void ask(void) {
        ck_assert_int_ge(sd_bus_call_method_async(client, NULL, NULL, "/x", "x.y", "MayRead", on_answer, NULL, "s",
                                                  "sda"),
                         0);
        go_on();
}

START_TEST(test_idle) {
        ck_assert(!sda.readers);
        ask();
        ck_assert(sda.readers);
        ck_assert_uint_eq(n_answers, 0);
        gate_says(WAIT_NOTHING, NULL);
        go_on();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(refusal, "");

        /* Every further command is a question of its own, and no visit begins in between. */
        ck_assert(sda.readers);
        ask();
        ck_assert_uint_eq(n_answers, 1);
        gate_says(WAIT_NOTHING, NULL);
        go_on();
        ck_assert_uint_eq(n_answers, 2);
        ck_assert_uint_eq(n_changes, 0);

        readers_forget(&sda, server);
        ck_assert(!sda.readers);
        ck_assert_uint_eq(n_changes, 1);
}
END_TEST

/* The visit under way comes to its end, and the next one has to wait. */
START_TEST(test_visited) {
        sda.visit.job = (VisitJob *) &working;
        working = true;
        ask();
        ck_assert_ptr_null(gate_fn);
        ck_assert(sda.readers);
        readers_go_on(&sda);
        ck_assert_ptr_null(gate_fn);

        working = false;
        readers_go_on(&sda);
        gate_says(WAIT_NOTHING, NULL);
        go_on();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(refusal, "");
}
END_TEST

START_TEST(test_check) {
        ask();
        gate_says(WAIT_UDEV, NULL);
        go_on();
        ck_assert_uint_eq(n_answers, 0);
        gate_says(WAIT_CHECK, "systemd-fsck@x.service");
        go_on();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(refusal, "it waits for systemd-fsck@x.service");
        ck_assert(!sda.readers);
        ck_assert_uint_eq(n_changes, 1);
}
END_TEST

/* Whoever goes while the question waits is not answered, nor waited for. */
START_TEST(test_gone) {
        ask();
        readers_forget(&sda, client); /* another connection */
        ck_assert(sda.readers);
        readers_forget(&sda, server);
        ck_assert(!sda.readers);
        ck_assert_ptr_null(gate_fn);
}
END_TEST

/* The drive goes while a question waits for the end of a visit to it. */
START_TEST(test_pulled) {
        sda.visit.job = (VisitJob *) &working;
        working = true;
        ask();
        readers_forget(&sda, NULL);
        go_on();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(refusal, "No such device");
        ck_assert(!sda.readers);
}
END_TEST

START_TEST(test_twice) {
        ask();
        ask();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_ne(refusal, "");
        gate_says(WAIT_NOTHING, NULL);
        go_on();
        ck_assert_uint_eq(n_answers, 2);
        ck_assert_str_eq(refusal, "");
}
END_TEST

#define SECOND 1000000ULL

/* Whoever asks nothing for a minute has no leave any more. Each question begins it anew. */
START_TEST(test_end) {
        for (int i = 0; i < 3; i++) {
                ask();
                gate_says(WAIT_NOTHING, NULL);
                go_on();
                pass(event, 59 * SECOND);
                ck_assert(sda.readers);
        }
        pass(event, 2 * SECOND);
        ck_assert(!sda.readers);
        ck_assert_uint_eq(n_changes, 1);
}
END_TEST

/* One that is not answered, either. */
START_TEST(test_end_unanswered) {
        ask();
        pass(event, 61 * SECOND);
        ck_assert(!sda.readers);
        ck_assert_ptr_null(gate_fn);
}
END_TEST

/* There is no asking for leave: that is the answer. */
START_TEST(test_no_gate) {
        gate_error = -ENOMEM;
        ask();
        ck_assert_uint_eq(n_answers, 1);
        ck_assert_str_eq(refusal, "Cannot allocate memory");
        ck_assert(!sda.readers);
        gate_error = 0;
}
END_TEST

/* There may be no memory, or no timer. */
START_TEST(test_refused) {
        int fd[2];
        sd_bus_message *m;
        sd_bus *bus;

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd), 0);
        ck_assert(sd_bus_new(&bus) >= 0 && sd_bus_set_fd(bus, fd[0], fd[0]) >= 0 && sd_bus_start(bus) >= 0);
        ck_assert_int_ge(sd_bus_message_new_method_call(bus, &m, NULL, "/x", "x.y", "MayRead"), 0);
        inject_arm(INJECT_MEMORY, 1);
        ck_assert_int_eq(readers_ask(&sda, m), -ENOMEM);
        (void) inject_disarm();
        ck_assert(!sda.readers);
        (void) sd_bus_message_unref(m);
        (void) sd_bus_close_unref(bus);
        (void) close(fd[1]);
}
END_TEST

/* Several read it, and one of them goes. */
START_TEST(test_several) {
        sd_bus_message *m;
        sd_bus *other;
        int fd[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd), 0);
        ck_assert(sd_bus_new(&other) >= 0 && sd_bus_set_fd(other, fd[0], fd[0]) >= 0 && sd_bus_start(other) >= 0);
        ck_assert_int_ge(sd_bus_message_new_method_call(other, &m, NULL, "/x", "x.y", "MayRead"), 0);
        ask();
        gate_says(WAIT_NOTHING, NULL);
        ck_assert_int_eq(readers_ask(&sda, m), 1);
        readers_forget(&sda, server);
        ck_assert(sda.readers);
        ck_assert_ptr_nonnull(gate_fn);
        readers_forget(&sda, other);
        ck_assert(!sda.readers);
        ck_assert_ptr_null(gate_fn);

        ck_assert_int_ge(sd_event_exit(event, 0), 0);
        ck_assert_int_eq(sd_event_loop(event), 0);
        ck_assert_int_eq(readers_ask(&sda, m), -ESTALE);
        ck_assert(!sda.readers);
        (void) sd_bus_message_unref(m);
        (void) sd_bus_close_unref(other);
        (void) close(fd[1]);
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
        tcase_add_test(t, test_end);
        tcase_add_test(t, test_end_unanswered);
        tcase_add_test(t, test_no_gate);
        tcase_add_test(t, test_refused);
        tcase_add_test(t, test_several);
        suite_add_tcase(s, t);

        return suite_run(s);
}
