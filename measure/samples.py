# SPDX-License-Identifier: LGPL-2.1-or-later
"""What samples carry: a median with its interval, and whether two sets of samples differ. Pure.

All samples are positive, and stand in the order in which they were taken; NaN is one that is missing.
"""
from __future__ import annotations

import dataclasses
import functools
import math
import typing

import numpy as np

LEVEL = 0.05    # of being wrong, on both sides together

# With fewer, even the smallest and the largest sample are no 95 % interval of a median: 1 - 2^(1 - n).
MIN = 6
# More take long to compute, and tell hardly more.
MAX = 1000


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Of the median, at 95 %. The bounds are those of the bootstrap's distribution of the median, which is computed and not drawn
    (B. Efron, "Bootstrap methods: another look at the jackknife", 1979), and on either side half of the samples' trend, as what
    changed while it was measured is not known any better, and the error that each sample may have."""
    n: int                  # samples that are not missing
    median: float = 0
    bounded: bool = False   # there are MIN or more, and the bounds hold
    low: float = 0
    high: float = 0


@dataclasses.dataclass(frozen=True)
class Difference:
    """How much larger the second set is, as a factor."""
    before: float = 0       # medians; without a sample 0
    after: float = 0
    known: bool = False     # there are enough samples
    factor: float = 0
    low: float = 0
    high: float = 0

    @property
    def differs(self) -> bool:
        return self.known and (self.low > 1 or self.high < 1)


def _present(samples: typing.Sequence[float]) -> np.ndarray:
    all_samples = np.asarray(samples, dtype=float)
    return all_samples[~np.isnan(all_samples)]


def median(samples: typing.Sequence[float]) -> float:
    return float(np.median(samples)) if len(samples) else 0.0


def level(samples: typing.Sequence[float]) -> float | None:
    """The median of those that are not missing; None: there are too few of them."""
    present = _present(samples)
    return median(present) if len(present) >= MIN else None


_pairs = functools.lru_cache(maxsize=64)(lambda n: np.triu_indices(n, 1))


def _trend(samples: np.ndarray) -> float:
    """How far the level has moved from the first sample to the last, by Theil's and Sen's line."""
    first, second = _pairs(len(samples))
    return abs(median((samples[second] - samples[first]) / (second - first))) * (len(samples) - 1)


@functools.lru_cache(maxsize=64)
def _median_chances(n: int) -> np.ndarray:
    """The chance of each sample, from the smallest, to be the median of n that are drawn with replacement. Of an even number it is the
    one below the middle as often as the one above."""
    log_factorial = np.concatenate(([0], np.cumsum(np.log(np.arange(1, n + 1)))))
    part = np.arange(1, n)[:, None] / n

    def among_smallest(least: int) -> np.ndarray:
        """For each k: the chance that of n samples that are drawn at least so many are among the k smallest."""
        j = np.arange(least, n + 1)
        ways = log_factorial[n] - log_factorial[j] - log_factorial[n - j]
        return np.exp(ways + j * np.log(part) + (n - j) * np.log1p(-part)).sum(axis=1)

    until = (among_smallest((n + 1) // 2) + among_smallest(n // 2 + 1)) / 2
    return np.diff(np.concatenate(([0], until, [1])))


def _bounds(values: np.ndarray, chances: np.ndarray, wrong: float) -> tuple[float, float]:
    """The values that are passed on either side with half of this chance."""
    order = np.argsort(values, kind="stable")
    until, last = np.cumsum(chances[order]), len(order) - 1
    low, high = np.searchsorted(until, (wrong / 2, 1 - wrong / 2))
    return float(values[order[min(low, last)]]), float(values[order[min(high, last)]])


def estimate(samples: typing.Sequence[float], error: float = 0) -> Estimate:
    """`error` is a part of each sample: how coarse it is."""
    present = _present(samples)
    if len(present) < MIN:
        return Estimate(len(present), median(present))
    ordered, half = np.sort(present), _trend(present) / 2
    low, high = _bounds(ordered, _median_chances(len(ordered)), LEVEL)
    return Estimate(len(present), median(present), True, max((low - half) * (1 - error), 0.0), (high + half) * (1 + error))


def compare(before: typing.Sequence[float], after: typing.Sequence[float], error: float, n_compared: int) -> Difference:
    """`n_compared` of such comparisons are told of together, and the chance that any of them calls a difference where there is none
    is 5 % (Bonferroni)."""
    x, y = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    levels = median(x), median(y)
    if len(x) < MIN or len(y) < MIN:
        return Difference(*levels)
    ratios, chances = np.divide.outer(np.sort(y), np.sort(x)), np.multiply.outer(_median_chances(len(y)), _median_chances(len(x)))
    low, high = _bounds(ratios.ravel(), chances.ravel(), LEVEL / n_compared)
    half = (_trend(x) / levels[0] + _trend(y) / levels[1]) / 2
    return Difference(*levels, True, levels[1] / levels[0], low * max(1 - half - 2 * error, 0.0), high * (1 + half + 2 * error))


@functools.lru_cache(maxsize=1024)
def _median_rank(n: int, wrong: float) -> int:
    """From which of the smallest samples to which of the largest the interval of their median reaches: how many are below the median is
    told by tosses of a coin, whatever they are like. The bootstrap is wrong more often than it says where there are few samples and many
    comparisons: of 9 samples and 12 comparisons in 4 of 100 cases, and not in 0.4. Of the outermost step half counts (mid-p), as the
    trend makes the interval wider."""
    chances = [math.comb(n, below) * 0.5 ** n for below in range(n // 2)]
    return next((rank for rank in range(1, n // 2) if sum(chances[:rank]) + chances[rank] / 2 > wrong / 2), max(n // 2, 1))


def compare_pairs(before: typing.Sequence[float], after: typing.Sequence[float], error: float, n_compared: int) -> Difference:
    """The same of samples that were taken in turns, so that what changed meanwhile is in both: each is compared with the one beside it.
    The bounds are those of the sign test, wider by half of the trend and by the error. Known is a difference that so many pairs can show
    at all: no interval of a median of n samples is wrong less often than in 2^(1 - n), not even from the smallest to the largest."""
    x, y = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    n, wrong = len(x), LEVEL / n_compared
    if n < MIN or 2.0 ** (1 - n) > wrong:
        return Difference(median(x), median(y))
    ratios = y / x
    ordered, rank, half = np.sort(ratios), _median_rank(n, wrong), _trend(ratios) / 2
    return Difference(median(x), median(y), True, median(ratios), max((float(ordered[rank - 1]) - half) * (1 - 2 * error), 0.0),
                      (float(ordered[n - rank]) + half) * (1 + 2 * error))
