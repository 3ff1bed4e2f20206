/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>

#include "must.h"
#include "statistics.h"

#define LEVEL 0.05 /* of being wrong, on both sides together */

static int compare_doubles(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

static double *sorted_copy(const double *samples, size_t n) {
        double *copy = must(malloc(MAX(n, 1U) * sizeof *copy));

        if (n == 0)
                return copy;
        memcpy(copy, samples, n * sizeof *copy);
        qsort(copy, n, sizeof *copy, compare_doubles);
        return copy;
}

static double sorted_median(const double *sorted, size_t n) {
        return n == 0 ? 0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* How far the level has moved from the first sample to the last, by Theil's and Sen's line. */
static double samples_trend(const double *samples, size_t n) {
        _cleanup_free_ double *slopes = must(malloc(MAX(n * n / 2, 1U) * sizeof *slopes));
        size_t k = 0;

        for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++)
                        slopes[k++] = (samples[j] - samples[i]) / (double) (j - i);
        qsort(slopes, k, sizeof *slopes, compare_doubles);
        return fabs(sorted_median(slopes, k)) * (double) (n - 1);
}

/* The chance that of n samples, drawn with replacement, at least m are among the k smallest. */
static double chance_among_smallest(size_t n, size_t k, size_t m) {
        double p = (double) k / (double) n, ways = lgamma((double) n + 1), log_p = log(p), log_q = log1p(-p), sum = 0;

        if (k == n)
                return 1;
        if (k > 0)
                for (size_t j = m; j <= n; j++)
                        sum += exp(ways - lgamma((double) j + 1) - lgamma((double) (n - j) + 1) + (double) j * log_p +
                                   (double) (n - j) * log_q);
        return sum;
}

/* The chance of each sample, from the smallest, to be the median of n that are drawn with replacement. Of an even number it is the one
 * below the middle as often as the one above. */
static double *median_chances(size_t n) {
        double *chances = must(malloc(n * sizeof *chances)), before = 0;

        for (size_t k = 1; k <= n; k++) {
                double until = (chance_among_smallest(n, k, (n + 1) / 2) + chance_among_smallest(n, k, n / 2 + 1)) / 2;

                chances[k - 1] = until - before;
                before = until;
        }
        return chances;
}

typedef struct Weighted {
        double value, chance;
} Weighted;

static int compare_weighted(const void *a, const void *b) {
        return compare_doubles(&((const Weighted *) a)->value, &((const Weighted *) b)->value);
}

/* The bounds that are passed on either side with half of this chance. */
static void find_bounds(Weighted *items, size_t n, double wrong, double *ret_low, double *ret_high) {
        double sum = 0;

        qsort(items, n, sizeof *items, compare_weighted);
        *ret_low = items[0].value;
        *ret_high = items[n - 1].value;
        for (size_t i = 0; i < n; i++) {
                double before = sum;

                sum += items[i].chance;
                if (before < wrong / 2 && sum >= wrong / 2)
                        *ret_low = items[i].value;
                if (before < 1 - wrong / 2 && sum >= 1 - wrong / 2)
                        *ret_high = items[i].value;
        }
}

static double *copy_present(const double *samples, size_t n, size_t *ret_n) {
        double *copy = must(malloc(MAX(n, 1U) * sizeof *copy));

        *ret_n = 0;
        for (size_t i = 0; i < n; i++)
                if (!isnan(samples[i]))
                        copy[(*ret_n)++] = samples[i];
        return copy;
}

Estimate samples_estimate(const double *all, size_t n_all, double error) {
        size_t n;
        _cleanup_free_ double *samples = copy_present(all, n_all, &n), *sorted = sorted_copy(samples, n),
                              *chances = NULL;
        _cleanup_free_ Weighted *items = NULL;
        Estimate e = { .n = n, .median = sorted_median(sorted, n), .bounded = n >= SAMPLES_MIN };
        double trend;

        if (!e.bounded)
                return e;

        chances = median_chances(n);
        items = must(malloc(n * sizeof *items));
        for (size_t i = 0; i < n; i++)
                items[i] = (Weighted){ sorted[i], chances[i] };
        find_bounds(items, n, LEVEL, &e.low, &e.high);

        trend = samples_trend(samples, n);
        e.low = fmax((e.low - trend / 2) * (1 - error), 0);
        e.high = (e.high + trend / 2) * (1 + error);
        return e;
}

Difference samples_compare(const double *before, size_t n_before, const double *after, size_t n_after, double error,
                           unsigned n_compared) {
        _cleanup_free_ double *x = sorted_copy(before, n_before), *y = sorted_copy(after, n_after), *p = NULL,
                              *q = NULL;
        _cleanup_free_ Weighted *items = NULL;
        Difference d = { .before = sorted_median(x, n_before),
                         .after = sorted_median(y, n_after),
                         .known = n_before >= SAMPLES_MIN && n_after >= SAMPLES_MIN };
        double trend;
        size_t n = 0;

        if (!d.known)
                return d;

        p = median_chances(n_before);
        q = median_chances(n_after);
        items = must(reallocarray(NULL, n_before * n_after, sizeof *items));
        for (size_t i = 0; i < n_before; i++)
                for (size_t j = 0; j < n_after; j++)
                        items[n++] = (Weighted){ y[j] / x[i], p[i] * q[j] };
        find_bounds(items, n, LEVEL / n_compared, &d.low, &d.high);

        trend = samples_trend(before, n_before) / d.before + samples_trend(after, n_after) / d.after;
        d.factor = d.after / d.before;
        d.low *= fmax(1 - trend / 2 - 2 * error, 0);
        d.high *= 1 + trend / 2 + 2 * error;
        d.differs = d.low > 1 || d.high < 1;
        return d;
}

/* No interval of a median of so many samples is wrong less often than this: not even from the smallest to the largest. */
static double least_wrong(size_t n) {
        return ldexp(1, 1 - (int) n);
}

/* From which of the smallest samples to which of the largest the interval of their median reaches: how many are below the median is told by
 * tosses of a coin, whatever they are like. The bootstrap is wrong more often than it says where there are few samples and many
 * comparisons: of 9 samples and 12 comparisons in 4 of 100 cases, and not in 0.4. Of the outermost step half counts (mid-p), as the
 * trend makes the interval wider. */
static size_t median_rank(size_t n, double wrong) {
        double sum = ldexp(1, -(int) n);
        size_t k = 1;

        for (; k < n / 2; k++) {
                double step = exp(lgamma((double) n + 1) - lgamma((double) k + 1) - lgamma((double) (n - k) + 1) -
                                  (double) n * M_LN2);

                if (sum + step / 2 > wrong / 2)
                        break;
                sum += step;
        }
        return k;
}

Difference samples_compare_pairs(const double *before, const double *after, size_t n, double error,
                                 unsigned n_compared) {
        _cleanup_free_ double *ratios = must(malloc(MAX(n, 1U) * sizeof *ratios)), *x = NULL, *y = NULL;
        size_t n_pairs = 0, rank;
        Difference d = {};
        double trend;

        x = must(malloc(MAX(n, 1U) * sizeof *x));
        y = must(malloc(MAX(n, 1U) * sizeof *y));
        for (size_t i = 0; i < n; i++)
                if (!isnan(before[i]) && !isnan(after[i])) {
                        x[n_pairs] = before[i];
                        y[n_pairs] = after[i];
                        ratios[n_pairs++] = after[i] / before[i];
                }
        qsort(x, n_pairs, sizeof *x, compare_doubles);
        qsort(y, n_pairs, sizeof *y, compare_doubles);

        d.before = sorted_median(x, n_pairs);
        d.after = sorted_median(y, n_pairs);
        d.known = n_pairs >= SAMPLES_MIN && least_wrong(n_pairs) <= LEVEL / n_compared;
        if (!d.known)
                return d;

        rank = median_rank(n_pairs, LEVEL / n_compared);
        trend = samples_trend(ratios, n_pairs);
        qsort(ratios, n_pairs, sizeof *ratios, compare_doubles);
        d.factor = sorted_median(ratios, n_pairs);
        d.low = fmax((ratios[rank - 1] - trend / 2) * (1 - 2 * error), 0);
        d.high = (ratios[n_pairs - rank] + trend / 2) * (1 + 2 * error);
        d.differs = d.low > 1 || d.high < 1;
        return d;
}
