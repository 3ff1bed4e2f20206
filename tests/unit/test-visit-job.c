/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A worker may have been taken over, and say what it likes: each message in each state of the visit. The visit job and the wait
 * are the real ones, PID 1's answer and the broker are ours, and the worker is this test, at its end of the socket. */

#include <check.h>
#include <stdio.h>
#include <sys/socket.h>

#include "fake-pid1.h"
#include "own-clock.h"
#include "settings.h"
#include "suite.h"
#include "visit-job.h"

/* ---- a stand-in: the broker ---- */

static int worker_fd;    /* the worker's end */
static int broker_error; /* < 0: there is no process for it */

int broker_fork(_unused_ Broker *b, _unused_ BrokerChild child, int fd) {
        if (broker_error < 0)
                return broker_error;
        worker_fd = dup(fd);
        return 0;
}

/* ---- a visit ---- */

static Wish wish_items[] = {
        { .name = "apm", .value = { .type = VALUE_INT, .number = 127 }, .file = "f" },
        { .name = "nonesuch", .file = "f" }, /* no row is for it */
};
static const Wishes wishes = { .items = wish_items, .n_items = ELEMENTSOF(wish_items) };

typedef struct Visited {
        sd_event *event;
        FsckWait *fsck_wait;
        VisitJob *job;
        Drive drive;
        Bridge bridge;
        Verdict verdicts[ELEMENTSOF(wish_items)];
        unsigned n_told[ELEMENTSOF(wish_items)], n_ended, n_identities, n_intended, n_settling;
        unsigned n_waits, n_deferred, n_ready, n_silent;
        PowerMode power;
        unsigned n_powers;
        char reason[STEP_REASON_MAX]; /* of the last step */
        WaitKind waits;               /* for that now */
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
        x->n_told[i]++;
        x->verdicts[i] = s->verdict;
        (void) strcpy(x->reason, s->reason);
}

static void on_power(void *userdata, PowerMode power) {
        Visited *x = userdata;

        x->power = power;
        x->n_powers++;
}

static void on_bridged(void *userdata, const Bridge *bridge, const DriveIdentity *identity) {
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
        .bridged = on_bridged,
        .silent = on_silent,
        .ended = on_ended,
};

/* PID 1 answers, if it is asked. What `runs` is a check of this disk; NULL: there is none. */
static void pid1_says(Visited *x, const char *runs) {
        world = (typeof(world)){ .unit = runs, .covers = true, .settled = true };
        if (is_asked(x->event))
                pid1_answers(x->event);
}

/* Until nothing is left to hear. */
static void hear(Visited *x) {
        while (sd_event_run(x->event, 0) > 0)
                ;
}

/* ---- what it may say ---- */

typedef enum Said {
        GOES_ON,
        SENDS,         /* the first setting */
        SENDS_NOTHING, /* it reads */
        SENDS_UNKNOWN, /* one that nobody wants */
        INTENDS,
        INTENDS_UNKNOWN,
        TELLS_FIRST,
        TELLS_SECOND,
        TELLS_SECOND_WRITTEN, /* which no row is for */
        TELLS_UNKNOWN,
        TELLS_NO_VERDICT,
        DEFERS_SECOND,
        TELLS_POWER,
        TELLS_NO_POWER,
        BRIDGE,
        IDENTITY,
        END,
        UNKNOWN_TYPE,
        SHORT,
        LONG,
        _SAID_MAX,
} Said;

static void say(Said what) {
        WorkerMessage m = { .type = MESSAGE_STEP, .step.verdict = VERDICT_UNSUPPORTED };
        uint8_t bytes[WORKER_MESSAGE_MAX_BYTES];
        size_t more = 0;

        switch (what) {
        case GOES_ON:
                m.type = MESSAGE_ALIVE;
                break;
        case SENDS:
        case SENDS_NOTHING:
        case SENDS_UNKNOWN:
                m.type = MESSAGE_SENDS;
                m.wish = what == SENDS_NOTHING ? NO_WISH : what == SENDS ? 0 : wishes.n_items;
                break;
        case INTENDS:
        case INTENDS_UNKNOWN:
                m.type = MESSAGE_INTENDS;
                m.wish = what == INTENDS ? 0 : wishes.n_items;
                break;
        case TELLS_FIRST:
                m.step.verdict = VERDICT_APPLIED;
                m.step.written = true;
                break;
        case TELLS_SECOND:
        case TELLS_SECOND_WRITTEN:
                m.wish = 1;
                m.step.written = what == TELLS_SECOND_WRITTEN;
                break;
        case TELLS_UNKNOWN:
                m.wish = wishes.n_items;
                break;
        case TELLS_NO_VERDICT:
                m.step.verdict = _VERDICT_INVALID;
                break;
        case DEFERS_SECOND:
                m.wish = 1;
                m.step.verdict = VERDICT_DEFERRED;
                break;
        case TELLS_POWER:
        case TELLS_NO_POWER:
                m = (WorkerMessage){ .type = MESSAGE_POWER,
                                     .power = what == TELLS_POWER ? POWER_STANDBY : POWER_UNCLEAR };
                break;
        case BRIDGE:
        case IDENTITY:
                m = (WorkerMessage){ .type = MESSAGE_BRIDGE,
                                     .bridge = { .asked = true, .cdb = 16, .identified = what == IDENTITY } };
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
        case _SAID_MAX:
                abort();
        }
        more += worker_message_write(&m, bytes);
        if (what == UNKNOWN_TYPE)
                memcpy(bytes, &(int){ _MESSAGE_MAX }, sizeof(int));
        (void) send(worker_fd, bytes, more, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- the states ---- */

#define M(x) (1U << (x))
#define SETTINGS (M(TELLS_FIRST) | M(TELLS_SECOND) | M(DEFERS_SECOND))
#define WORK (M(GOES_ON) | M(SENDS) | M(SENDS_NOTHING) | M(INTENDS) | M(TELLS_POWER))

static void begun(_unused_ Visited *x) {
}
static void sending(_unused_ Visited *x) {
        say(SENDS);
        hear(x);
}
static void going_on(Visited *x) {
        say(GOES_ON);
        hear(x);
}
static void interrupted(Visited *x) {
        news_fn(news_userdata);
        pid1_says(x, "systemd-fsck@x.service");
}
static void intending(Visited *x) {
        say(INTENDS);
        hear(x);
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
static void stopped_intending(Visited *x) {
        intending(x);
        visit_job_stop(x->job);
}
static void interrupted_intending(Visited *x) {
        intending(x);
        interrupted(x);
}
static void told_first(Visited *x) {
        say(TELLS_FIRST);
        hear(x);
}
static void told_all(Visited *x) {
        told_first(x);
        say(TELLS_SECOND);
        hear(x);
}
static void bridged_early(Visited *x) {
        say(BRIDGE);
        hear(x);
}
static void bridged(Visited *x) {
        told_all(x);
        bridged_early(x);
}
static void revealed(Visited *x) {
        say(IDENTITY);
        hear(x);
}
static void finished(Visited *x) {
        told_all(x);
        say(END);
        hear(x);
}

/* What is not expected ends the worker. A bridge is there where nothing else is said. */
static const struct {
        const char *name;
        void (*reach)(Visited *x);
        unsigned expected;
        Transport transport; /* SATA: there is no bridge */
        bool asked;          /* … or it was asked at an earlier visit */
} states[] = {
        { "begun", begun, WORK | SETTINGS | M(BRIDGE) | M(IDENTITY), TRANSPORT_USB, false },
        { "begun, no bridge", begun, WORK | SETTINGS, TRANSPORT_SATA, false },
        { "begun, bridge asked before", begun, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "sending", sending, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "going on", going_on, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "interrupted", interrupted, WORK | SETTINGS | M(BRIDGE) | M(IDENTITY), TRANSPORT_USB, false },
        { "intending", intending, 0, TRANSPORT_USB, false },
        { "guarded", guarded, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "unguarded", unguarded, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "stopping", stopping, WORK | SETTINGS | M(BRIDGE), TRANSPORT_USB, true },
        { "stopped while it intended", stopped_intending, 0, TRANSPORT_USB, true },
        { "interrupted while it intended", interrupted_intending, 0, TRANSPORT_USB, true },
        { "told the first", told_first, WORK | M(TELLS_SECOND) | M(DEFERS_SECOND) | M(BRIDGE), TRANSPORT_USB, true },
        { "told all", told_all, WORK | M(BRIDGE) | M(END), TRANSPORT_USB, true },
        { "bridged", bridged, M(END), TRANSPORT_USB, true },
        { "bridged, and did not tell all", bridged_early, 0, TRANSPORT_USB, true },
        { "revealed", revealed, M(END), TRANSPORT_USB, false },
        { "finished", finished, 0, TRANSPORT_SATA, false },
};

static void visit_make(Visited *x, Transport transport, bool asked, uint64_t patience_usec) {
        *x = (Visited){ .drive = { .name = (char *) "sdzz",
                                   .node = (char *) "/dev/sdzz",
                                   .syspath = (char *) "/sys/devices/x/block/sdzz",
                                   .transport = transport,
                                   .ata = true },
                        .bridge.asked = asked,
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
        pid1_says(x, NULL);
        ck_assert_int_eq(visit_job_work(x->job, false), 0);
}

static void visit_end(Visited *x) {
        (void) close(worker_fd);
        hear(x);
        ck_assert_uint_eq(x->n_ended, 1);
        ck_assert_ptr_null(x->job);
        (void) fsck_wait_free(x->fsck_wait);
        sd_event_unref(x->event);
}

/* The orders that it has got, until there is no more; true: and its socket is closed. */
static bool drain(unsigned *ret_n) {
        WorkerOrder order;
        ssize_t n;

        for (*ret_n = 0; (n = recv(worker_fd, &order, sizeof order, MSG_DONTWAIT)) > 0; ++*ret_n)
                ck_assert_int_eq(n, sizeof order);
        return n == 0 || errno == ECONNRESET;
}

START_TEST(test_each_message) {
        for (Said what = 0; what < _SAID_MAX; what++) {
                bool expected = states[_i].expected & M(what), closed;
                unsigned n_answers, n_told;
                Visited x;

                visit_begin(&x, states[_i].transport, states[_i].asked);
                states[_i].reach(&x);
                ck_assert_uint_eq(x.n_ended, 0);
                (void) drain(&n_answers);
                n_told = x.n_told[0] + x.n_told[1];

                say(what);
                hear(&x);
                ck_assert_msg(x.n_ended == !expected, "%s, message %d: ended %u times", states[_i].name, what,
                              x.n_ended);
                ck_assert_uint_eq(x.n_powers, expected && what == TELLS_POWER);

                /* Whatever it asked before: what it has lost nobody calls, and it gets no leave. */
                pid1_says(&x, NULL);
                hear(&x);
                closed = drain(&n_answers);
                if (!expected) {
                        ck_assert_uint_eq(n_answers, 0);
                        ck_assert(closed);
                }
                /* Who has told all is let go of. */
                if (what == END)
                        ck_assert(closed);
                if (!expected) {
                        ck_assert(x.lost);
                        for (size_t i = 0; i < wishes.n_items; i++)
                                ck_assert_msg(x.n_told[i] == 1 || x.n_identities > 0, "%s, message %d: told %u times",
                                              states[_i].name, what, x.n_told[i]);
                }
                if (!expected && n_told == 0)
                        ck_assert(x.verdicts[0] == VERDICT_FAILED && x.verdicts[1] == VERDICT_FAILED);
                visit_end(&x);
        }
}
END_TEST

static const struct {
        void (*reach)(Visited *x), (*go_on)(Visited *x);
} endless[] = {
        { begun, going_on },
        { begun, sending },
        { begun, guarded },
        { begun, unguarded },
};

/* Each single message is expected; but there is an end to them. */
START_TEST(test_endless) {
        unsigned n = 0, n_answers;
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        endless[_i].reach(&x);
        for (; x.n_ended == 0 && n < 100 * 1000; n++) {
                endless[_i].go_on(&x);
                (void) drain(&n_answers);
        }
        ck_assert_uint_eq(x.n_ended, 1);
        ck_assert(x.lost);
        ck_assert_uint_gt(n, 256 + 200 * wishes.n_items);
        ck_assert(drain(&n_answers));
        visit_end(&x);
}
END_TEST

/* Whether the drive sleeps is passed on, and is no part of what has to be told. */
START_TEST(test_power) {
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        if (_i)
                told_all(&x);
        say(TELLS_POWER);
        hear(&x);
        ck_assert_uint_eq(x.n_powers, 1);
        ck_assert_int_eq(x.power, POWER_STANDBY);
        ck_assert_uint_eq(x.n_ended, 0);
        if (!_i)
                told_all(&x);
        say(END);
        hear(&x);
        ck_assert_int_eq(x.verdicts[0], VERDICT_APPLIED);
        ck_assert_int_eq(x.verdicts[1], VERDICT_UNSUPPORTED);
        ck_assert_uint_eq(x.n_powers, 1);
        visit_end(&x);
        ck_assert(x.end == VISIT_OVER && !x.lost);
}
END_TEST

/* Its first commands are over when it says that it goes on. */
START_TEST(test_settling) {
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        sending(&x);
        ck_assert_uint_eq(x.n_settling, 0);
        for (unsigned i = 1; i <= 3; i++) {
                going_on(&x);
                ck_assert_uint_eq(x.n_settling, i);
        }
        visit_end(&x);
}
END_TEST

/* What is being written is known for as long as that takes. */
START_TEST(test_writing) {
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        ck_assert_uint_eq(x.writing, NO_WISH);
        sending(&x);
        ck_assert_uint_eq(x.writing, 0);
        say(SENDS_NOTHING);
        hear(&x);
        ck_assert_uint_eq(x.writing, NO_WISH);
        visit_end(&x);
}
END_TEST

static WorkerOrder order(void) {
        WorkerOrder o;

        ck_assert_int_eq(recv(worker_fd, &o, sizeof o, MSG_DONTWAIT), sizeof o);
        return o;
}

/* A check is queued, or the machine is to sleep: the worker is told so at once, and once, and what it has not done is deferred; with
 * a check, nothing is said of that. A question is answered all the same. */
START_TEST(test_stop) {
        bool check = _i & 1, intends = _i & 2;
        unsigned n;
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        (void) drain(&n); /* the request */
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
        ck_assert(!drain(&n));
        ck_assert_uint_eq(n, 0);

        say(TELLS_FIRST);
        say(DEFERS_SECOND);
        say(END);
        hear(&x);
        ck_assert_uint_eq(x.n_told[0], 1);
        ck_assert_uint_eq(x.n_told[1], !check);
        visit_end(&x);
        ck_assert_int_eq(x.end, check ? VISIT_INTERRUPTED : VISIT_DEFERRED);
        ck_assert(!x.lost);
}
END_TEST

#define SECOND 1000000ULL

static const struct {
        uint64_t patience_usec;
        unsigned waited; /* s, until the check is over */
        bool deferred;
} patiences[] = {
        { 3 * SECOND, 2, false },
        { 3 * SECOND, 4, true },
        { 3 * SECOND, 400, true },
        { UINT64_MAX, 400, false },
};

/* It waits for a check: that is told at once, and all is deferred when it is for too long, once. It goes on all the same, and then
 * nothing of that wait is left. */
START_TEST(test_patience) {
        Visited x;

        visit_make(&x, TRANSPORT_SATA, false, patiences[_i].patience_usec);
        pid1_says(&x, "systemd-fsck@x.service");
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
                ck_assert_uint_eq(x.n_told[i], patiences[_i].deferred);
                if (patiences[_i].deferred)
                        ck_assert_int_eq(x.verdicts[i], VERDICT_DEFERRED);
        }
        ck_assert_str_eq(x.reason, patiences[_i].deferred ? "still waiting for systemd-fsck@x.service" : "");

        news_fn(news_userdata);
        pid1_says(&x, NULL);
        ck_assert_uint_eq(x.n_ready, 1);
        pass(x.event, 400 * SECOND);
        ck_assert_uint_eq(x.n_deferred, patiences[_i].deferred);
        ck_assert_uint_eq(x.n_ready, 1);
        ck_assert_int_eq(visit_job_work(x.job, false), 0);
        told_all(&x);
        say(END);
        visit_end(&x);
        ck_assert(!x.lost);
        ck_assert_int_eq(x.verdicts[0], VERDICT_APPLIED);
}
END_TEST

/* A worker that says nothing for long: told once, and it takes no place; until it says something, or is told something. */
START_TEST(test_silence) {
        Visited x;

        visit_make(&x, TRANSPORT_SATA, false, UINT64_MAX);
        ck_assert(!visit_job_has_worker(x.job) && !visit_job_is_busy(x.job));
        pid1_says(&x, NULL);
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
                        say(GOES_ON);
                else if (turn == 1) {
                        say(INTENDS);
                        hear(&x);
                        pass(x.event, 15 * SECOND);
                        visit_job_intended(x.job, 0);
                }
                hear(&x);
        }
        visit_end(&x);
}
END_TEST

/* There is no process for it just now: the next try may have one. */
START_TEST(test_no_process) {
        Visited x;

        visit_make(&x, TRANSPORT_SATA, false, UINT64_MAX);
        pid1_says(&x, NULL);
        visit_job_stop(x.job); /* which is for workers */
        broker_error = -EAGAIN;
        ck_assert_int_eq(visit_job_work(x.job, false), -EAGAIN);
        ck_assert(!visit_job_has_worker(x.job) && !visit_job_is_busy(x.job));
        broker_error = 0;
        ck_assert_int_eq(visit_job_work(x.job, false), 0);
        told_all(&x);
        say(END);
        visit_end(&x);
        ck_assert(!x.lost);
        ck_assert_int_eq(x.end, VISIT_OVER);
}
END_TEST

/* The guard's answer to a question that was not asked, or was answered before, is none to the worker. */
START_TEST(test_unasked) {
        unsigned n;
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        (void) drain(&n); /* the request */
        visit_job_intended(x.job, 0);
        ck_assert(!drain(&n));
        ck_assert_uint_eq(n, 0);
        guarded(&x);
        visit_job_intended(x.job, -EIO);
        ck_assert_int_eq(order(), ORDER_GO);
        unguarded(&x);
        ck_assert_int_eq(order(), ORDER_UNGUARDED);
        ck_assert(!drain(&n));
        ck_assert_uint_eq(n, 0);
        visit_end(&x);
}
END_TEST

/* Nothing of a visit that has ended is left waiting for checks. */
START_TEST(test_dies) {
        Visited x;

        visit_begin(&x, TRANSPORT_SATA, false);
        (void) close(worker_fd);
        hear(&x);
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
        tcase_add_loop_test(t, test_endless, 0, ELEMENTSOF(endless));
        tcase_add_loop_test(t, test_power, 0, 2);
        tcase_add_test(t, test_settling);
        tcase_add_test(t, test_writing);
        tcase_add_loop_test(t, test_stop, 0, 4);
        tcase_add_loop_test(t, test_patience, 0, ELEMENTSOF(patiences));
        tcase_add_test(t, test_silence);
        tcase_add_test(t, test_no_process);
        tcase_add_test(t, test_unasked);
        tcase_add_test(t, test_dies);
        suite_add_tcase(s, t);

        return suite_run(s);
}
