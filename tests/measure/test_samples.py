# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics on given samples, and on simulated samples with a known true value."""
import math
import unittest

import numpy

from measure.samples import compare, compare_pairs, estimate

NAN = math.nan


class Given(unittest.TestCase):
    def test_estimate(self):
        for given, n, median in (((), 0, 0), ((7,), 1, 7), ((5, 1, 4, 2, 3), 5, 3), ((4, 1, 3, 2), 4, 2.5), ((1, NAN, 3, NAN), 2, 2)):
            with self.subTest(given):
                e = estimate(given)
                self.assertEqual((e.n, e.median, e.bounded), (n, median, False))
        same = estimate([3] * 6)
        self.assertEqual((same.bounded, same.low, same.median, same.high), (True, 3, 3, 3))
        # Equal samples on a coarse scale do not narrow the interval below the resolution.
        coarse = estimate([3] * 6, 0.01)
        self.assertAlmostEqual(coarse.low, 2.97)
        self.assertAlmostEqual(coarse.high, 3.03)

    def test_bounds(self):
        """The bounds are those of the exact bootstrap distribution."""
        # The median of 13 samples is the seventh. The median of 13 draws with replacement is below the fourth sample with a probability of
        # 1.6 %, and above the tenth sample with 1.6 %. For the fifth and the ninth sample, the probability exceeds the allowed 2.5 %. The
        # samples are symmetric, so they have no trend.
        e = estimate((1, 5, 3, 6, 2, 4, 7, 4, 2, 6, 3, 5, 1))
        self.assertEqual((e.median, e.low, e.high), (4, 2, 5))

    def test_trend(self):
        """A trend widens the interval."""
        e = estimate([100 + i for i in range(20)])
        self.assertAlmostEqual(e.median, 109.5)
        self.assertLessEqual(e.low, 100)
        self.assertGreaterEqual(e.high, 119)
        self.assertGreaterEqual(estimate([1 + 0.5 * i for i in range(20)]).low, 0)

    def test_compare(self):
        a, b = (100, 101, 99, 100.5, 99.5, 100, 101, 99), (104, 105, 103, 104.5, 103.5, 104, 105, 103)
        self.assertFalse(compare(a[:5], b, 0, 1).known)
        self.assertFalse(compare(a, b[:5], 0, 1).known)
        d = compare(a, b, 0, 1)
        self.assertTrue(d.known and d.differs and 1.02 < d.low < d.factor < d.high < 1.06, d)
        self.assertAlmostEqual(d.factor, 1.04)
        d = compare(b, a, 0, 8)
        self.assertTrue(d.differs and d.high < 1, d)
        d = compare(a, a, 0, 1)
        self.assertTrue(d.known and not d.differs and d.factor == 1, d)
        # If the samples are too coarse to show the difference, no difference is reported.
        self.assertFalse(compare(a, b, 0.02, 1).differs)

    def test_pairs(self):
        """If both sets change over time by more than their difference, compare_pairs() finds the difference, and compare() does not."""
        before = [100 + 5 * i + (0.5 if i % 2 else -0.5) for i in range(20)]
        after = [x * (1.04 if i % 3 else 1.05) for i, x in enumerate(before)]
        self.assertFalse(compare(before, after, 0, 1).differs)
        d = compare_pairs(before, after, 0, 1)
        self.assertTrue(d.known and d.differs and d.low > 1.03 and d.high < 1.06, d)
        self.assertAlmostEqual(d.factor, 1.04)
        self.assertAlmostEqual(d.before, 147.5, delta=1)
        self.assertFalse(compare_pairs(before, after, 0.03, 1).differs)
        # A missing sample drops its pair.
        before[3], after[7], after[3], before[7] = NAN, NAN, 1, 1e9
        d = compare_pairs(before, after, 0, 1)
        self.assertTrue(d.known and d.differs and d.low > 1.03 and d.high < 1.06, d)
        self.assertFalse(compare_pairs([NAN] * 20, after, 0, 1).known)
        self.assertFalse(compare_pairs([], [], 0, 1).known)

    def test_pairs_needed(self):
        """More comparisons need more pairs: by chance, all of n differences have the same sign with a probability of 2^(1 - n)."""
        for n, n_compared, known in ((5, 1, False), (6, 1, True), (6, 2, False), (7, 2, True), (8, 6, True), (8, 7, False), (9, 12, True),
                                     (9, 13, False)):
            with self.subTest(n=n, n_compared=n_compared):
                self.assertEqual(compare_pairs([100] * n, [200] * n, 0, n_compared).known, known)

    def test_pairs_drift(self):
        """A difference of 3 % is found although both sets drift by 30 %."""
        before = [(100 + 30 * i / 23) * (1.002 if i % 2 else 0.998) for i in range(24)]
        after = [x * (1.03 if i % 3 else 1.032) for i, x in enumerate(before)]
        d = compare(before, after, 0, 1)
        self.assertTrue(d.known and not d.differs, d)
        d = compare_pairs(before, after, 0, 1)
        self.assertTrue(d.differs and d.low > 1.02 and d.high < 1.04, d)
        self.assertTrue(compare_pairs(before, after, 0.01, 1).differs)
        self.assertFalse(compare_pairs(before, after, 0.015, 1).differs)
        d = compare_pairs(after, before, 0, 1)
        self.assertTrue(d.differs and d.low > 0.96 and d.high < 0.98, d)

    def test_pairs_bounds(self):
        """The bounds are those of the sign test; more comparisons move them outwards."""
        # Each bound may be wrong with a probability of 2.5 %. The probability of at most two heads in 13 coin tosses is 1.1 %, and of at most
        # three heads 4.6 %. Half-way between these is 2.9 %, which exceeds 2.5 %: so the interval begins with the third sample. The samples
        # are symmetric, so they have no trend.
        ratios = (1, 5, 3, 6, 2.5, 4, 9, 4, 2.5, 6, 3, 5, 1)
        for n_compared, low, high in ((1, 2.5, 6), (12, 1, 6), (200, 1, 9)):
            with self.subTest(n_compared):
                d = compare_pairs([1] * 13, ratios, 0, n_compared)
                self.assertEqual((d.known, d.factor, d.low, d.high), (True, 4, low, high))


# ---- simulated samples ----

# Kinds of noise. DRIFT: the level changes linearly, in either direction, by at most the amount in SHAPES. WARM_UP: the level rises by the
# amount in SHAPES from the first to the last sample. BURSTS: other programs use the drive for some samples. LEVELS: there are two levels, as
# on a disk whose surfaces differ.
LOG_NORMAL, DRIFT, WARM_UP, BURSTS, LEVELS = range(5)

# Kind of noise, sigma, amount, and number of samples.
SHAPES = ((LOG_NORMAL, 0.03, 0, 6), (LOG_NORMAL, 0.03, 0, 7), (LOG_NORMAL, 0.03, 0, 8), (LOG_NORMAL, 0.03, 0, 18), (LOG_NORMAL, 0.2, 0, 30),
          (WARM_UP, 0.03, 0.1, 18), (BURSTS, 0.03, 0, 18), (BURSTS, 0.1, 0, 30), (LEVELS, 0.004, 0.1, 20), (DRIFT, 0.03, 0.05, 18),
          (DRIFT, 0.03, 0.15, 18), (DRIFT, 0.03, 0.3, 30))
TRUE_ONES = 6       # the first six shapes have a known true median
PAIR_SHAPES = ((LOG_NORMAL, 0.01, 0), (LOG_NORMAL, 0.2, 0), (WARM_UP, 0.03, 0.1), (BURSTS, 0.03, 0), (LEVELS, 0.004, 0.1), (DRIFT, 0.03, 0.3))
RUNS, FIGURES = 1000, 8


def simulate(random, shape, level=1.0):
    noise, sigma, amount, n = shape
    made = level * numpy.exp(sigma * random.standard_normal(n))
    if noise in (DRIFT, WARM_UP):
        made *= 1 + (random.uniform(-amount, amount) if noise == DRIFT else amount) * numpy.arange(n) / n
    elif noise == LEVELS:
        made[random.random(n) < 0.5] *= 1 - amount
    elif noise == BURSTS:
        end = 0
        for begin in numpy.flatnonzero(random.random(n) < 0.05):
            if begin >= end:
                end = begin + 1 + int(random.uniform(0, 4))
                made[begin:end] *= random.uniform(0.4, 0.8, len(made[begin:end]))
    return made


def simulate_pairs(random, shape, factor):
    """Returns two sets of samples taken in turns, with the same drift and bursts in both."""
    noise, sigma, amount, n = shape
    common = simulate(random, (LOG_NORMAL if noise == LEVELS else noise, 0, amount, n))
    own = (LEVELS if noise == LEVELS else LOG_NORMAL, sigma, amount, n)
    return simulate(random, own) * common, simulate(random, own, factor) * common


def count_calls(shape, factor):
    """Makes RUNS runs of eight figures. Returns the number of runs in which any figure differs, and the number of figures that differ."""
    random, runs, figures = numpy.random.default_rng(123), 0, 0
    for _ in range(RUNS):
        called = sum(compare(simulate(random, shape), simulate(random, shape, factor), 0, FIGURES).differs for _ in range(FIGURES))
        runs, figures = runs + (called > 0), figures + called
    return runs, figures


def count_pair_calls(shape, factor, n_compared):
    """Returns how many runs report a difference in any comparison."""
    random = numpy.random.default_rng(456 + shape[3] + n_compared)
    return sum(any([compare_pairs(*simulate_pairs(random, shape, factor), 0, n_compared).differs for _ in range(n_compared)]) for _ in range(RUNS))


class Simulated(unittest.TestCase):
    def test_no_difference(self):
        """At most 5 % of pairs of equal measurements report a false difference."""
        # At most 5 % of the runs may report a difference in any figure. With DRIFT, at most 5 % of the figures may: the level may also change
        # before the first sample, and no sample shows this change.
        for shape in SHAPES:
            with self.subTest(shape):
                runs, figures = count_calls(shape, 1)
                if shape[0] == DRIFT:
                    self.assertLessEqual(figures, RUNS * FIGURES / 20)
                else:
                    self.assertLessEqual(runs, RUNS / 20)

    def test_difference(self):
        """Real differences are reported."""
        self.assertGreaterEqual(count_calls((LOG_NORMAL, 0.01, 0, 24), 1.03)[1], RUNS * FIGURES * 0.95)

    def test_coverage(self):
        """The interval has the true value in 95 % of the cases, for shapes that have a true value."""
        for shape in SHAPES[:TRUE_ONES]:
            random, hits = numpy.random.default_rng(321), 0
            middle = 1 + shape[2] / 2 if shape[0] == WARM_UP else 1
            for _ in range(RUNS):
                e = estimate(simulate(random, shape))
                hits += e.low <= middle <= e.high
            with self.subTest(shape):
                self.assertGreaterEqual(hits, RUNS * 0.95)

    def test_pairs_no_difference(self):
        """At most 5 % of runs report a false difference between pairs. This also holds for the fewest pairs
        after which `drivekeep tune` may end the measurement."""
        for shape in PAIR_SHAPES:
            for n, n_compared in ((6, 1), (7, 1), (9, 6), (9, 12), (10, 12), (30, 1)):
                with self.subTest(shape=shape, n=n, n_compared=n_compared):
                    self.assertLessEqual(count_pair_calls((*shape, n), 1, n_compared), RUNS / 20)

    def test_pairs_difference(self):
        """Pairs show a difference of 3 % although both sets drift by up to 30 %."""
        self.assertGreaterEqual(count_pair_calls((DRIFT, 0.01, 0.3, 24), 1.03, 1), RUNS * 0.95)


