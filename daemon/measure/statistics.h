/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What samples of a measurement carry: a median with its interval, and whether two sets of samples differ. Pure. All samples are
 * positive, and stand in the order in which they were taken. */

#include "macro.h"

/* With fewer, even the smallest and the largest sample are no 95 % interval of a median: 1 - 2^(1 - n). */
#define SAMPLES_MIN 6U

/* More take long to compute, and tell hardly more. */
#define SAMPLES_MAX 1000U

/* Of the median, at 95 %. The bounds are those of the bootstrap's distribution of the median, which is computed and not drawn (B. Efron,
 * "Bootstrap methods: another look at the jackknife", 1979), and on either side half of the samples' trend, as what changed while it was
 * measured is not known any better, and the error that each sample may have. */
typedef struct Estimate {
        size_t n;      /* samples that are not missing */
        double median; /* with no sample: 0 */
        bool bounded;  /* there are SAMPLES_MIN or more, and these hold: */
        double low, high;
} Estimate;

/* How much larger the second set is, as a factor. */
typedef struct Difference {
        double before, after; /* medians; with no sample: 0 */
        bool known;           /* both sets have SAMPLES_MIN or more */
        double factor, low, high;
        bool differs; /* the interval does not have 1 */
} Difference;

/* `error` is a part of the sample: how coarse it is. A sample that is NAN is missing. */
Estimate samples_estimate(const double *all, size_t n_all, double error);

/* `n_compared` of such comparisons are told of together, and the chance that any of them calls a difference where there is none is
 * 5 % (Bonferroni). */
Difference samples_compare(const double *before, size_t n_before, const double *after, size_t n_after, double error,
                           unsigned n_compared);

/* The same of samples that were taken in turns, so that what changed meanwhile is in both: each is compared with the one beside it.
 * NAN: that one is missing. The bounds are those of the sign test, wider by half of the trend and by the error as above. Known is a
 * difference that so many pairs can show at all. */
Difference samples_compare_pairs(const double *before, const double *after, size_t n, double error,
                                 unsigned n_compared);
