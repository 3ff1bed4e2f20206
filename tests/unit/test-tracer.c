/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The manager's half of the tracer. The test plays the tracer process. */

#include <fcntl.h>

#include "done-log.h"
#include "own-clock.h"
#include "tracer-socket.h"
#include "wrong-values.h"

#define SECOND 1000000ULL

static sd_event *event;
static Tracer *tracer;
static char path[64];
static int process = -EBADF; /* the tracer process's end of the socket */
static Wake last;            /* the last reported wake */

static void on_watched(_unused_ void *userdata, WatchDevice d) {
        note("watched:%u:%u", d.major, d.minor);
}
static void on_woken(_unused_ void *userdata, WatchDevice d, const Wake *w) {
        note("woken:%u:%u", d.major, d.minor);
        last = *w;
}
static void on_counted(_unused_ void *userdata, WatchDevice d, const Wake *w, unsigned times) {
        note("counted:%u:%u:%s:%u", d.major, d.minor, w ? w->process.comm : "", times);
}
/* Right after the loss of the tracer process, a new watch fails. */
static void on_lost(void *userdata) {
        const WatchDrive d = disk(0);

        ck_assert_ptr_eq(userdata, path);
        note("lost");
        ck_assert_int_eq(tracer_watch(tracer, &d, false), -EBUSY);
        tracer_unwatch(tracer, d.disk);
}

static const TracerEvents tracer_events = {
        .watched = on_watched, .woken = on_woken, .counted = on_counted, .lost = on_lost
};

static void setup(void) {
        scratch_make();
        (void) snprintf(path, sizeof path, "%s/socket", scratch);
        listen_there();
        ck_assert_int_eq(sd_event_new(&event), 0);
        ck_assert_int_eq(tracer_new(event, path, &tracer_events, path, &tracer), 0);
        n_logged = 0;
        done[0] = '\0';
}

static void teardown(void) {
        tracer = tracer_free(tracer);
        event = sd_event_unref(event);
        closep(&process);
        process = -EBADF;
        closep(&listener);
        scratch_remove();
}

static void take_connection(void) {
        process = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        ck_assert_int_ge(process, 0);
}

/* Expects exactly this request from the manager. */
static void expect_request(bool watch, const WatchDrive *d) {
        TracerRequest q = {};

        ck_assert_int_eq(wire_receive(process, tracer_request_fields, &q, MSG_DONTWAIT), 1);
        ck_assert(q.watch == watch);
        ck_assert(watch_device_equal(q.drive.disk, d->disk));
        if (!watch)
                return;
        ck_assert(q.drive.host == d->host && q.drive.channel == d->channel && q.drive.id == d->id);
        ck_assert(q.drive.lun == d->lun && q.drive.n_above == d->n_above);
        ck_assert_mem_eq(q.drive.above, d->above, sizeof d->above);
}

static bool is_silent(void) {
        char byte;

        return recv(process, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static bool has_closed(void) {
        char byte;

        return recv(process, &byte, 1, MSG_DONTWAIT) == 0;
}

/* Watches a drive, and receives the request as the tracer process does. */
static void watch(unsigned minor) {
        const WatchDrive d = disk(minor);

        ck_assert_int_eq(tracer_watch(tracer, &d, false), 0);
        if (process < 0)
                take_connection();
        expect_request(true, &d);
}

static void send_bytes(const uint8_t *answer, size_t size) {
        ck_assert_int_eq(send(process, answer, size, MSG_NOSIGNAL), (ssize_t) size);
        run(event);
}

static void send_answer(const TracerAnswer *answer) {
        ck_assert_int_eq(wire_send(process, tracer_answer_fields, answer, 0), 0);
        run(event);
}

static const Wake reading = { .kind = WAKE_READ,
                              .process = { .pid = 9, .comm = "a", .unit = "b", .command_line = "c" },
                              .thread = "d",
                              .has_sector = true,
                              .content = true,
                              .sector = 5,
                              .inode = UINT64_MAX,
                              .cdb = { 0x28, [WAKE_CDB_MAX - 1] = 1 },
                              .cdb_len = 10 };

START_TEST(test_answers) {
        const WatchDrive b = disk(16);
        TracerAnswer a = { .disk = { 8, 0 } };

        run(event);
        ck_assert_int_lt(accept4(listener, NULL, NULL, SOCK_CLOEXEC | fcntl(listener, F_SETFL, O_NONBLOCK)), 0);
        watch(0);
        send_answer(&a);
        ck_assert_str_eq(all_done(), "watched:8:0 ");

        /* The same process watches a second drive. */
        watch(16);
        a = (TracerAnswer){ .disk = { 8, 16 }, .woken = true, .wake = reading };
        send_answer(&a);
        ck_assert_str_eq(all_done(), "woken:8:16 ");
        ck_assert_mem_eq(&last, &reading, sizeof last);

        /* A watch continues after a report. Values at their limits are accepted. */
        a.wake = (Wake){ .kind = _WAKE_KIND_MAX - 1, .cdb_len = WAKE_CDB_MAX };
        (void) memset(a.wake.process.unit, 'u', sizeof a.wake.process.unit - 1);
        (void) memset(a.wake.thread, 't', sizeof a.wake.thread - 1);
        send_answer(&a);
        ck_assert_str_eq(all_done(), "woken:8:16 ");

        /* Ignored: a report that arrives after the manager has ended the watch, and reports of drives that were never watched. */
        tracer_unwatch(tracer, b.disk);
        expect_request(false, &b);
        send_answer(&a);
        for (unsigned i = 0; i < 2; i++) {
                a.disk = i ? (WatchDevice){ 8, 1 } : (WatchDevice){ 9, 0 };
                send_answer(&a);
        }
        ck_assert_str_eq(all_done(), "");
        ck_assert_uint_eq(n_logged, 0);
}
END_TEST

START_TEST(test_active) {
        const WatchDrive b = disk(16);
        TracerAnswer a = { .disk = { 8, 16 }, .counted = true, .times = 3, .wake = reading };

        watch(0);
        ck_assert_int_eq(tracer_watch(tracer, &b, true), 0);
        expect_request(true, &b);
        ck_assert_int_ge(tracer_report(tracer, b.disk), 0);
        expect_request(false, &b);
        send_answer(&a);
        a.times = 0;
        send_answer(&a);
        ck_assert_str_eq(all_done(), "counted:8:16:a:3 counted:8:16::0 ");

        /* Active drives take at most half of the room. A drive that is already watched needs no room. */
        for (unsigned i = 2; i < TRACER_DRIVES_MAX / 2; i++)
                watch(16 * i);
        for (unsigned i = 0; i < 2; i++) {
                const WatchDrive d = disk(16 * TRACER_DRIVES_MAX);

                ck_assert_int_eq(tracer_watch(tracer, i ? &b : &d, true), i ? 0 : -ENOSPC);
        }
        expect_request(true, &b);
        watch(16 * TRACER_DRIVES_MAX);
}
END_TEST

/* ---- invalid messages ---- */

static TracerAnswer wrong;

static const struct {
        const char *name;
        void *where;
        size_t size;
        int fill; /* value that is written to each byte of the field */
} wrongs[] = {
        { "woken", &wrong.woken, sizeof wrong.woken, 2 },
        { "counted", &wrong.counted, sizeof wrong.counted, 2 },
        { "tracing", &wrong.tracing, sizeof wrong.tracing, 0xff },
        { "tracing", &wrong.tracing, 1, _TRACING_MAX },
        { "kind", &wrong.wake.kind, sizeof wrong.wake.kind, 0xff },
        { "kind", &wrong.wake.kind, sizeof wrong.wake.kind, 0x7f },
        { "comm", wrong.wake.process.comm, WAKE_COMM_MAX, 'x' },
        { "unit", wrong.wake.process.unit, WAKE_UNIT_MAX, 'x' },
        { "command_line", wrong.wake.process.command_line, WAKE_COMMAND_LINE_MAX, 'x' },
        { "thread", wrong.wake.thread, WAKE_COMM_MAX, 'x' },
        { "has_sector", &wrong.wake.has_sector, sizeof wrong.wake.has_sector, 0xff },
        { "content", &wrong.wake.content, sizeof wrong.wake.content, 2 },
        { "cdb_len", &wrong.wake.cdb_len, sizeof wrong.wake.cdb_len, 0x7f },
        { "cdb_len", &wrong.wake.cdb_len, 1, WAKE_CDB_MAX + 1 },
        /* The last case is a report about a drive that is not watched: ignored, and not an error. */
        { "disk", &wrong.disk, sizeof wrong.disk, 0 },
};

/* Checks that the loss of the process is reported and logged once, and that the process is not started again within ten minutes. */
static void assert_lost(void) {
        const WatchDrive d = disk(0);

        run(event);
        ck_assert_str_eq(all_done(), "lost ");
        ck_assert_uint_eq(n_logged, 1);
        ck_assert(has_closed());
        closep(&process);
        process = -EBADF;

        passed_usec += 599 * SECOND;
        ck_assert_int_eq(tracer_watch(tracer, &d, false), -EBUSY);
        passed_usec += 2 * SECOND;
        watch(0);
        tracer_unwatch(tracer, d.disk);
        expect_request(false, &d);
        ck_assert(has_closed());
        ck_assert_uint_eq(n_logged, 1);
        passed_usec = 0;
}

START_TEST(test_wrong) {
        uint8_t bytes[WIRE_MESSAGE_MAX_BYTES], other[WIRE_MESSAGE_MAX_BYTES];
        size_t size = wire_size(tracer_answer_fields), at;

        wrong = (TracerAnswer){ .disk = { 8, 0 }, .woken = true, .wake = reading };
        watch(0);
        watch(16);
        send_answer(&wrong);
        ck_assert_str_eq(all_done(), "woken:8:0 ");

        (void) wire_write(tracer_answer_fields, &wrong, bytes);
        *(uint8_t *) wrongs[_i].where ^= 1;
        (void) wire_write(tracer_answer_fields, &wrong, other);
        at = first_difference(bytes, other, size);
        (void) memset(bytes + at, wrongs[_i].fill, wrongs[_i].size);
        send_bytes(bytes, size);
        if (_i == ELEMENTSOF(wrongs) - 1)
                ck_assert_str_eq(all_done(), "");
        else
                assert_lost();
}
END_TEST

/* A message of any wrong size ends the connection. */
START_TEST(test_size) {
        uint8_t bytes[2 * WIRE_MESSAGE_MAX_BYTES] = {};
        size_t size = wire_size(tracer_answer_fields);
        const size_t sizes[] = { 1, size - 1, size + 1, 2 * size, sizeof bytes };

        (void) wire_write(tracer_answer_fields, &(const TracerAnswer){ .disk = { 8, 0 } }, bytes);
        watch(0);
        send_bytes(bytes, sizes[_i]);
        assert_lost();
}
END_TEST

START_TEST(test_process_ends) {
        watch(0);
        watch(16);
        ck_assert_int_eq(shutdown(process, SHUT_RDWR), 0);
        assert_lost();
        ck_assert_int_eq(tracer_tracing(tracer), TRACING_ENDED);
}
END_TEST

/* The tracer reports why it cannot trace. The manager forgets the reason when tracing works. */
START_TEST(test_untraced) {
        const TracerAnswer a = { .disk = { 8, 0 }, .tracing = (Tracing) _i }, fine = { .disk = { 8, 0 } };

        ck_assert_int_eq(tracer_tracing(tracer), TRACING_FINE);
        watch(0);
        send_answer(&a);
        assert_lost();
        ck_assert_int_eq(tracer_tracing(tracer), _i);
        passed_usec = 1300 * SECOND;
        closep(&process);
        process = -EBADF;
        watch(0);
        send_answer(&fine);
        ck_assert_str_eq(all_done(), "watched:8:0 ");
        ck_assert_int_eq(tracer_tracing(tracer), TRACING_FINE);
        passed_usec = 0;
}
END_TEST

/* ---- watches ---- */

/* The tracer process ends after the last watch has ended. This end does not count as a loss of the process. To end
 * the watch of a drive again has no effect. */
START_TEST(test_unwatch) {
        const WatchDrive a = disk(0), b = disk(16);
        WatchDrive other = b;

        watch(0);
        watch(16);
        other.above[0] = (WatchDevice){ 253, 7 };
        other.n_above = 1;
        ck_assert_int_eq(tracer_watch(tracer, &other, false), 0);
        expect_request(true, &other);

        tracer_unwatch(tracer, (WatchDevice){ 8, 32 });
        ck_assert(is_silent());
        tracer_unwatch(tracer, a.disk);
        expect_request(false, &a);
        tracer_unwatch(tracer, a.disk);
        ck_assert(is_silent());
        tracer_unwatch(tracer, b.disk);
        expect_request(false, &b);
        ck_assert(has_closed());
        closep(&process);
        process = -EBADF;
        run(event);
        tracer_unwatch(tracer, b.disk);

        /* The process can be started again at once, unlike after a loss. */
        watch(16);
        ck_assert_str_eq(all_done(), "");
        ck_assert_uint_eq(n_logged, 0);
}
END_TEST

START_TEST(test_many) {
        WatchDrive d = disk(TRACER_DRIVES_MAX);

        for (unsigned i = 0; i < TRACER_DRIVES_MAX; i++)
                watch(i);
        ck_assert_int_eq(tracer_watch(tracer, &d, false), -ENOSPC);
        ck_assert(is_silent());
        watch(TRACER_DRIVES_MAX - 1); /* no error: this drive is already watched */

        tracer_unwatch(tracer, (WatchDevice){ 8, 7 });
        d = disk(7);
        expect_request(false, &d);
        watch(TRACER_DRIVES_MAX);
}
END_TEST

/* If the process does not read its requests, existing watches stay, and new watches fail. */
START_TEST(test_stuck) {
        const WatchDrive a = disk(0), b = disk(16);
        TracerAnswer answer = { .disk = { 8, 16 } };
        unsigned n = 0;
        int r;

        watch(0);
        while ((r = tracer_watch(tracer, &a, false)) >= 0 && n < 1000 * 1000)
                n++;
        ck_assert_int_eq(r, -EAGAIN);
        ck_assert_int_eq(tracer_watch(tracer, &b, false), -EAGAIN);
        send_answer(&answer);
        ck_assert_str_eq(all_done(), "");
        answer.disk.minor = 0;
        send_answer(&answer);
        ck_assert_str_eq(all_done(), "watched:8:0 ");
        ck_assert_uint_eq(n_logged, 0);
}
END_TEST

/* While the tracer's socket is missing or closed, watches fail. When the tracer listens on the socket, watches work. */
START_TEST(test_refused) {
        const WatchDrive d = disk(0);

        closep(&listener);
        if (_i)
                ck_assert_int_eq(unlink("socket"), 0);
        for (unsigned i = 0; i < 2; i++)
                ck_assert_int_eq(tracer_watch(tracer, &d, false), _i ? -ENOENT : -ECONNREFUSED);
        tracer_unwatch(tracer, d.disk);
        run(event);
        ck_assert_str_eq(all_done(), "");
        ck_assert_int_eq(tracer_tracing(tracer), TRACING_NO_SOCKET);

        (void) unlink("socket");
        listen_there();
        watch(0);
}
END_TEST

START_TEST(test_long_path) {
        const WatchDrive d = disk(0);
        char longest[sizeof((struct sockaddr_un *) NULL)->sun_path + 1];
        Tracer *other;

        (void) memset(longest, 'x', sizeof longest);
        longest[sizeof longest - 1] = '\0';
        ck_assert_int_eq(tracer_new(event, longest, &tracer_events, NULL, &other), 0);
        ck_assert_int_eq(tracer_watch(other, &d, false), -ENAMETOOLONG);
        ck_assert_ptr_null(tracer_free(other));
        ck_assert_ptr_null(tracer_free(NULL));
}
END_TEST

int main(void) {
        TCase *t = tcase_create("manager");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_test(t, test_answers);
        tcase_add_test(t, test_active);
        tcase_add_loop_test(t, test_wrong, 0, ELEMENTSOF(wrongs));
        tcase_add_loop_test(t, test_size, 0, 5);
        tcase_add_test(t, test_process_ends);
        tcase_add_loop_test(t, test_untraced, TRACING_FINE + 1, _TRACING_MAX);
        tcase_add_test(t, test_unwatch);
        tcase_add_test(t, test_many);
        tcase_add_test(t, test_stuck);
        tcase_add_loop_test(t, test_refused, 0, 2);
        tcase_add_test(t, test_long_path);

        return test_main("tracer", t);
}
