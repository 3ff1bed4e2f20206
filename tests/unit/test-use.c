/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the statistics of times without I/O, the predictions for each possible standby timer, and the wear rates. */

#include <math.h>

#include "macro.h"
#include "suite.h"
#include "use.h"

#define MINUTE (60ULL * 1000 * 1000)
#define DAY (24 * 60 * MINUTE)
#define NOW UINT64_C(1763692751123456)

/* ---- times without I/O ---- */

static const struct {
        uint64_t least, most; /* bounds of the length of one period without I/O, in minutes */
        unsigned timer;
        double longer, standby; /* expected prediction for one day: number of spin-ups; minutes in standby */
} gaps[] = {
        { 0, 0, 1, 0, 0 },
        { 7, 7, 5, 1, 2 },
        { 7, 7, 10, 0, 0 },
        { 10, 10, 10, 1, 0 },
        { 9, 11, 10, 0.5, 0.25 },
        { 8, 12, 5, 1, 5 },
        { 0, 60, 30, 0.5, 7.5 },
        { 0, 60, 60, 0, 0 },
        { 2000, 2000, 1440, 1, 560 },
        { 100000, 100000, 1, 1, 99999 },
};

START_TEST(test_gap) {
        DriveUse u = { .watched = 86400 };
        UsePrediction p;

        drive_use_gap(&u, gaps[_i].least * MINUTE, gaps[_i].most * MINUTE);
        ck_assert(drive_use_predict(&u, gaps[_i].timer, &p));
        ck_assert_double_eq_tol(p.spin_ups_per_day, gaps[_i].longer, 0.002);
        ck_assert_double_eq_tol(p.hours_standby_per_day * 60, gaps[_i].standby, 0.1);
}
END_TEST

/* No prediction is made after less than a day, for an unknown timer, or for a timer below `known_from`. Times without I/O
 * that are shorter than `known_from` may have been missed. */
START_TEST(test_unknown) {
        DriveUse u = { .watched = 86399 };
        UsePrediction p;

        drive_use_gap(&u, 60 * MINUTE, 60 * MINUTE);
        ck_assert(!drive_use_predict(&u, 30, &p));
        u.watched = 2 * 86400;
        ck_assert(drive_use_predict(&u, 30, &p));
        ck_assert_double_eq_tol(p.spin_ups_per_day, 0.5, 0.001);
        ck_assert_double_eq_tol(p.hours_standby_per_day, 0.25, 0.001);
        u.known_from = 45 * 60;
        ck_assert(!drive_use_predict(&u, 30, &p));
        ck_assert(drive_use_predict(&u, 45, &p));
        ck_assert(!drive_use_predict(&u, 50, &p));
        ck_assert(!drive_use_predict(&u, 2000, &p));
}
END_TEST

/* ---- another timer ---- */

START_TEST(test_begin) {
        DriveUse u = {};
        Wear w = { .load_cycles = { true, 7 } };

        ck_assert_int_eq(drive_use_begin(&u, "20 min", "drive 20", NOW), 0);
        drive_use_gap(&u, 60 * MINUTE, 60 * MINUTE);
        u.spin_ups = u.standby = u.watched = 5;
        u.warned = true;
        drive_use_wear(&u, &w, NOW + DAY);
        ck_assert_int_eq(drive_use_begin(&u, "30 min", "drive 30", NOW + 2 * DAY), 0);
        ck_assert_str_eq(u.setting, "30 min");
        ck_assert_str_eq(u.key, "drive 30");
        ck_assert_uint_eq(u.since, NOW + 2 * DAY);
        ck_assert(u.spin_ups == 0 && u.standby == 0 && u.watched == 0 && u.gaps[9] == 0 && !u.warned);
        /* The last wear reading of the old period becomes the first wear reading of the new period. */
        ck_assert(u.first_wear_when == NOW + DAY && u.first_wear.load_cycles.number == 7);
        drive_use_done(&u);
}
END_TEST

/* ---- wear ---- */

#define N(n) \
        { true, n }

static const struct {
        WearKind kind;
        Wear first, last;
        uint64_t days;
        bool known, assumed;
        double per_day, years;
} rates[] = {
        { WEAR_LOAD_CYCLES, { N(1000) }, { N(1000 + 365250) }, 3653, true, true, 99.986, 6.40 },
        { WEAR_LOAD_CYCLES, { N(0) }, { N(1000) }, 1, true, true, 1000, 1.64 },
        { WEAR_LOAD_CYCLES, { N(0) }, { N(1000), .rated_load_cycles = N(2000) }, 1, true, false, 1000, 0.0027 },
        { WEAR_LOAD_CYCLES, { N(5) }, { N(5) }, 10, true, true, 0, INFINITY },
        { WEAR_LOAD_CYCLES, { N(1239990) }, { N(1239994) }, 2, true, true, 2, 0 },
        { WEAR_START_STOPS,
          { .start_stops = N(0) },
          { .start_stops = N(10), .rated_start_stops = N(50000) },
          1,
          true,
          false,
          10,
          13.69 },
        /* If the last reading has no rated number of start-stops, the rate is not known. */
        { WEAR_START_STOPS, { .start_stops = N(0) }, { .start_stops = N(10) }, 1, .known = false },
        { WEAR_LOAD_CYCLES, { N(0) }, { N(1000) }, 0, .known = false },
        { WEAR_LOAD_CYCLES, { N(1000) }, { N(0) }, 1, .known = false },
        { WEAR_LOAD_CYCLES, {}, { N(0) }, 1, .known = false },
        { WEAR_LOAD_CYCLES, { N(0) }, {}, 1, .known = false },
        { WEAR_LOAD_CYCLES, { N(INT64_MIN) }, { N(INT64_MAX) }, 1, .known = false },
};

START_TEST(test_wear) {
        DriveUse u = {};
        WearRate r;

        drive_use_wear(&u, &rates[_i].first, NOW);
        drive_use_wear(&u, &rates[_i].last, NOW + rates[_i].days * DAY);
        ck_assert(drive_use_wear_rate(&u, rates[_i].kind, &r) == rates[_i].known);
        if (!rates[_i].known)
                return;
        ck_assert(r.assumed == rates[_i].assumed);
        ck_assert_double_eq_tol(r.per_day, rates[_i].per_day, 0.001);
        if (isinf(rates[_i].years))
                ck_assert(isinf(r.years));
        else
                ck_assert_double_eq_tol(r.years, rates[_i].years, 0.01);
}
END_TEST

START_TEST(test_clock_set_back) {
        DriveUse u = {};
        WearRate r;

        drive_use_wear(&u, &(Wear){ .load_cycles = N(0) }, NOW);
        drive_use_wear(&u, &(Wear){ .load_cycles = N(1000) }, NOW - 2 * DAY);
        ck_assert(!drive_use_wear_rate(&u, WEAR_LOAD_CYCLES, &r));
        ck_assert_str_eq(wear_kind_to_string(WEAR_LOAD_CYCLES), "load cycles");
        ck_assert_str_eq(wear_kind_to_string(WEAR_START_STOPS), "spindle starts");
}
END_TEST

int main(void) {
        Suite *suite = suite_create("use");
        TCase *t = tcase_create("use");

        tcase_add_loop_test(t, test_gap, 0, ELEMENTSOF(gaps));
        tcase_add_test(t, test_unknown);
        tcase_add_test(t, test_begin);
        tcase_add_loop_test(t, test_wear, 0, ELEMENTSOF(rates));
        tcase_add_test(t, test_clock_set_back);
        suite_add_tcase(suite, t);
        return suite_run(suite);
}
