/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>

#include "clock.h"
#include "must.h"
#include "stop.h"
#include "tune.h"

#define NARROW 0.03 /* an interval of this part of its median is narrow enough */
#define BUSY_ROUNDS 2U
#define STEPS (UINT64_C(1) << 20)

void tune_done(Tune *x) {
        for (size_t i = 0; i < x->n_trials; i++) {
                free(x->trials[i].goal);
                free(x->trials[i].cost);
        }
        free(x->trials);
        free(x->values);
        free(x->complaint);
        *x = (Tune){};
}

static void tune_begin(const TuneTask *t, Tune *x) {
        *x = (Tune){ .n_trials = t->n_values };
        x->trials = must(calloc(t->n_values, sizeof *x->trials));
        x->values = must(calloc(t->n_values, sizeof *x->values));
        for (size_t i = 0; i < t->n_values; i++)
                x->values[i] = i;
}

static void leave_out(Tune *x, size_t trial) {
        size_t behind = --x->n_trials - trial;

        free(x->trials[trial].goal);
        free(x->trials[trial].cost);
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

static int run_job(const TuneTask *t, Tune *x, Trial *trial, const Job *job, uint64_t step) {
        Measured m[JOB_FIGURES_MAX] = {};
        const Bench b = { .counted = x->counted };
        size_t n = 0;
        int r;

        FIGURES_FOREACH(f, job)
                m[n++].figure = f;
        r = t->bench.may_go_on(t->bench.userdata);
        if (r == 0)
                r = bench_sample(&t->bench, &b, job, m, step);
        for (size_t i = 0; i < n; i++) {
                if (r == 0)
                        keep(t, x, trial, m + i);
                measured_done(m + i);
        }
        return r;
}

static int run_jobs(const TuneTask *t, Tune *x, Trial *trial, uint64_t *step) {
        const Job *goal = figure_job(t->goal), *cost = t->cost ? figure_job(t->cost) : goal;
        int r = run_job(t, x, trial, goal, ++*step);

        /* Each has steps of its own, so that it reads all places. */
        return r == 0 && cost != goal ? run_job(t, x, trial, cost, *step + STEPS) : r;
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

        for (const Trial *k = x->trials; k < x->trials + x->n_trials; k++) {
                Estimate e = samples_estimate(k->goal, x->n_rounds, t->goal->error);

                if (!e.bounded || e.high - e.low > NARROW * e.median)
                        return false;
        }
        return contest_decide(&c).reason != PICK_UNKNOWN;
}

typedef struct Clock {
        uint64_t start, longest; /* µs */
        bool ended;              /* the time is spent, or the user wants an end */
} Clock;

static int tune_round(const TuneTask *t, Tune *x, Clock *clock, uint64_t *step) {
        begin_round(t, x);
        for (size_t k = 0; k < x->n_trials;) {
                uint64_t begun = monotonic_usec();
                size_t i = turn(x, k);
                int r;

                clock->ended = stop_is_wanted(t->bench.stop_fd) ||
                               begun - clock->start + clock->longest > t->bench.budget;
                if (clock->ended)
                        return 0;
                r = t->set(t->userdata, x->values[i]);
                if (r > 0 && x->n_rounds == 1 && x->values[i] != t->current) {
                        leave_out(x, i);
                        continue;
                }
                if (r == 0)
                        r = run_jobs(t, x, x->trials + i, step);
                /* What was had before is had again, perhaps. */
                else if (r > 0 && x->n_rounds > 1)
                        r = 0;
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
        while (r == 0 && !clock.ended && ret->n_trials > 1) {
                r = tune_round(t, ret, &clock, &step);
                if (r == 0 && ret->n_rounds >= BUSY_ROUNDS && ret->n_others > ret->n_used && !t->among_others)
                        r = -EBUSY;
                if (r == 0 && is_enough(t, ret))
                        break;
        }

        ret->contest = make_contest(t, ret);
        ret->pick.index = ret->contest.current;
        if (ret->n_rounds > 0)
                ret->pick = contest_decide(&ret->contest);
        return r == -ECANCELED ? 0 : r;
}
