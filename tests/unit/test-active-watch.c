/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The times at which the tracer watches an active drive. */

#include "active-watch.h"
#include "suite.h"

#define PATIENCE (100ULL * 1000 * 1000)
#define S(n) ((n) *1000000ULL)
#define HOUR S(3600)

static ActiveWatch watch;

static void setup(void) {
        watch = (ActiveWatch){};
}

static ActiveStep active(unsigned events, uint64_t now) {
        return active_watch_power(&watch, events, POWER_ACTIVE, PATIENCE, now);
}

#define IO (POWER_NEWS_IO | POWER_NEWS_COUNTED)

/* Polls see I/O every 90 s, from `from` on; returns the time at which the tracer should begin. */
static uint64_t busy(uint64_t from, uint64_t until) {
        for (uint64_t now = from; now <= until; now += S(90)) {
                ActiveStep step = active(IO, now);

                if (step == ACTIVE_BEGIN)
                        return now;
                ck_assert_int_eq(step, ACTIVE_NOTHING);
        }
        return 0;
}

/* A drive that always has I/O is watched after four times the patience, for twice the patience, and again after growing pauses. */
START_TEST(test_always_io) {
        uint64_t now = busy(S(10), HOUR), pause = 8 * PATIENCE;

        ck_assert_uint_eq(now, S(460));
        for (unsigned i = 0; i < 12; i++) {
                uint64_t begun = now;

                active_watch_begun(&watch, PATIENCE, begun);
                ck_assert_uint_eq(active_watch_due(&watch), begun + 2 * PATIENCE);
                ck_assert_uint_eq(busy(begun, begun + S(199)), 0);
                ck_assert_int_eq(active_watch_tick(&watch, begun + S(199)), ACTIVE_NOTHING);
                ck_assert_int_eq(active_watch_tick(&watch, begun + S(200)), ACTIVE_REPORT);
                ck_assert_uint_eq(active_watch_due(&watch), UINT64_MAX);
                ck_assert_int_eq(active_watch_tick(&watch, begun + HOUR), ACTIVE_NOTHING);
                active_watch_ended(&watch, true, PATIENCE, begun + S(200));
                /* I/O is polled in any case, so that no timer is needed. */
                ck_assert_uint_eq(active_watch_due(&watch), UINT64_MAX);
                now = busy(begun + S(200), begun + 100 * 24 * HOUR);
                ck_assert_uint_ge(now - begun - S(200), pause);
                ck_assert_uint_lt(now - begun - S(200), pause + S(90));
                pause = MIN(2 * pause, 24 * HOUR);
        }
        ck_assert_uint_eq(pause, 24 * HOUR);
}
END_TEST

/* A drive that is put into standby in time, by its own timer or by the service, is never watched. */
START_TEST(test_sleeps) {
        for (unsigned by_service = 0; by_service < 2; by_service++)
                for (uint64_t day = 0; day < 100; day++) {
                        ck_assert_uint_eq(busy(day * HOUR, day * HOUR + 4 * PATIENCE - S(90)), 0);
                        if (by_service)
                                ck_assert_int_eq(active(POWER_NEWS_IDLE, day * HOUR + S(420)), ACTIVE_NOTHING);
                        else {
                                ck_assert_int_eq(active(POWER_NEWS_PROBE, day * HOUR + S(420)), ACTIVE_NOTHING);
                                ck_assert_int_eq(active_watch_power(&watch, POWER_NEWS_TRACE, POWER_STANDBY, PATIENCE,
                                                                    day * HOUR + S(421)),
                                                 ACTIVE_NOTHING);
                        }
                        ck_assert_uint_eq(active_watch_due(&watch), UINT64_MAX);
                }
}
END_TEST

/* A time without I/O that ends before the probe begins a new count of four times the patience. */
START_TEST(test_probe_restarts) {
        ck_assert_uint_eq(busy(0, S(360)), 0);
        ck_assert_int_eq(active(POWER_NEWS_PROBE, S(400)), ACTIVE_NOTHING);
        ck_assert_uint_eq(busy(S(410), S(800)), 0);
        ck_assert_uint_eq(busy(S(810), HOUR), S(810));
}
END_TEST

/* A drive that is active without I/O is watched at once. If programs were found, it is watched again after the pause, without I/O. */
START_TEST(test_still_active) {
        ck_assert_int_eq(active(POWER_NEWS_COUNTED, 0), ACTIVE_NOTHING);
        ck_assert_int_eq(active(POWER_NEWS_PROBE, S(100)), ACTIVE_NOTHING);
        ck_assert_int_eq(active(POWER_NEWS_STILL_ACTIVE, S(101)), ACTIVE_BEGIN);
        active_watch_begun(&watch, PATIENCE, S(101));
        ck_assert_int_eq(active(POWER_NEWS_STILL_ACTIVE, S(200)), ACTIVE_NOTHING);
        ck_assert_int_eq(active_watch_tick(&watch, S(301)), ACTIVE_REPORT);
        active_watch_ended(&watch, true, PATIENCE, S(301));
        ck_assert_uint_eq(active_watch_due(&watch), S(1101));
        ck_assert_int_eq(active_watch_tick(&watch, S(1100)), ACTIVE_NOTHING);
        ck_assert_int_eq(active_watch_tick(&watch, S(1101)), ACTIVE_BEGIN);

        /* No program was found, so the drive ignores its timer: waits for the next probe after the pause. */
        active_watch_begun(&watch, PATIENCE, S(1101));
        active_watch_ended(&watch, false, PATIENCE, S(1301));
        ck_assert_uint_eq(active_watch_due(&watch), UINT64_MAX);
        ck_assert_int_eq(active(POWER_NEWS_STILL_ACTIVE, S(2900)), ACTIVE_NOTHING);
        ck_assert_int_eq(active(POWER_NEWS_STILL_ACTIVE, S(2901)), ACTIVE_BEGIN);
}
END_TEST

/* Standby ends the watch, and the next watch begins without a pause. */
START_TEST(test_standby_meanwhile) {
        const PowerMode modes[] = { POWER_STANDBY, POWER_SUSPENDED, POWER_ACTIVE };

        ck_assert_int_eq(active(POWER_NEWS_STILL_ACTIVE, S(1)), ACTIVE_BEGIN);
        active_watch_begun(&watch, PATIENCE, S(1));
        active_watch_ended(&watch, true, PATIENCE, S(200));
        ck_assert_int_eq(active_watch_tick(&watch, S(1000)), ACTIVE_BEGIN);
        active_watch_begun(&watch, PATIENCE, S(1000));
        ck_assert_int_eq(active_watch_power(&watch, modes[_i] == POWER_ACTIVE ? POWER_NEWS_IDLE : POWER_NEWS_MODE,
                                            modes[_i], PATIENCE, S(1001)),
                         ACTIVE_DROP);
        ck_assert_uint_eq(active_watch_due(&watch), UINT64_MAX);
        ck_assert_int_eq(active(POWER_NEWS_STILL_ACTIVE, S(1002)), ACTIVE_BEGIN);
}
END_TEST

/* A long spin-down time does not keep the tracer running for more than an hour. */
START_TEST(test_longest) {
        active_watch_begun(&watch, 5 * HOUR, S(1));
        ck_assert_uint_eq(active_watch_due(&watch), HOUR + S(1));
        active_watch_ended(&watch, true, 5 * HOUR, HOUR);
        ck_assert_uint_eq(watch.again_at, 25 * HOUR);
}
END_TEST

int main(void) {
        Suite *s = suite_create("active-watch");
        TCase *t = tcase_create("active-watch");

        tcase_add_checked_fixture(t, setup, NULL);
        tcase_add_test(t, test_always_io);
        tcase_add_test(t, test_sleeps);
        tcase_add_test(t, test_probe_restarts);
        tcase_add_test(t, test_still_active);
        tcase_add_loop_test(t, test_standby_meanwhile, 0, 3);
        tcase_add_test(t, test_longest);
        suite_add_tcase(s, t);
        return suite_run(s);
}
