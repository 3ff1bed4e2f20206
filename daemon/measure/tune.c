/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <math.h>

#include "clock.h"
#include "must.h"
#include "stop.h"
#include "tune.h"

#define NARROW 0.03 /* an interval of this part of its median is narrow enough */
#define BUSY_ROUNDS 2U
#define STEPS (UINT64_C(1) << 20)

#define SECOND UINT64_C(1000000) /* µs */

#define SLOW 3 /* times what is usual; where a disk has to seek to makes less of a difference */
#define IDLE_ROUNDS 2U
#define CURVE_ROUNDS_MAX 4U /* each time without use may wear the drive */
#define TURN_EXTRA 3U       /* s, for setting a value */

const unsigned idle_times[] = { 1, 2, 5, 10, 20, 30, 60, 120, 300, 0 };

size_t idle_times_fit(uint64_t budget, size_t n_values, unsigned wake) {
        uint64_t seconds = budget / SECOND / IDLE_ROUNDS / n_values, turn = TURN_EXTRA;
        size_t n = 0;

        while (idle_times[n] > 0 && (turn += idle_times[n] + wake) <= seconds)
                n++;
        return MAX(n, 1U);
}

static void trial_done(Tune *x, size_t i) {
        free(x->trials[i].goal);
        free(x->trials[i].cost);
        for (size_t k = 0; k < x->n_idle; k++)
                measured_done(x->curves[i].after + k);
        if (x->curves)
                free(x->curves[i].after);
}

void tune_done(Tune *x) {
        for (size_t i = 0; i < x->n_trials; i++)
                trial_done(x, i);
        free(x->trials);
        free(x->curves);
        free(x->values);
        free(x->complaint);
        *x = (Tune){};
}

static void tune_begin(const TuneTask *t, Tune *x) {
        *x = (Tune){ .n_trials = t->n_values, .n_idle = t->n_idle };
        x->trials = must(calloc(t->n_values, sizeof *x->trials));
        x->values = must(calloc(t->n_values, sizeof *x->values));
        for (size_t i = 0; i < t->n_values; i++)
                x->values[i] = i;
        if (t->n_idle == 0)
                return;

        x->curves = must(calloc(t->n_values, sizeof *x->curves));
        for (size_t i = 0; i < t->n_values; i++) {
                x->curves[i].after = must(calloc(t->n_idle, sizeof *x->curves[i].after));
                x->curves[i].cycles.known = true;
        }
}

static void leave_out(Tune *x, size_t trial) {
        size_t behind = --x->n_trials - trial;

        trial_done(x, trial);
        if (x->curves)
                memmove(x->curves + trial, x->curves + trial + 1, behind * sizeof *x->curves);
        memmove(x->trials + trial, x->trials + trial + 1, behind * sizeof *x->trials);
        memmove(x->values + trial, x->values + trial + 1, behind * sizeof *x->values);
}

static double *one_more(double *samples, size_t n) {
        samples = must(reallocarray(samples, n + 1, sizeof *samples));
        samples[n] = NAN;
        return samples;
}

static void begin_round(const TuneTask *t, Tune *x) {
        for (Trial *k = x->trials; k < x->trials + x->n_trials; k++) {
                k->goal = one_more(k->goal, x->n_rounds);
                if (t->cost)
                        k->cost = one_more(k->cost, x->n_rounds);
        }
        x->n_rounds++;
}

/* ---- one value, once ---- */

static void keep(const TuneTask *t, Tune *x, Trial *trial, const Measured *m) {
        double value = m->n_samples > 0 ? m->samples[0] : NAN;

        if (trial->cost && m->figure == t->cost)
                trial->cost[x->n_rounds - 1] = value;
        if (m->figure != t->goal)
                return;

        trial->goal[x->n_rounds - 1] = value;
        x->n_used += m->n_samples;
        x->n_others += m->n_others;
        x->n_cached += m->n_cached;
        x->n_failed += m->n_failed;
        if (m->complaint) {
                free(x->complaint);
                x->complaint = must(strdup(m->complaint));
        }
}

static int run_job(const TuneTask *t, Tune *x, Trial *trial, const Job *job, uint64_t step, uint64_t idle) {
        Measured m[JOB_FIGURES_MAX] = {};
        Bench b = { .counted = x->counted };
        size_t n = 0;
        int r;

        FIGURES_FOREACH(f, job)
                m[n++].figure = f;
        r = t->bench.may_go_on(t->bench.userdata);
        if (r == 0)
                r = bench_sample(&t->bench, &b, job, m, step, idle);
        x->counted = b.counted;
        for (size_t i = 0; i < n; i++) {
                if (r == 0)
                        keep(t, x, trial, m + i);
                measured_done(m + i);
        }
        return r;
}

static int run_jobs(const TuneTask *t, Tune *x, Trial *trial, uint64_t *step) {
        const Job *goal = figure_job(t->goal), *cost = t->cost ? figure_job(t->cost) : goal;
        int r = run_job(t, x, trial, goal, ++*step, 0);

        /* Each has steps of its own, so that it reads all places. */
        return r == 0 && cost != goal ? run_job(t, x, trial, cost, *step + STEPS, 0) : r;
}

typedef struct Clock {
        uint64_t start, longest; /* µs */
        bool ended;              /* the time is spent, or the user wants an end */
} Clock;

/* One after the other, so that each time without use ends with the read that the next one begins with. *ret_lost: the drive has not kept
 * the value, and what was measured is of another one. */
static int run_curve(const TuneTask *t, Tune *x, size_t i, const Clock *clock, uint64_t *step, bool *ret_lost) {
        Bench b = { .counted = x->counted };
        const Job *job = figure_job(t->goal);
        _cleanup_free_ double *seconds = must(calloc(t->n_idle, sizeof *seconds));
        Measured begin = { .figure = t->goal };
        KnownNumber before = {}, after = {};
        Curve *c = x->curves + i;
        int r;

        /* Whatever state the drive is in, it comes out of it. */
        r = t->bench.may_go_on(t->bench.userdata);
        if (r == 0)
                r = bench_sample(&t->bench, &b, job, &begin, ++*step, 0);
        x->counted = b.counted;
        measured_done(&begin);
        if (r == 0) {
                r = t->look(t->userdata, &before);
                *ret_lost = r > 0;
        }
        for (size_t k = 0; k < t->n_idle && r == 0; k++) {
                r = run_job(t, x, x->trials + i, job, ++*step, idle_times[k] * SECOND);
                seconds[k] = x->trials[i].goal[x->n_rounds - 1];
                x->trials[i].goal[x->n_rounds - 1] = NAN;
                t->bench.tell(t->bench.userdata, monotonic_usec() - clock->start);
        }
        if (r == 0) {
                r = t->look(t->userdata, &after);
                *ret_lost = r > 0;
        }
        if (r != 0)
                return r;

        for (size_t k = 0; k < t->n_idle; k++)
                if (!isnan(seconds[k]))
                        measured_add(c->after + k, seconds[k]);
        c->n_waits += (unsigned) t->n_idle;
        c->cycles.known = c->cycles.known && before.known && after.known;
        c->cycles.number += after.number - before.number;
        return 0;
}

/* ---- all of them ---- */

/* In every other round the order is turned round, so that what comes before what makes no difference, nor does what changes slowly. */
static size_t turn(const Tune *x, size_t k) {
        return x->n_rounds % 2 == 1 ? k : x->n_trials - 1 - k;
}

static Contest make_contest(const TuneTask *t, const Tune *x) {
        Contest c = { .trials = x->trials,
                      .n_trials = x->n_trials,
                      .ordered = t->ordered,
                      .n_rounds = x->n_rounds,
                      .goal = { t->goal->kind == FIGURE_LATENCY, t->goal->error } };

        if (t->cost)
                c.cost = (Scale){ t->cost->kind == FIGURE_LATENCY, t->cost->error };
        for (size_t i = 0; i < x->n_trials; i++)
                if (x->values[i] == t->current)
                        c.current = i;
        return c;
}

static bool is_enough(const TuneTask *t, const Tune *x) {
        Contest c = make_contest(t, x);

        if (t->n_idle > 0)
                return x->n_rounds >= CURVE_ROUNDS_MAX;
        for (const Trial *k = x->trials; k < x->trials + x->n_trials; k++) {
                Estimate e = samples_estimate(k->goal, x->n_rounds, t->goal->error);

                if (!e.bounded || e.high - e.low > NARROW * e.median)
                        return false;
        }
        return contest_decide(&c).reason != PICK_UNKNOWN;
}

static bool is_busy(const TuneTask *t, const Tune *x) {
        return x->n_others > x->n_used && !t->among_others;
}

static int tune_round(const TuneTask *t, Tune *x, Clock *clock, uint64_t *step) {
        begin_round(t, x);
        for (size_t k = 0; k < x->n_trials;) {
                uint64_t begun = monotonic_usec();
                size_t i = turn(x, k);
                bool lost;
                int r;

                clock->ended = stop_is_wanted(t->bench.stop_fd) ||
                               begun - clock->start + clock->longest > t->bench.budget;
                if (clock->ended)
                        return 0;
                r = t->set(t->userdata, x->values[i]);
                lost = r > 0;
                if (r == 0)
                        r = t->n_idle > 0 ? run_curve(t, x, i, clock, step, &lost)
                                          : run_jobs(t, x, x->trials + i, step);
                if (lost && x->n_rounds == 1 && x->values[i] != t->current) {
                        leave_out(x, i);
                        continue;
                }
                /* What was had before is had again, perhaps. */
                if (lost && x->n_rounds > 1)
                        r = 0;
                if (r == 0 && t->n_idle > 0 && is_busy(t, x))
                        r = -EBUSY;
                if (r != 0)
                        return r;
                clock->longest = MAX(clock->longest, monotonic_usec() - begun);
                t->bench.tell(t->bench.userdata, monotonic_usec() - clock->start);
                k++;
        }
        return 0;
}

int tune_run(const TuneTask *t, Tune *ret) {
        Clock clock = { .start = monotonic_usec() };
        /* Where earlier samples were, the cache of the drive may have something. Of a greater number bench_sample() makes a few places
         * only. */
        uint64_t step = now_usec() % STEPS;
        Bench b = {};
        int r;

        tune_begin(t, ret);
        r = bench_warm_up(&t->bench, &b);
        ret->counted = b.counted;
        while (r == 0 && !clock.ended && ret->n_trials > 1 && ret->n_rounds < t->bench.samples_max) {
                r = tune_round(t, ret, &clock, &step);
                if (r == 0 && ret->n_rounds >= BUSY_ROUNDS && is_busy(t, ret))
                        r = -EBUSY;
                if (r == 0 && is_enough(t, ret))
                        break;
        }

        ret->contest = make_contest(t, ret);
        ret->pick.index = ret->contest.current;
        if (ret->n_rounds > 0 && t->n_idle == 0)
                ret->pick = contest_decide(&ret->contest);
        return r == -ECANCELED ? 0 : r;
}

static void gather(Measured *all, const Measured *m) {
        for (size_t i = 0; i < m->n_samples; i++)
                measured_add(all, m->samples[i]);
}

/* Of what was gathered, which goes. NAN: there is nothing. */
static double median_of(Measured *all) {
        double median = all->n_samples > 0 ? samples_estimate(all->samples, all->n_samples, 0).median : NAN;

        measured_done(all);
        return median;
}

double tune_slow_limit(const Tune *x) {
        double usual = NAN;

        assert(x->curves);
        for (size_t i = 0; i < x->n_trials; i++) {
                Measured all = {};

                for (size_t k = 0; k < x->n_idle; k++)
                        gather(&all, x->curves[i].after + k);
                usual = fmin(usual, median_of(&all));
        }
        for (size_t k = 0; k < x->n_idle; k++) {
                Measured all = {};

                for (size_t i = 0; i < x->n_trials; i++)
                        gather(&all, x->curves[i].after + k);
                usual = fmin(usual, median_of(&all));
        }
        return SLOW * usual;
}

size_t measured_count_slow(const Measured *m, double limit) {
        size_t n = 0;

        for (size_t i = 0; i < m->n_samples; i++)
                n += m->samples[i] >= limit;
        return n;
}

size_t tune_find_slow(const Tune *x, size_t trial) {
        const double limit = tune_slow_limit(x);
        size_t first = x->n_idle;

        while (first > 0) {
                const Measured *m = x->curves[trial].after + first - 1;

                if (m->n_samples < 2 || measured_count_slow(m, limit) < m->n_samples)
                        break;
                first--;
        }
        return first;
}
