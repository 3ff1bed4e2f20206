/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which value is picked: of given samples, and of simulated ones whose truth is known. */

#include <math.h>

#include "pick.h"
#include "suite.h"

#define VALUES 7U
#define ROUNDS 40U

static double goals[VALUES][ROUNDS], costs[VALUES][ROUNDS];
static Trial trials[VALUES];

static Contest contest(size_t n_trials, size_t n_rounds, size_t current, bool ordered, bool with_costs) {
        for (size_t i = 0; i < n_trials; i++)
                trials[i] = (Trial){ goals[i], with_costs ? costs[i] : NULL };
        return (Contest){ .trials = trials,
                          .n_trials = n_trials,
                          .ordered = ordered,
                          .n_rounds = n_rounds,
                          .current = current,
                          .cost.less_is_better = true };
}

/* ---- given samples ---- */

/* About this level, and in each round a little more or less than in the one before. */
static void fill(double *samples, size_t n, double level) {
        static const double spread[] = { 1, 1.01, 0.99, 1.005, 0.995, 1, 1.008, 0.992 };

        for (size_t i = 0; i < n; i++)
                samples[i] = level * spread[(i + (size_t) level) % ELEMENTSOF(spread)];
}

static const struct {
        const char *name;
        double goals[4], costs[4]; /* levels; 0: no sample */
        size_t current;
        bool ordered, less;
        PickReason reason;
        size_t index;
} cases[] = {
        { "all the same", { 100, 100, 100, 100 }, { 10, 10, 10, 10 }, 1, true, false, PICK_CURRENT, 1 },
        { "the knee", { 50, 80, 100, 100 }, { 10, 10, 10, 10 }, 0, true, false, PICK_BETTER, 2 },
        { "without an order it is the best",
          { 50, 80, 100, 120 },
          { 10, 10, 10, 10 },
          0,
          false,
          false,
          PICK_BETTER,
          3 },
        { "the best is there", { 50, 80, 120, 100 }, { 10, 10, 10, 10 }, 2, false, false, PICK_CURRENT, 2 },
        { "as good, and cheaper", { 50, 100, 100, 100 }, { 10, 11, 12, 20 }, 3, true, false, PICK_CHEAPER, 1 },
        { "cheaper, and worse", { 50, 80, 90, 100 }, { 10, 11, 12, 20 }, 3, true, false, PICK_CURRENT, 3 },
        { "better, and dearer", { 50, 80, 90, 100 }, { 10, 11, 12, 20 }, 1, true, false, PICK_BETTER, 3 },
        { "less is better", { 50, 80, 90, 100 }, { 10, 10, 10, 10 }, 2, false, true, PICK_BETTER, 0 },
        { "less is better, in order", { 100, 50, 50, 80 }, { 10, 10, 10, 10 }, 3, true, true, PICK_BETTER, 1 },
        { "one was not measured", { 50, 0, 100, 100 }, { 10, 0, 10, 10 }, 0, true, false, PICK_BETTER, 2 },
        { "the present one was not", { 0, 80, 100, 100 }, { 0, 10, 10, 10 }, 0, true, false, PICK_UNKNOWN, 0 },
        { "none was", {}, {}, 2, true, false, PICK_UNKNOWN, 2 },
};

START_TEST(test_case) {
        Contest c = contest(4, 24, cases[_i].current, cases[_i].ordered, true);
        Pick p;

        c.goal.less_is_better = cases[_i].less;
        for (size_t i = 0; i < 4; i++) {
                fill(goals[i], 24, cases[_i].goals[i] ?: NAN);
                fill(costs[i], 24, cases[_i].costs[i] ?: NAN);
        }
        p = contest_decide(&c);
        ck_assert_msg(p.reason == cases[_i].reason && p.index == cases[_i].index, "%s: %d, %zu", cases[_i].name,
                      p.reason, p.index);
        ck_assert(p.goal.differs == (p.reason == PICK_BETTER));
}
END_TEST

/* Too few, for so many comparisons. */
START_TEST(test_rounds) {
        static const struct {
                size_t n_trials, n_rounds;
                bool with_costs;
                PickReason reason;
        } rounds[] = {
                { 2, 6, false, PICK_BETTER },   { 2, 5, false, PICK_UNKNOWN }, { 2, 6, true, PICK_UNKNOWN },
                { 2, 7, true, PICK_BETTER },    { 7, 9, true, PICK_BETTER },   { 7, 8, true, PICK_UNKNOWN },
                { 1, 24, false, PICK_UNKNOWN },
        };
        Contest c = contest(rounds[_i].n_trials, rounds[_i].n_rounds, 0, false, rounds[_i].with_costs);

        for (size_t i = 0; i < VALUES; i++) {
                fill(goals[i], ROUNDS, i == 1 ? 150 : 100);
                fill(costs[i], ROUNDS, 10);
        }
        ck_assert_int_eq(contest_decide(&c).reason, rounds[_i].reason);
}
END_TEST

/* The smallest is so unsteady that it may be as good as the best, but not shown to be better than the present one. */
START_TEST(test_above_the_knee) {
        static const double levels[] = { 120, 100, 120, 120 };
        Contest c = contest(4, 24, 1, true, false);
        Pick p;

        for (size_t i = 0; i < 4; i++)
                fill(goals[i], 24, levels[i]);
        for (size_t round = 0; round < 24; round++)
                goals[0][round] *= round / 2 % 2 ? 1.5 : 0.5;
        p = contest_decide(&c);
        ck_assert(p.reason == PICK_BETTER && p.index == 2);
        ck_assert(p.goal.differs && p.goal.low > 1.15 && p.goal.high < 1.25);
}
END_TEST

/* It is cheaper, but was never measured in the same round as the present one: nobody knows that it is as good. */
START_TEST(test_never_beside) {
        Contest c = contest(3, 24, 2, true, true);
        Pick p;

        for (size_t i = 0; i < 3; i++) {
                fill(goals[i], 24, 100);
                fill(costs[i], 24, i == 0 ? 5 : 10);
        }
        for (size_t round = 0; round < 24; round++)
                goals[round < 6 ? 2 : 0][round] = NAN;
        p = contest_decide(&c);
        ck_assert(p.reason == PICK_CURRENT && p.index == 2);
}
END_TEST

/* ---- simulated samples ---- */

static double normal(unsigned short state[3]) {
        return sqrt(-2 * log(1 - erand48(state))) * cos(2 * M_PI * erand48(state));
}

/* What changes in all values' samples alike, as they are taken in turns; or in single ones. */
static const struct {
        double sigma, drift, foreign, bursts;
        bool levels;
} shapes[] = {
        { .sigma = 0.01 },
        { .sigma = 0.03 },
        { .sigma = 0.01, .drift = 0.2 }, /* by so much from the first sample to the last, up or down */
        { .sigma = 0.03, .drift = 0.2 },
        { .sigma = 0.01, .foreign = 0.05 }, /* so many are half as fast, as others used the drive unseen */
        { .sigma = 0.03, .bursts = 0.05 },  /* … about as many, but some in a row, whichever values they are of */
        { .sigma = 0.01, .levels = true },  /* every other one is slower by 4 % */
};

static void simulate(size_t shape, unsigned short state[3], double (*ret)[ROUNDS], const double *levels, size_t n,
                     size_t n_rounds) {
        double drift = shapes[shape].drift * (2 * erand48(state) - 1);
        unsigned burst = 0;

        for (size_t k = 0; k < n * n_rounds; k++) {
                size_t round = k / n, i = round % 2 ? n - 1 - k % n : k % n; /* forth and back, as tune_run() does */

                /* They last two samples and a half. */
                if (burst == 0 && erand48(state) < shapes[shape].bursts / 2.5)
                        burst = 1 + (unsigned) (4 * erand48(state));
                ret[i][round] = levels[i] * exp(shapes[shape].sigma * normal(state)) *
                                (1 + drift * (double) k / (double) (n * n_rounds)) *
                                (burst > 0 || erand48(state) < shapes[shape].foreign ? 0.5 : 1) *
                                (shapes[shape].levels && erand48(state) < 0.5 ? 0.96 : 1);
                burst -= burst > 0;
        }
}

#define BURSTS 5 /* of the shapes: the worst one */
#define RUNS 1000U

/* Nothing is better: the setting stays as it is. With nine rounds as many differences can be known for the first time. */
START_TEST(test_all_the_same) {
        static const double same[VALUES] = { 100, 100, 100, 100, 100, 100, 100 };
        static const size_t rounds[] = { 9, 12 };

        for (size_t i = 0; i < ELEMENTSOF(rounds); i++) {
                unsigned short state[3] = { 1, (unsigned short) (2 + i), (unsigned short) _i };
                Contest c = contest(VALUES, rounds[i], 2, true, true);
                unsigned n_changed = 0;

                for (unsigned run = 0; run < RUNS; run++) {
                        simulate((size_t) _i, state, goals, same, VALUES, rounds[i]);
                        simulate((size_t) _i, state, costs, same, VALUES, rounds[i]);
                        n_changed += contest_decide(&c).index != 2;
                }
                ck_assert_msg(n_changed <= RUNS / 20, "%zu rounds: another one was picked in %u runs", rounds[i],
                              n_changed);
        }
}
END_TEST

/* More of it is better up to the fourth value. */
static void check_knee(size_t shape, const double *levels, const double *prices, size_t n_rounds) {
        unsigned short state[3] = { 3, (unsigned short) n_rounds, (unsigned short) shape };
        Contest c = contest(VALUES, n_rounds, 1, true, true);
        unsigned n_near = 0;

        for (unsigned run = 0; run < RUNS; run++) {
                size_t index;

                simulate(shape, state, goals, levels, VALUES, n_rounds);
                simulate(shape, state, costs, prices, VALUES, n_rounds);
                index = contest_decide(&c).index;
                n_near += index >= 2 && index <= 4;
        }
        ck_assert_msg(n_near >= RUNS * 95 / 100, "%zu rounds: within a step of the knee in %u runs only", n_rounds,
                      n_near);
}

static const double gentle[VALUES] = { 40, 57, 80, 100, 100, 100, 100 },
                    steep[VALUES] = { 12.5, 25, 50, 100, 100, 100, 100 }, flat[VALUES] = { 10, 10, 10, 10, 10, 10, 10 },
                    rising[VALUES] = { 10, 10, 11, 12, 14, 18, 26 };

START_TEST(test_knee) {
        check_knee((size_t) _i, gentle, rising, 12);
}
END_TEST

/* With more samples less is seen: what is as good is not to be told from the knee for that. */
START_TEST(test_knee_steep) {
        check_knee((size_t) _i, steep, flat, 12);
        check_knee((size_t) _i, steep, rising, 30);
}
END_TEST

/* Less costs less, but is worse by 6 % or more. */
START_TEST(test_worse) {
        static const double levels[VALUES] = { 40, 50, 60, 70, 80, 94, 100 };
        unsigned short state[3] = { 7, 8, (unsigned short) _i };
        Contest c = contest(VALUES, 12, 6, true, true);
        unsigned n_changed = 0;

        for (unsigned run = 0; run < RUNS; run++) {
                simulate((size_t) _i, state, goals, levels, VALUES, 12);
                simulate((size_t) _i, state, costs, rising, VALUES, 12);
                n_changed += contest_decide(&c).index != 6;
        }
        ck_assert_msg(n_changed <= RUNS / 20, "a worse one was picked in %u runs", n_changed);
}
END_TEST

/* Of four without an order one is better by 10 %. */
START_TEST(test_best) {
        static const double levels[] = { 100, 99, 110, 98 };
        unsigned short state[3] = { 5, 6, (unsigned short) _i };
        Contest c = contest(4, 20, 0, false, false);
        unsigned n_found = 0;

        for (unsigned run = 0; run < RUNS; run++) {
                simulate((size_t) _i, state, goals, levels, 4, 20);
                n_found += contest_decide(&c).index == 2;
        }
        ck_assert_msg(n_found >= RUNS * 95 / 100, "found in %u runs only", n_found);
}
END_TEST

int main(void) {
        Suite *s = suite_create("pick");
        TCase *c = tcase_create("pick");

        tcase_add_loop_test(c, test_case, 0, ELEMENTSOF(cases));
        tcase_add_loop_test(c, test_rounds, 0, 7);
        tcase_add_test(c, test_above_the_knee);
        tcase_add_test(c, test_never_beside);
        tcase_add_loop_test(c, test_all_the_same, 0, ELEMENTSOF(shapes));
        tcase_add_loop_test(c, test_knee, 0, ELEMENTSOF(shapes));
        tcase_add_loop_test(c, test_knee_steep, BURSTS, BURSTS + 1);
        tcase_add_loop_test(c, test_worse, 0, 3);
        tcase_add_loop_test(c, test_best, 0, ELEMENTSOF(shapes));
        suite_add_tcase(s, c);
        return suite_run(s);
}
