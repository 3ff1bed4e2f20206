# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of the pick of a value, with given samples and with simulated samples whose best value is known."""
import math
import unittest

import numpy

from measure.figures import LATENCY, RATE, Figure
from measure.pick import BETTER, CHEAPER, PRESENT, UNKNOWN, Contest, decide

NAN = math.nan
LESS, MORE = (Figure("", "", kind, (), 1, 0) for kind in (LATENCY, RATE))
VALUES, RUNS = 7, 1000
SPREAD = 1, 1.01, 0.99, 1.005, 0.995, 1, 1.008, 0.992
SAME = [10, 10, 10, 10]
RISING = [10, 11, 12, 20]


def fill(level, n):
    """Returns `n` samples, which vary slightly around the level from round to round."""
    return [level * SPREAD[(i + (0 if math.isnan(level) else int(level))) % len(SPREAD)] for i in range(n)]


def contest(goals, costs, current, ordered, less=False):
    return Contest([list(g) for g in goals], [list(c) for c in costs] if costs is not None else None, current, ordered, LESS if less else MORE, LESS)


# Each case: a title, the levels of the goals and of the costs (NaN: no sample), the index of the present value, whether the values are
# ordered, and whether less is better. Then the expected reason of the pick, and the index of the picked value.
CASES = (("all the same", [100] * 4, SAME, 1, True, False, PRESENT, 1),
         ("the knee", [50, 80, 100, 100], SAME, 0, True, False, BETTER, 2),
         ("without an order it is the best", [50, 80, 100, 120], SAME, 0, False, False, BETTER, 3),
         ("the best is there", [50, 80, 120, 100], SAME, 2, False, False, PRESENT, 2),
         ("as good, and cheaper", [50, 100, 100, 100], RISING, 3, True, False, CHEAPER, 1),
         ("cheaper, and worse", [50, 80, 90, 100], RISING, 3, True, False, PRESENT, 3),
         ("better, and dearer", [50, 80, 90, 100], RISING, 1, True, False, BETTER, 3),
         ("less is better", [50, 80, 90, 100], SAME, 2, False, True, BETTER, 0),
         ("less is better, in order", [100, 50, 50, 80], SAME, 3, True, True, BETTER, 1),
         ("one was not measured", [50, NAN, 100, 100], [10, NAN, 10, 10], 0, True, False, BETTER, 2),
         ("the present one was not", [NAN, 80, 100, 100], [NAN, 10, 10, 10], 0, True, False, UNKNOWN, 0),
         ("none was", [NAN] * 4, [NAN] * 4, 2, True, False, UNKNOWN, 2))

# Each case: the number of values, the number of rounds, whether there are costs, and the expected reason of the pick.
ROUNDS = ((2, 6, False, BETTER), (2, 5, False, UNKNOWN), (2, 6, True, UNKNOWN), (2, 7, True, BETTER), (7, 9, True, BETTER), (7, 8, True, UNKNOWN),
          (1, 24, False, UNKNOWN))


class Given(unittest.TestCase):
    def test_cases(self):
        for name, goals, costs, current, ordered, less, reason, index in CASES:
            with self.subTest(name):
                p = decide(contest([fill(g, 24) for g in goals], [fill(c, 24) for c in costs], current, ordered, less))
                self.assertEqual((p.reason, p.index), (reason, index))
                self.assertEqual(p.goal.differs, reason == BETTER)

    def test_rounds(self):
        """If the rounds are too few for the number of comparisons, no value is picked."""
        for n, rounds, with_costs, reason in ROUNDS:
            with self.subTest(n=n, rounds=rounds, with_costs=with_costs):
                goals = [fill(150 if i == 1 else 100, rounds) for i in range(n)]
                self.assertEqual(decide(contest(goals, [fill(10, rounds)] * n if with_costs else None, 0, False)).reason, reason)

    def test_above_the_knee(self):
        """A value with unsteady samples is picked only if it was shown to be better than the present value."""
        goals = [fill(level, 24) for level in (120, 100, 120, 120)]
        goals[0] = [sample * (1.5 if i // 2 % 2 else 0.5) for i, sample in enumerate(goals[0])]
        p = decide(contest(goals, None, 1, True))
        self.assertEqual((p.reason, p.index), (BETTER, 2))
        self.assertTrue(p.goal.differs and p.goal.low > 1.15 and p.goal.high < 1.25, p)

    def test_never_beside(self):
        """A value with a lower cost is not picked if it was never measured in the same round as the present value."""
        goals = [fill(100, 24) for _ in range(3)]
        for i in range(24):
            goals[2 if i < 6 else 0][i] = NAN
        p = decide(contest(goals, [fill(5, 24), fill(10, 24), fill(10, 24)], 2, True))
        self.assertEqual((p.reason, p.index), (PRESENT, 2))


# ---- simulated samples ----

# Disturbances of the samples. sigma: random variation. drift: largest change from the first to the last sample. foreign: share of the samples
# with half the speed, because of unnoticed I/O of other programs. bursts: like foreign, but in consecutive samples. two_levels: half of
# the samples, at random, are 4 % slower.
SHAPES = ((0.01, 0, 0, 0, False), (0.03, 0, 0, 0, False), (0.01, 0.2, 0, 0, False), (0.03, 0.2, 0, 0, False), (0.01, 0, 0.05, 0, False),
          (0.03, 0, 0, 0.05, False), (0.01, 0, 0, 0, True))
WORST = SHAPES[5]


def simulate(random, shape, levels, rounds):
    """Returns samples in the order of measurement, with every other round reversed."""
    sigma, drift, foreign, bursts, two_levels = shape
    n = len(levels)
    total = n * rounds
    order = numpy.array([[i if r % 2 == 0 else n - 1 - i for i in range(n)] for r in range(rounds)]).ravel()
    factor = numpy.exp(sigma * random.standard_normal(total)) * (1 + drift * random.uniform(-1, 1) * numpy.arange(total) / total)
    slow = random.random(total) < foreign
    # Bursts last two and a half samples on average.
    end = 0
    for k in numpy.flatnonzero(random.random(total) < bursts / 2.5):
        if k >= end:
            end = k + 1 + int(4 * random.random())
            slow[k:end] = True
    factor[slow] *= 0.5
    if two_levels:
        factor[random.random(total) < 0.5] *= 0.96
    made = numpy.empty((n, rounds))
    made[order, numpy.repeat(numpy.arange(rounds), n)] = numpy.asarray(levels)[order] * factor
    return made


def picks(shape, levels, prices, rounds, current, ordered):
    random = numpy.random.default_rng(7 * rounds + SHAPES.index(shape))
    for _ in range(RUNS):
        goals = simulate(random, shape, levels, rounds)
        costs = simulate(random, shape, prices, rounds) if prices else None
        yield decide(contest(goals, costs, current, ordered)).index


GENTLE, STEEP, FLAT, DEARER = [40, 57, 80, 100, 100, 100, 100], [12.5, 25, 50, 100, 100, 100, 100], [10] * 7, [10, 10, 11, 12, 14, 18, 26]


class Simulated(unittest.TestCase):
    def check_knee(self, shape, levels, prices, rounds):
        """The knee at the fourth value is found within one step."""
        self.assertGreaterEqual(sum(2 <= i <= 4 for i in picks(shape, levels, prices, rounds, 1, True)), RUNS * 0.95)

    def test_all_the_same(self):
        """If all values are equal, no other value is picked. Nine rounds are the fewest in which a difference can be known."""
        for shape in SHAPES:
            for rounds in 9, 12:
                with self.subTest(shape=shape, rounds=rounds):
                    self.assertLessEqual(sum(i != 2 for i in picks(shape, [100] * VALUES, [100] * VALUES, rounds, 2, True)), RUNS / 20)

    def test_knee(self):
        for shape in SHAPES:
            with self.subTest(shape):
                self.check_knee(shape, GENTLE, DEARER, 12)

    def test_knee_steep(self):
        """A steep knee is found in 12 rounds and in 30 rounds."""
        self.check_knee(WORST, STEEP, FLAT, 12)
        self.check_knee(WORST, STEEP, DEARER, 30)

    def test_worse(self):
        """A value with a lower cost is not picked if its goal is worse by 6 % or more."""
        for shape in SHAPES[:3]:
            with self.subTest(shape):
                self.assertLessEqual(sum(i != 6 for i in picks(shape, [40, 50, 60, 70, 80, 94, 100], DEARER, 12, 6, True)), RUNS / 20)

    def test_best(self):
        """If one of four unordered values is better than the others by 10 %, it is picked."""
        for shape in SHAPES:
            with self.subTest(shape):
                self.assertGreaterEqual(sum(i == 2 for i in picks(shape, [100, 99, 110, 98], None, 20, 0, False)), RUNS * 0.95)
