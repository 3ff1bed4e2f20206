/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What samples carry: on given ones, and on simulated ones whose truth is known. */

#include <math.h>

#include "statistics.h"
#include "suite.h"

/* ---- given samples ---- */

START_TEST(test_estimate) {
        static const double none[] = {}, one[] = { 7 }, five[] = { 5, 1, 4, 2, 3 }, same[] = { 3, 3, 3, 3, 3, 3 },
                            even[] = { 4, 1, 3, 2 }, missing[] = { 1, NAN, 3, NAN };
        Estimate e;

        e = samples_estimate(none, 0, 0);
        ck_assert(!e.bounded && e.median == 0);
        e = samples_estimate(one, 1, 0);
        ck_assert(!e.bounded && e.median == 7);
        e = samples_estimate(five, 5, 0);
        ck_assert(!e.bounded && e.median == 3);
        e = samples_estimate(even, 4, 0);
        ck_assert_double_eq(e.median, 2.5);
        e = samples_estimate(missing, 4, 0);
        ck_assert(e.n == 2 && !e.bounded && e.median == 2);
        e = samples_estimate(same, 6, 0);
        ck_assert(e.bounded && e.low == 3 && e.median == 3 && e.high == 3);
        /* However often a coarse scale says the same. */
        e = samples_estimate(same, 6, 0.01);
        ck_assert_double_eq_tol(e.low, 2.97, 1e-9);
        ck_assert_double_eq_tol(e.high, 3.03, 1e-9);
}
END_TEST

/* Of 13 samples the median is the seventh. Of those that are drawn with replacement it is below the fourth in 1.6 of 100 cases, as is
 * 1 - 0.9843 above the tenth, which are the first to pass 2.5. The samples read the same from either end: they have no trend. */
START_TEST(test_bounds) {
        static const double samples[] = { 1, 5, 3, 6, 2, 4, 7, 4, 2, 6, 3, 5, 1 };
        Estimate e = samples_estimate(samples, ELEMENTSOF(samples), 0);

        ck_assert_double_eq(e.median, 4);
        ck_assert_double_eq(e.low, 2);
        ck_assert_double_eq(e.high, 5);
}
END_TEST

/* What is measured while it changes is not known any better than that. */
START_TEST(test_trend) {
        double samples[20];
        Estimate e;

        for (size_t i = 0; i < 20; i++)
                samples[i] = 100 + (double) i;
        e = samples_estimate(samples, 20, 0);
        ck_assert_double_eq_tol(e.median, 109.5, 1e-9);
        ck_assert_double_le(e.low, 100);
        ck_assert_double_ge(e.high, 119);

        for (size_t i = 0; i < 20; i++)
                samples[i] = 1 + 0.5 * (double) i;
        ck_assert_double_ge(samples_estimate(samples, 20, 0).low, 0);
}
END_TEST

START_TEST(test_compare) {
        static const double a[] = { 100, 101, 99, 100.5, 99.5, 100, 101, 99 },
                            b[] = { 104, 105, 103, 104.5, 103.5, 104, 105, 103 };
        Difference d;

        ck_assert(!samples_compare(a, 5, b, 8, 0, 1).known);
        ck_assert(!samples_compare(a, 8, b, 5, 0, 1).known);

        d = samples_compare(a, 8, b, 8, 0, 1);
        ck_assert(d.known && d.differs);
        ck_assert_double_eq_tol(d.factor, 1.04, 1e-9);
        ck_assert(d.low > 1.02 && d.low < d.factor && d.high > d.factor && d.high < 1.06);

        d = samples_compare(b, 8, a, 8, 0, 8);
        ck_assert(d.differs && d.high < 1);
        d = samples_compare(a, 8, a, 8, 0, 1);
        ck_assert(d.known && !d.differs && d.factor == 1);
        /* Both might be coarser than they differ. */
        ck_assert(!samples_compare(a, 8, b, 8, 0.02, 1).differs);
}
END_TEST

/* Each is compared with the one beside it. */
START_TEST(test_pairs) {
        double before[20], after[20];
        Difference d;

        /* What both do meanwhile is more than what they differ by. */
        for (size_t i = 0; i < 20; i++) {
                before[i] = 100 + 5 * (double) i + (i % 2 ? 0.5 : -0.5);
                after[i] = before[i] * (i % 3 ? 1.04 : 1.05);
        }
        ck_assert(!samples_compare(before, 20, after, 20, 0, 1).differs);
        d = samples_compare_pairs(before, after, 20, 0, 1);
        ck_assert(d.known && d.differs);
        ck_assert_double_eq_tol(d.factor, 1.04, 1e-9);
        ck_assert(d.low > 1.03 && d.high < 1.06);
        ck_assert_double_eq_tol(d.before, 147.5, 1);
        ck_assert(!samples_compare_pairs(before, after, 20, 0.03, 1).differs);

        /* One that is missing has no other. */
        before[3] = NAN;
        after[7] = NAN;
        after[3] = 1;
        before[7] = 1e9;
        d = samples_compare_pairs(before, after, 20, 0, 1);
        ck_assert(d.known && d.differs && d.low > 1.03 && d.high < 1.06);
        for (size_t i = 0; i < 20; i++)
                before[i] = NAN;
        ck_assert(!samples_compare_pairs(before, after, 20, 0, 1).known);
        ck_assert(!samples_compare_pairs(before, after, 0, 0, 1).known);
}
END_TEST

/* That all of n pairs lie on one side is seen by chance once in 2^(n - 1): more comparisons take more of them. */
START_TEST(test_pairs_needed) {
        static const struct {
                size_t n;
                unsigned n_compared;
                bool known;
        } needed[] = { { 5, 1, false }, { 6, 1, true },  { 6, 2, false }, { 7, 2, true },
                       { 8, 6, true },  { 8, 7, false }, { 9, 12, true }, { 9, 13, false } };
        double before[9], after[9];

        for (size_t i = 0; i < 9; i++) {
                before[i] = 100;
                after[i] = 200;
        }
        ck_assert(samples_compare_pairs(before, after, needed[_i].n, 0, needed[_i].n_compared).known ==
                  needed[_i].known);
}
END_TEST

/* Of both something changes by 30 % while they are measured, and they differ by 3 %. */
START_TEST(test_pairs_drift) {
        double before[24], after[24];
        Difference d;

        for (size_t i = 0; i < 24; i++) {
                before[i] = (100 + 30 * (double) i / 23) * (i % 2 ? 1.002 : 0.998);
                after[i] = before[i] * (i % 3 ? 1.03 : 1.032);
        }
        d = samples_compare(before, 24, after, 24, 0, 1);
        ck_assert(d.known && !d.differs);
        d = samples_compare_pairs(before, after, 24, 0, 1);
        ck_assert(d.differs && d.low > 1.02 && d.high < 1.04);
        ck_assert(samples_compare_pairs(before, after, 24, 0.01, 1).differs);
        ck_assert(!samples_compare_pairs(before, after, 24, 0.015, 1).differs);
        d = samples_compare_pairs(after, before, 24, 0, 1);
        ck_assert(d.differs && d.low > 0.96 && d.high < 0.98);
}
END_TEST

/* On each side it is to be wrong in 2.5 of 100 cases. Of 13 tosses two or fewer are heads in 1.1 of them, and three or fewer in 4.6; with
 * half of these three it is 2.9: the interval begins with the third. With more comparisons it begins further out. The samples read the
 * same from either end: they have no trend. */
START_TEST(test_pairs_bounds) {
        static const double ones[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
                            ratios[] = { 1, 5, 3, 6, 2.5, 4, 9, 4, 2.5, 6, 3, 5, 1 };
        static const struct {
                unsigned n_compared;
                double low, high;
        } bounds[] = { { 1, 2.5, 6 }, { 12, 1, 6 }, { 200, 1, 9 } };
        Difference d = samples_compare_pairs(ones, ratios, 13, 0, bounds[_i].n_compared);

        ck_assert(d.known);
        ck_assert_double_eq(d.factor, 4);
        ck_assert_double_eq(d.low, bounds[_i].low);
        ck_assert_double_eq(d.high, bounds[_i].high);
}
END_TEST

/* ---- simulated samples ---- */

static double uniform(unsigned short state[3], double low, double high) {
        return low + (high - low) * erand48(state);
}

static double normal(unsigned short state[3]) {
        return sqrt(-2 * log(1 - erand48(state))) * cos(2 * M_PI * erand48(state));
}

typedef enum Noise {
        NOISE_LOG_NORMAL,
        NOISE_DRIFT,   /* … and the level moves in a straight line, by up to this much in either direction */
        NOISE_WARM_UP, /* … and the level rises, as much in each run */
        NOISE_BURSTS,  /* … and others use the drive now and then, for some samples */
        NOISE_LEVELS,  /* … and it has two levels, as a disk whose surfaces differ */
} Noise;

typedef struct Shape {
        Noise noise;
        double sigma, amount;
        size_t n;
} Shape;

static void simulate(const Shape *shape, unsigned short state[3], double level, double *ret) {
        double drift = shape->noise == NOISE_DRIFT     ? uniform(state, -shape->amount, shape->amount)
                       : shape->noise == NOISE_WARM_UP ? shape->amount
                                                       : 0;
        unsigned burst = 0;

        for (size_t i = 0; i < shape->n; i++) {
                ret[i] = level * exp(shape->sigma * normal(state)) * (1 + drift * (double) i / (double) shape->n);
                if (shape->noise == NOISE_BURSTS && burst == 0 && erand48(state) < 0.05)
                        burst = 1 + (unsigned) uniform(state, 0, 4);
                if (shape->noise == NOISE_LEVELS && erand48(state) < 0.5)
                        ret[i] *= 1 - shape->amount;
                if (burst > 0) {
                        ret[i] *= uniform(state, 0.4, 0.8);
                        burst--;
                }
        }
}

#define TRUE_ONES 6 /* of the shapes: those whose median is that of their level */
#define RUNS 1000U
#define FIGURES 8U

static const Shape shapes[] = {
        { NOISE_LOG_NORMAL, 0.03, 0, 6 },  { NOISE_LOG_NORMAL, 0.03, 0, 7 }, { NOISE_LOG_NORMAL, 0.03, 0, 8 },
        { NOISE_LOG_NORMAL, 0.03, 0, 18 }, { NOISE_LOG_NORMAL, 0.2, 0, 30 }, { NOISE_WARM_UP, 0.03, 0.1, 18 },
        { NOISE_BURSTS, 0.03, 0, 18 },     { NOISE_BURSTS, 0.1, 0, 30 },     { NOISE_LEVELS, 0.004, 0.1, 20 },
        { NOISE_DRIFT, 0.03, 0.05, 18 },   { NOISE_DRIFT, 0.03, 0.15, 18 },  { NOISE_DRIFT, 0.03, 0.3, 30 },
};

/* How many of so many runs, of eight figures each, call a difference in any figure; and how many figures do. */
static void count_calls(const Shape *shape, double factor, unsigned *ret_runs, unsigned *ret_figures) {
        unsigned short state[3] = { 1, 2, 3 };
        double before[32], after[32];

        *ret_runs = *ret_figures = 0;
        for (unsigned run = 0; run < RUNS; run++) {
                unsigned called = 0;

                for (unsigned figure = 0; figure < FIGURES; figure++) {
                        simulate(shape, state, 1, before);
                        simulate(shape, state, factor, after);
                        called += samples_compare(before, shape->n, after, shape->n, 0, FIGURES).differs;
                }
                *ret_runs += called > 0;
                *ret_figures += called;
        }
}

/* Two measurements of the same: of a hundred such pairs no more than five are to call any difference. Where each measurement drifts for
 * itself that is held for each figure, as a level that has moved before the first sample is not seen in any. */
START_TEST(test_no_difference) {
        unsigned runs, figures;

        count_calls(shapes + _i, 1, &runs, &figures);
        if (shapes[_i].noise == NOISE_DRIFT)
                ck_assert_uint_le(figures, RUNS * FIGURES / 20);
        else
                ck_assert_uint_le(runs, RUNS / 20);
}
END_TEST

/* What calls none at all would pass, too. */
START_TEST(test_difference) {
        static const Shape quiet = { NOISE_LOG_NORMAL, 0.01, 0, 24 };
        unsigned runs, figures;

        count_calls(&quiet, 1.03, &runs, &figures);
        ck_assert_uint_ge(figures, RUNS * FIGURES * 95 / 100);
}
END_TEST

/* The interval has the truth in 95 of 100. Of a level that moves, or of two, there is no one truth; bursts move the median. */
START_TEST(test_coverage) {
        unsigned short state[3] = { 3, 2, 1 };
        double samples[32];
        unsigned hits = 0;

        for (unsigned run = 0; run < RUNS; run++) {
                double middle = shapes[_i].noise == NOISE_WARM_UP ? 100 * (1 + shapes[_i].amount / 2) : 100;
                Estimate e;

                simulate(shapes + _i, state, 100, samples);
                e = samples_estimate(samples, shapes[_i].n, 0);
                hits += e.low <= middle && e.high >= middle;
        }
        ck_assert_uint_ge(hits, RUNS * 95 / 100);
}
END_TEST

/* Of samples that are taken in turns, what others do and what changes meanwhile is in both. */
static void simulate_pairs(const Shape *shape, unsigned short state[3], double factor, double *before, double *after) {
        Shape both = *shape, own = *shape;
        double common[32];

        both.sigma = 0;
        if (shape->noise == NOISE_LEVELS)
                both.noise = NOISE_LOG_NORMAL;
        else
                own.noise = NOISE_LOG_NORMAL;
        simulate(&both, state, 1, common);
        simulate(&own, state, 1, before);
        simulate(&own, state, factor, after);
        for (size_t i = 0; i < shape->n; i++) {
                before[i] *= common[i];
                after[i] *= common[i];
        }
}

/* How many of so many runs call a difference in any comparison. */
static unsigned count_pair_calls(const Shape *shape, int seed, double factor, unsigned n_compared) {
        unsigned short state[3] = { (unsigned short) seed, (unsigned short) shape->n, (unsigned short) n_compared };
        double before[32], after[32];
        unsigned runs = 0;

        for (unsigned run = 0; run < RUNS; run++) {
                bool called = false;

                for (unsigned i = 0; i < n_compared; i++) {
                        simulate_pairs(shape, state, factor, before, after);
                        called |= samples_compare_pairs(before, after, shape->n, 0, n_compared).differs;
                }
                runs += called;
        }
        return runs;
}

static const Shape pair_shapes[] = {
        { NOISE_LOG_NORMAL, 0.01, 0, 0 }, { NOISE_LOG_NORMAL, 0.2, 0, 0 }, { NOISE_WARM_UP, 0.03, 0.1, 0 },
        { NOISE_BURSTS, 0.03, 0, 0 },     { NOISE_LEVELS, 0.004, 0.1, 0 }, { NOISE_DRIFT, 0.03, 0.3, 0 },
};

/* With as few pairs as that many comparisons take, too: that is where drivekeep tune can end. */
START_TEST(test_pairs_no_difference) {
        static const struct {
                size_t n;
                unsigned n_compared;
        } sizes[] = { { 6, 1 }, { 7, 1 }, { 9, 6 }, { 9, 12 }, { 10, 12 }, { 30, 1 } };

        for (size_t i = 0; i < ELEMENTSOF(sizes); i++) {
                Shape shape = pair_shapes[_i];
                unsigned runs;

                shape.n = sizes[i].n;
                runs = count_pair_calls(&shape, _i, 1, sizes[i].n_compared);
                ck_assert_msg(runs <= RUNS / 20, "%zu pairs, %u comparisons: called in %u runs", sizes[i].n,
                              sizes[i].n_compared, runs);
        }
}
END_TEST

/* … and what differs is called, though both drift by ten times as much. */
START_TEST(test_pairs_difference) {
        static const Shape drifting = { NOISE_DRIFT, 0.01, 0.3, 24 };

        ck_assert_uint_ge(count_pair_calls(&drifting, 0, 1.03, 1), RUNS * 95 / 100);
}
END_TEST

int main(void) {
        Suite *s = suite_create("statistics");
        TCase *c = tcase_create("statistics");

        tcase_add_test(c, test_estimate);
        tcase_add_test(c, test_bounds);
        tcase_add_test(c, test_trend);
        tcase_add_test(c, test_compare);
        tcase_add_test(c, test_pairs);
        tcase_add_loop_test(c, test_pairs_needed, 0, 8);
        tcase_add_test(c, test_pairs_drift);
        tcase_add_loop_test(c, test_pairs_bounds, 0, 3);
        tcase_add_loop_test(c, test_no_difference, 0, ELEMENTSOF(shapes));
        tcase_add_test(c, test_difference);
        tcase_add_loop_test(c, test_coverage, 0, TRUE_ONES);
        tcase_add_loop_test(c, test_pairs_no_difference, 0, ELEMENTSOF(pair_shapes));
        tcase_add_test(c, test_pairs_difference);
        suite_add_tcase(s, c);
        return suite_run(s);
}
