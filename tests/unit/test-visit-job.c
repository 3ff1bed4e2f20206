/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sends each message to a VisitJob in each state of a visit, since a compromised worker may send any message at any time. VisitJob and
 * FsckWait are real. PID 1, the broker and the worker's end of the socket are replaced by the test. */

#include <check.h>
#include <stdio.h>
#include <sys/socket.h>

#include "fake-pid1.h"
#include "own-clock.h"
#include "settings.h"
#include "suite.h"
#include "visit-job.h"

/* ---- the broker ---- */

static int worker_fd;    /* the worker's end of its socket */
static int broker_error; /* < 0: the creation of a process fails with this error */

int broker_fork(_unused_ Broker *b, _unused_ BrokerChild child, int fd) {
        if (broker_error < 0)
                return broker_error;
        worker_fd = dup(fd);
        return 0;
}

/* ---- a visit ---- */

static Wish wish_items[] = {
        { .name = "apm", .value = { .type = VALUE_INT, .number = 127 }, .file = "f" },
        { .name = "nonesuch", .file = "f" }, /* not in the table of settings */
};
static const Wishes wishes = { .items = wish_items, .n_items = ELEMENTSOF(wish_items) };

typedef struct Visited {
        sd_event *event;
        FsckWait *fsck_wait;
        VisitJob *job;
        Drive drive;
        Bridge bridge;
        Verdict verdicts[ELEMENTSOF(wish_items)];
        unsigned n_reported[ELEMENTSOF(wish_items)], n_ended, n_identities, n_intended, n_settling;
        unsigned n_waits, n_deferred, n_ready, n_silent;
        PowerMode power;
        unsigned n_powers;
        char reason[STEP_REASON_MAX]; /* reason in the last reported step */
        WaitKind waits;               /* kind of the last reported wait */
        size_t writing;
        VisitEnd end;
        bool lost;
} Visited;

static void on_waiting(void *userdata, Wait w, bool deferred) {
        Visited *x = userdata;

        x->waits = w.kind;
        *(deferred ? &x->n_deferred : &x->n_waits) += 1;
}
static void on_ready(void *userdata) {
        ((Visited *) userdata)->n_ready++;
}
static void on_intends(void *userdata, _unused_ size_t wish) {
        ((Visited *) userdata)->n_intended++;
}
static void on_writing(void *userdata, size_t wish) {
        ck_assert(wish < wishes.n_items || wish == NO_WISH);
        ((Visited *) userdata)->writing = wish;
}
static void on_settling(void *userdata) {
        ((Visited *) userdata)->n_settling++;
}
static void on_silent(void *userdata, unsigned seconds) {
        ck_assert_uint_eq(seconds, 20);
        ((Visited *) userdata)->n_silent++;
}

static void on_step(void *userdata, const Step *s) {
        Visited *x = userdata;
        size_t i = s->wish - wish_items;

        ck_assert_uint_lt(i, wishes.n_items);
        x->n_reported[i]++;
        x->verdicts[i] = s->verdict;
        (void) strcpy(x->reason, s->reason);
}

static void on_power(void *userdata, PowerMode power) {
        Visited *x = userdata;

        x->power = power;
        x->n_powers++;
}

static void on_bridge_learned(void *userdata, const Bridge *bridge, const DriveIdentity *identity) {
        Visited *x = userdata;

        x->bridge = *bridge;
        x->n_identities += identity != NULL;
}

static void on_ended(void *userdata, VisitEnd end, const char *lost) {
        Visited *x = userdata;

        x->n_ended++;
        x->end = end;
        x->lost = lost;
        x->job = visit_job_free(x->job);
}

static const VisitJobEvents events = {
        .waiting = on_waiting,
        .ready = on_ready,
        .intends = on_intends,
        .writing = on_writing,
        .settling = on_settling,
        .step = on_step,
        .power = on_power,
        .bridge_learned = on_bridge_learned,
        .silent = on_silent,
        .ended = on_ended,
};

/* If the service has queried PID 1, sends the reply. `runs`: the running unit that checks a file system on the drive; NULL: none runs. */
static void pid1_reports(Visited *x, const char *runs) {
        world = (typeof(world)){ .unit = runs, .covers = true, .settled = true };
        if (has_query(x->event))
                pid1_reply(x->event);
}

/* Runs the event loop until no event is pending. */
static void run_loop(Visited *x) {
        while (sd_event_run(x->event, 0) > 0)
                ;
}

/* ---- messages of the worker ---- */

typedef enum TestMessage {
        ALIVE,
        SENDS,         /* a write of the first setting begins */
        SENDS_NONE,    /* the write has ended */
        SENDS_UNKNOWN, /* a write of a setting for which the visit has no wish */
        INTENDS,
        INTENDS_UNKNOWN,
        STEP_FIRST,
        STEP_SECOND,
        STEP_SECOND_WRITTEN, /* a write of "nonesuch", which is not in the table of settings */
        STEP_UNKNOWN,
        STEP_NO_VERDICT,
        STEP_SECOND_DEFERRED,
        REPORTS_POWER,
        REPORTS_NO_POWER,
        BRIDGE,
        IDENTITY,
        END,
        UNKNOWN_TYPE,
        SHORT,
        LONG,
        _TEST_MESSAGE_MAX,
} TestMessage;

static void send_message(TestMessage what) {
        WorkerMessage m = { .type = MESSAGE_STEP, .step.verdict = VERDICT_UNSUPPORTED };
        uint8_t bytes[WORKER_MESSAGE_MAX_BYTES];
        size_t more = 0;

        switch (what) {
        case ALIVE:
                m.type = MESSAGE_ALIVE;
                break;
        case SENDS:
        case SENDS_NONE:
        case SENDS_UNKNOWN:
                m.type = MESSAGE_SENDS;
                m.wish = what == SENDS_NONE ? NO_WISH : what == SENDS ? 0 : wishes.n_items;
                break;
        case INTENDS:
        case INTENDS_UNKNOWN:
                m.type = MESSAGE_INTENDS;
                m.wish = what == INTENDS ? 0 : wishes.n_items;
                break;
        case STEP_FIRST:
                m.step.verdict = VERDICT_APPLIED;
                m.step.written = true;
                break;
        case STEP_SECOND:
        case STEP_SECOND_WRITTEN:
                m.wish = 1;
                m.step.written = what == STEP_SECOND_WRITTEN;
                break;
        case STEP_UNKNOWN:
                m.wish = wishes.n_items;
                break;
        case STEP_NO_VERDICT:
                m.step.verdict = _VERDICT_INVALID;
                break;
        case STEP_SECOND_DEFERRED:
                m.wish = 1;
                m.step.verdict = VERDICT_DEFERRED;
                break;
        case REPORTS_POWER:
        case REPORTS_NO_POWER:
                m = (WorkerMessage){ .type = MESSAGE_POWER,
                                     .power = what == REPORTS_POWER ? POWER_STANDBY : POWER_UNCLEAR };
                break;
        case BRIDGE:
        case IDENTITY:
                m = (WorkerMessage){ .type = MESSAGE_BRIDGE,
                                     .bridge = { .queried = true, .cdb = 16, .identified = what == IDENTITY } };
                (void) strcpy(m.identity.serial, what == IDENTITY ? "S" : "");
                break;
        case END:
                m.type = MESSAGE_END;
                break;
        case UNKNOWN_TYPE:
                break;
        case SHORT:
                more = SIZE_MAX;
                break;
        case LONG:
                more = 1;
                break;
        case _TEST_MESSAGE_MAX:
                abort();
        }
        more += worker_message_write(&m, bytes);
        if (what == UNKNOWN_TYPE)
                memcpy(bytes, &(int){ _MESSAGE_MAX }, sizeof(int));
        (void) send(worker_fd, bytes, more, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- states of a visit ---- */

#define M(x) (1U << (x))
#define SETTINGS (M(STEP_FIRST) | M(STEP_SECOND) | M(STEP_SECOND_DEFERRED))
#define WORK (M(ALIVE) | M(SENDS) | M(SENDS_NONE) | M(INTENDS) | M(REPORTS_POWER))

static void begun(_unused_ Visited *x) {
}
static void sending(_unused_ Visited *x) {
        send_message(SENDS);
        run_loop(x);
}
static void alive(Visited *x) {
        send_message(ALIVE);
        run_loop(x);
}
static void interrupted(Visited *x) {
        change_fn(change_userdata);
        pid1_reports(x, "systemd-fsck@x.service");
}
static void intending(Visited *x) {
        send_message(INTENDS);
        run_loop(x);
}
static void guarded(Visited *x) {
        intending(x);
        if (x->job)
                visit_job_intended(x->job, 0);
}
static void unguarded(Visited *x) {
        intending(x);
        if (x->job)
                visit_job_intended(x->job, -EIO);
}
static void stopping(Visited *x) {
        visit_job_stop(x->job);
}
static void stopped_while_intending(Visited *x) {
        intending(x);
        visit_job_stop(x->job);
}
static void interrupted_while_intending(Visited *x) {
        intending(x);
        interrupted(x);
}
static void reported_first(Visited *x) {
        send_message(STEP_FIRST);
        run_loop(x);
}
static void reported_all(Visited *x) {
        reported_first(x);
        send_message(STEP_SECOND);
        run_loop(x);
}
static void bridged_before_all(Visited *x) {
        send_message(BRIDGE);
        run_loop(x);
}
static void bridged(Visited *x) {
        reported_all(x);
        bridged_before_all(x);
}
static void identified(Visited *x) {
        send_message(IDENTITY);
        run_loop(x);
}
static void finished(Visited *x) {
        reported_all(x);
        send_message(END);
        run_loop(x);
}

/* The states of a visit. `expected`: the messages that are permitted, as a mask of M(). Any other message ends the worker. */
static const struct {
        const char *name;
        void (*reach)(Visited *x);
        unsigned expected;
        Transport transport; /* TRANSPORT_SATA: there is no bridge */
        bool queried;        /* the bridge was queried in an earlier visit */
} states[] = {
        { "begun", begun, WORK | SETTINGS | M(BRIDGE) | M(IDENTITY), TRANSPORT_USB, false },
        { "begun, no bridge", begun, WORK | SETTINGS, TRANSPORT_SATA, false },
        { "begun, bridge queried before", begun, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "writing", sending, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "alive", alive, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "interrupted", interrupted, WORK | SETTINGS | M(BRIDGE) | M(IDENTITY), TRANSPORT_USB, false },
        { "announced a write", intending, 0, TRANSPORT_USB, false },
        { "guarded", guarded, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "unguarded", unguarded, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "stopping", stopping, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "stopped after it announced a write", stopped_while_intending, 0, TRANSPORT_USB, true },
        { "interrupted after it announced a write", interrupted_while_intending, 0, TRANSPORT_USB, true },
        { "reported the first setting", reported_first, WORK | M(STEP_SECOND) | M(STEP_SECOND_DEFERRED) | M(BRIDGE),
          TRANSPORT_USB, true },
        { "reported all settings", reported_all, WORK | M(BRIDGE) | M(END), TRANSPORT_USB, true },
        { "reported the bridge", bridged, M(END), TRANSPORT_USB, true },
        { "reported the bridge before all settings", bridged_before_all, 0, TRANSPORT_USB, true },
        { "identified", identified, M(END), TRANSPORT_USB, false },
        { "finished", finished, 0, TRANSPORT_SATA, false },
};

static void visit_make(Visited *x, Transport transport, bool asked, uint64_t patience_usec) {
        *x = (Visited){ .drive = { .name = (char *) "sdzz",
                                   .node = (char *) "/dev/sdzz",
                                   .syspath = (char *) "/sys/devices/x/block/sdzz",
                                   .transport = transport,
                                   .ata = true },
                        .bridge.queried = asked,
                        .writing = NO_WISH };
        ck_assert_int_ge(sd_event_new(&x->event), 0);
        ck_assert_int_eq(fsck_wait_new(x->event, NULL, &x->fsck_wait), 0);
        ck_assert_int_eq(visit_job_new(x->event, NULL, x->fsck_wait,
                                       &(Visit){ .drive = &x->drive,
                                                 .wishes = &wishes,
                                                 .work = WORK_APPLY,
                                                 .bridge = &x->bridge,
                                                 .settings = &all_settings },
                                       patience_usec, &events, x, &x->job),
                         0);
}

static void visit_begin(Visited *x, Transport transport, bool asked) {
        visit_make(x, transport, asked, UINT64_MAX);
        pid1_reports(x, NULL);
        ck_assert_int_eq(visit_job_work(x->job, false), 0);
}

static void visit_end(Visited *x) {
        (void) close(worker_fd);
        run_loop(x);
        ck_assert_uint_eq(x->n_ended, 1);
        ck_assert_ptr_null(x->job);
        (void) fsck_wait_free(x->fsck_wait);
        sd_event_unref(x->event);
}

/* Receives and counts all orders to the worker. Returns true if the socket is closed. */
static bool receive_orders(unsigned *ret_n) {
        WorkerOrder order;
        ssize_t n;

        for (*ret_n = 0; (n = recv(worker_fd, &order, sizeof order, MSG_DONTWAIT)) > 0; ++*ret_n)
                ck_assert_int_eq(n, sizeof order);
        return n == 0 || errno == ECONNRESET;
}

START_TEST(test_each_message) {
        for (TestMessage what = 0; what < _TEST_MESSAGE_MAX; what++) {
                bool expected = states[_i].expected & M(what), closed;
                unsigned n_answers, n_reported;
                Visited x;

                visit_begin(&x, states[_i].transport, states[_i].queried);
                states[_i].reach(&x);
                ck_assert_uint_eq(x.n_ended, 0);
                (void) receive_orders(&n_answers);
                n_reported = x.n_reported[0] + x.n_reported[1];

                send_message(what);
                run_loop(&x);
                ck_assert_msg(x.n_ended == !expected, "%s, message %d: ended %u times", states[_i].name, what,
                              x.n_ended);
                ck_assert_uint_eq(x.n_powers, expected && what == REPORTS_POWER);

                /* A lost worker gets no permission to write and no other order. */
                pid1_reports(&x, NULL);
                run_loop(&x);
                closed = receive_orders(&n_answers);
                if (!expected) {
                        ck_assert_uint_eq(n_answers, 0);
                        ck_assert(closed);
                }
                /* After MESSAGE_END the manager closes the socket. */
                if (what == END)
                        ck_assert(closed);
                if (!expected) {
                        ck_assert(x.lost);
                        for (size_t i = 0; i < wishes.n_items; i++)
                                ck_assert_msg(x.n_reported[i] == 1 || x.n_identities > 0,
                                              "%s, message %d: reported %u times", states[_i].name, what,
                                              x.n_reported[i]);
                }
                if (!expected && n_reported == 0)
                        ck_assert(x.verdicts[0] == VERDICT_FAILED && x.verdicts[1] == VERDICT_FAILED);
                visit_end(&x);
        }
}
END_TEST

static const struct {
        void (*reach)(Visited *x), (*repeat)(Visited *x);
} floods[] = {
        { begun, alive },
        { begun, sending },
        { begun, guarded },
        { begun, unguarded },
};

/* A worker that repeats a permitted message too often is ended. */
START_TEST(test_flood) {
        unsigned n = 0, n_answers;
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        floods[_i].reach(&x);
        for (; x.n_ended == 0 && n < 100 * 1000; n++) {
                floods[_i].repeat(&x);
                (void) receive_orders(&n_answers);
        }
        ck_assert_uint_eq(x.n_ended, 1);
        ck_assert(x.lost);
        ck_assert_uint_gt(n, 256 + 200 * wishes.n_items);
        ck_assert(receive_orders(&n_answers));
        visit_end(&x);
}
END_TEST

/* The job reports the worker's power mode, whether the message arrives before or after the last setting. */
START_TEST(test_power) {
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        if (_i)
                reported_all(&x);
        send_message(REPORTS_POWER);
        run_loop(&x);
        ck_assert_uint_eq(x.n_powers, 1);
        ck_assert_int_eq(x.power, POWER_STANDBY);
        ck_assert_uint_eq(x.n_ended, 0);
        if (!_i)
                reported_all(&x);
        send_message(END);
        run_loop(&x);
        ck_assert_int_eq(x.verdicts[0], VERDICT_APPLIED);
        ck_assert_int_eq(x.verdicts[1], VERDICT_UNSUPPORTED);
        ck_assert_uint_eq(x.n_powers, 1);
        visit_end(&x);
        ck_assert(x.end == VISIT_OVER && !x.lost);
}
END_TEST

/* Each MESSAGE_ALIVE makes the job call settling(), which reports that the first commands of the worker are over. */
START_TEST(test_first_commands_over) {
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        sending(&x);
        ck_assert_uint_eq(x.n_settling, 0);
        for (unsigned i = 1; i <= 3; i++) {
                alive(&x);
                ck_assert_uint_eq(x.n_settling, i);
        }
        visit_end(&x);
}
END_TEST

/* The job reports which setting the worker writes, and reports the end of the write. */
START_TEST(test_writing) {
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        ck_assert_uint_eq(x.writing, NO_WISH);
        sending(&x);
        ck_assert_uint_eq(x.writing, 0);
        send_message(SENDS_NONE);
        run_loop(&x);
        ck_assert_uint_eq(x.writing, NO_WISH);
        visit_end(&x);
}
END_TEST

static WorkerOrder order(void) {
        WorkerOrder o;

        ck_assert_int_eq(recv(worker_fd, &o, sizeof o, MSG_DONTWAIT), sizeof o);
        return o;
}

/* A file system check or a suspend stops the worker with one order. A write that was announced before still gets its
 * answer. After a suspend, the remaining setting is reported as deferred. After a check, the setting is not reported. */
START_TEST(test_stop) {
        bool check = _i & 1, intends = _i & 2;
        unsigned n;
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        (void) receive_orders(&n); /* removes the request for the visit from the socket */
        if (intends)
                intending(&x);
        for (int i = 0; i < 2; i++)
                if (check)
                        interrupted(&x);
                else
                        visit_job_stop(x.job);
        ck_assert_int_eq(order(), ORDER_STOP);
        if (intends) {
                visit_job_intended(x.job, 0);
                ck_assert_int_eq(order(), ORDER_GO);
        }
        ck_assert(!receive_orders(&n));
        ck_assert_uint_eq(n, 0);

        send_message(STEP_FIRST);
        send_message(STEP_SECOND_DEFERRED);
        send_message(END);
        run_loop(&x);
        ck_assert_uint_eq(x.n_reported[0], 1);
        ck_assert_uint_eq(x.n_reported[1], !check);
        visit_end(&x);
        ck_assert_int_eq(x.end, check ? VISIT_INTERRUPTED : VISIT_DEFERRED);
        ck_assert(!x.lost);
}
END_TEST

#define SECOND 1000000ULL

static const struct {
        uint64_t patience_usec;
        unsigned waited; /* time until the file system check ends, s */
        bool deferred;
} patiences[] = {
        { 3 * SECOND, 2, false },
        { 3 * SECOND, 4, true },
        { 3 * SECOND, 400, true },
        { UINT64_MAX, 400, false },
};

/* A wait for a file system check is reported at once. If the check takes longer than `patience_usec`, all settings are
 * reported once as deferred. After every check, long or short, the visit begins. */
START_TEST(test_patience) {
        Visited x;

        visit_make(&x, TRANSPORT_SATA, false, patiences[_i].patience_usec);
        pid1_reports(&x, "systemd-fsck@x.service");
        ck_assert_uint_eq(x.n_waits, 1);
        ck_assert_int_eq(x.waits, WAIT_CHECK);
        for (unsigned s = 0; s < patiences[_i].waited; s++) {
                ck_assert_uint_eq(x.n_deferred, s >= 3 && patiences[_i].deferred);
                pass(x.event, SECOND);
        }
        pass(x.event, SECOND / 2);
        ck_assert_uint_eq(x.n_deferred, patiences[_i].deferred);
        ck_assert_uint_eq(x.n_ready, 0);
        for (size_t i = 0; i < wishes.n_items; i++) {
                ck_assert_uint_eq(x.n_reported[i], patiences[_i].deferred);
                if (patiences[_i].deferred)
                        ck_assert_int_eq(x.verdicts[i], VERDICT_DEFERRED);
        }
        ck_assert_str_eq(x.reason, patiences[_i].deferred ? "still waiting for systemd-fsck@x.service" : "");

        change_fn(change_userdata);
        pid1_reports(&x, NULL);
        ck_assert_uint_eq(x.n_ready, 1);
        pass(x.event, 400 * SECOND);
        ck_assert_uint_eq(x.n_deferred, patiences[_i].deferred);
        ck_assert_uint_eq(x.n_ready, 1);
        ck_assert_int_eq(visit_job_work(x.job, false), 0);
        reported_all(&x);
        send_message(END);
        visit_end(&x);
        ck_assert(!x.lost);
        ck_assert_int_eq(x.verdicts[0], VERDICT_APPLIED);
}
END_TEST

/* A silent worker is reported once. After this report, the job is not busy until the worker or the manager sends a message. */
START_TEST(test_silence) {
        Visited x;

        visit_make(&x, TRANSPORT_SATA, false, UINT64_MAX);
        ck_assert(!visit_job_has_worker(x.job) && !visit_job_is_busy(x.job));
        pid1_reports(&x, NULL);
        ck_assert_int_eq(visit_job_work(x.job, false), 0);
        for (unsigned turn = 0; turn < 3; turn++) {
                pass(x.event, 19 * SECOND);
                ck_assert_uint_eq(x.n_silent, turn);
                ck_assert(visit_job_is_busy(x.job));
                pass(x.event, 2 * SECOND);
                ck_assert_uint_eq(x.n_silent, turn + 1);
                ck_assert(visit_job_has_worker(x.job) && !visit_job_is_busy(x.job));
                pass(x.event, 100 * SECOND);
                ck_assert_uint_eq(x.n_silent, turn + 1);
                if (turn == 0)
                        send_message(ALIVE);
                else if (turn == 1) {
                        send_message(INTENDS);
                        run_loop(&x);
                        pass(x.event, 15 * SECOND);
                        visit_job_intended(x.job, 0);
                }
                run_loop(&x);
        }
        visit_end(&x);
}
END_TEST

/* If no process can be created, the job fails, and its next attempt succeeds. */
START_TEST(test_no_process) {
        Visited x;

        visit_make(&x, TRANSPORT_SATA, false, UINT64_MAX);
        pid1_reports(&x, NULL);
        visit_job_stop(x.job); /* no effect: there is no worker */
        broker_error = -EAGAIN;
        ck_assert_int_eq(visit_job_work(x.job, false), -EAGAIN);
        ck_assert(!visit_job_has_worker(x.job) && !visit_job_is_busy(x.job));
        broker_error = 0;
        ck_assert_int_eq(visit_job_work(x.job, false), 0);
        reported_all(&x);
        send_message(END);
        visit_end(&x);
        ck_assert(!x.lost);
        ck_assert_int_eq(x.end, VISIT_OVER);
}
END_TEST

/* An answer of the guard is ignored if the worker has not announced a write. */
START_TEST(test_unexpected_answer) {
        unsigned n;
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        (void) receive_orders(&n); /* removes the request for the visit from the socket */
        visit_job_intended(x.job, 0);
        ck_assert(!receive_orders(&n));
        ck_assert_uint_eq(n, 0);
        guarded(&x);
        visit_job_intended(x.job, -EIO);
        ck_assert_int_eq(order(), ORDER_GO);
        unguarded(&x);
        ck_assert_int_eq(order(), ORDER_UNGUARDED);
        ck_assert(!receive_orders(&n));
        ck_assert_uint_eq(n, 0);
        visit_end(&x);
}
END_TEST

/* After the worker of a visit has died, the visit no longer waits for file system checks. */
START_TEST(test_worker_dies) {
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        (void) close(worker_fd);
        run_loop(&x);
        ck_assert_ptr_null(x.job);
        interrupted(&x);
        ck_assert_uint_eq(x.n_ended, 1);
        (void) fsck_wait_free(x.fsck_wait);
        sd_event_unref(x.event);
}
END_TEST

int main(void) {
        Suite *s = suite_create("visit-job");
        TCase *t = tcase_create("visit-job");

        tcase_add_loop_test(t, test_each_message, 0, ELEMENTSOF(states));
        tcase_set_timeout(t, 60);
        tcase_add_loop_test(t, test_flood, 0, ELEMENTSOF(floods));
        tcase_add_loop_test(t, test_power, 0, 2);
        tcase_add_test(t, test_first_commands_over);
        tcase_add_test(t, test_writing);
        tcase_add_loop_test(t, test_stop, 0, 4);
        tcase_add_loop_test(t, test_patience, 0, ELEMENTSOF(patiences));
        tcase_add_test(t, test_silence);
        tcase_add_test(t, test_no_process);
        tcase_add_test(t, test_unexpected_answer);
        tcase_add_test(t, test_worker_dies);
        suite_add_tcase(s, t);

        return suite_run(s);
}
