/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The measurement of one setting: each value in turn, forth and back, until the samples tell which is to be picked or the time is
 * spent. */

#include "bench.h"
#include "pick.h"

typedef struct TuneTask {
        BenchTask bench;           /* its budget is that of this setting */
        const Figure *goal, *cost; /* cost NULL: nothing is measured of it */
        bool ordered;              /* values rise */
        size_t n_values, current;  /* the value that the drive has */
        bool among_others;         /* goes on where others use the drive most of the time */

        /* Has the drive hold this value. 1: it cannot be had, and is left out, in the first round for good. Negative: it ends, and that is
         * returned. */
        int (*set)(void *userdata, size_t value);
        void *userdata;
} TuneTask;

typedef struct Tune {
        Trial *trials;
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
