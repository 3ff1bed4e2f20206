/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The measurement of one setting: each value in turn, forth and back, until the samples tell which is to be picked or the time is
 * spent. Of a setting that saves power no value is picked: how long the first read takes after times without use is measured with each. */

#include "bench.h"
#include "pick.h"
#include "value.h"

/* Times without use, in seconds; ends with 0. */
extern const unsigned idle_times[];

/* How many of these there is time for, with two rounds of so many values, where the first read behind them takes so many seconds; 1 at
 * least. */
size_t idle_times_fit(uint64_t budget, size_t n_values, unsigned wake);

typedef struct TuneTask {
        BenchTask bench;           /* its budget is that of this setting */
        const Figure *goal, *cost; /* cost NULL: nothing is measured of it */
        bool ordered;              /* values rise */
        size_t n_values, current;  /* the value that the drive has */
        bool among_others;         /* goes on where others use the drive most of the time */
        size_t n_idle; /* so many idle_times[] are waited for before the goal's job; 0: none, and a value is picked */

        /* Has the drive the value still, and what has it counted of load cycles? 1: it has another value. */
        int (*look)(void *userdata, KnownNumber *ret_cycles);

        /* Has the drive hold this value. 1: it cannot be had, and is left out, in the first round for good. Negative: it ends, and that is
         * returned. */
        int (*set)(void *userdata, size_t value);
        void *userdata;
} TuneTask;

/* One value, after times without use. */
typedef struct Curve {
        Measured *after;    /* one for each time */
        unsigned n_waits;   /* how often there was such a time, … */
        KnownNumber cycles; /* … and how often heads were unloaded meanwhile, as the drive counts it */
} Curve;

typedef struct Tune {
        Trial *trials;
        Curve *curves; /* one for each trial; NULL: a value is picked */
        size_t n_idle;
        size_t *values; /* which value each trial is of; some are left out */
        size_t n_trials;
        size_t n_rounds;
        size_t n_used, n_others, n_cached, n_failed; /* samples of goals; the latter three are left out (Measured) */
        char *complaint;
        Contest contest;
        Pick pick;
        bool counted;
} Tune;

/* Whatever it has set last stays set. Returns 0; -EBUSY: others use the drive; what set() or
 * BenchTask.may_go_on() returned; or a negative errno: fio cannot be run. *ret has what was measured until then in any case. */
int tune_run(const TuneTask *t, Tune *ret);
void tune_done(Tune *x);

/* A first read that takes so many seconds or more is slow: three times what is usual. That is the least of these medians: of all samples of
 * each value, and of all values after each time. */
double tune_slow_limit(const Tune *x);
size_t measured_count_slow(const Measured *m, double limit);

/* The first time without use from which on every first read was slow, of two or more; n_idle: there is none. */
size_t tune_find_slow(const Tune *x, size_t trial);
