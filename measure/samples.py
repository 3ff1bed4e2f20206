# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics of samples: a median with its confidence interval, and comparisons of two sets of samples. Pure functions.

Samples are positive, in the order in which they were taken; NaN stands for a missing sample.
"""
from __future__ import annotations

import dataclasses
import functools
import math
import typing


class _Numpy:
    """Imports numpy at the first use. The import takes longer than a list of results or the refusal of a drive, which need no numpy."""

    def __getattr__(self, name: str) -> typing.Any:
        import numpy
        return self.__dict__.setdefault(name, getattr(numpy, name))


np = _Numpy()

LEVEL = 0.05    # two-sided error probability

# Even the interval from the smallest to the largest of n samples covers the median only with a probability of 1 - 2^(1 - n). With fewer
# samples, this is below 95 %.
MIN = 6
# With more samples, the computation takes long, and the interval is hardly narrower.
MAX = 1000


@dataclasses.dataclass(frozen=True)
class Estimate:
    """The median with its 95 % interval. The bounds come from the bootstrap distribution of the median (B. Efron, "Bootstrap
    methods: another look at the jackknife", 1979). The distribution is computed exactly, not by random draws. Each bound is moved outwards
    by half of the samples' trend, because of changes during the measurement, and by the error of a sample."""
    n: int                  # number of samples, without missing ones
    median: float = 0
    bounded: bool = False   # there are at least MIN samples, and the bounds are valid
    low: float = 0
    high: float = 0


@dataclasses.dataclass(frozen=True)
class Difference:
    """The factor by which the second set is larger than the first, with its interval."""
    before: float = 0       # median of the first set; 0 without samples
    after: float = 0        # median of the second set
    known: bool = False     # there are enough samples for an interval
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
    if not len(samples):
        return 0.0
    ordered, half = np.array(samples), len(samples) // 2
    ordered.sort()      # np.sort() takes twice as long for few samples, and np.median() twenty times as long
    return float(ordered[half] + ordered[~half]) / 2


def level(samples: typing.Sequence[float]) -> float | None:
    """Returns the median of the samples that are not missing, or None if these are fewer than MIN."""
    present = _present(samples)
    return median(present) if len(present) >= MIN else None


_pairs = functools.lru_cache(maxsize=64)(lambda n: np.triu_indices(n, 1))


def _trend(samples: np.ndarray) -> float:
    """Returns the change of the level from the first to the last sample, by the Theil-Sen line."""
    first, second = _pairs(len(samples))
    return abs(median((samples[second] - samples[first]) / (second - first))) * (len(samples) - 1)


@functools.lru_cache(maxsize=64)
def _median_chances(n: int) -> np.ndarray:
    """Returns for each sample, in ascending order, the probability that it is the median of n draws with replacement. For an even n, the
    lower and the upper middle draw count equally."""
    log_factorial = np.concatenate(([0], np.cumsum(np.log(np.arange(1, n + 1)))))
    part = np.arange(1, n)[:, None] / n

    def among_smallest(least: int) -> np.ndarray:
        """Returns for each k the probability that at least `least` of n draws are among the k smallest samples."""
        j = np.arange(least, n + 1)
        ways = log_factorial[n] - log_factorial[j] - log_factorial[n - j]
        return np.exp(ways + j * np.log(part) + (n - j) * np.log1p(-part)).sum(axis=1)

    until = (among_smallest((n + 1) // 2) + among_smallest(n // 2 + 1)) / 2
    return np.diff(np.concatenate(([0], until, [1])))


def _bounds(values: np.ndarray, chances: np.ndarray, wrong: float) -> tuple[float, float]:
    """Returns two values: half of the probability `wrong` lies below the first value, and half above the second value."""
    order = np.argsort(values, kind="stable")
    until, last = np.cumsum(chances[order]), len(order) - 1
    low, high = np.searchsorted(until, (wrong / 2, 1 - wrong / 2))
    return float(values[order[min(low, last)]]), float(values[order[min(high, last)]])


def estimate(samples: typing.Sequence[float], error: float = 0) -> Estimate:
    """Estimates the median. `error`: resolution of a sample, as a fraction of the sample."""
    present = _present(samples)
    if len(present) < MIN:
        return Estimate(len(present), median(present))
    ordered, half = np.sort(present), _trend(present) / 2
    low, high = _bounds(ordered, _median_chances(len(ordered)), LEVEL)
    return Estimate(len(present), median(present), True, max((low - half) * (1 - error), 0.0), (high + half) * (1 + error))


def compare(before: typing.Sequence[float], after: typing.Sequence[float], error: float, n_compared: int) -> Difference:
    """Compares two independent sets. `n_compared`: number of comparisons reported together; the probability that any of them reports a
    false difference is 5 % (Bonferroni)."""
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
    """Returns the rank of the sample that is the lower bound of the median's interval, counted from the smallest sample. The upper bound
    has the same rank, counted from the largest sample. This is the sign test: the number of samples below the median has a binomial
    distribution, whatever distribution the samples have. With few samples and many comparisons the bootstrap would be wrong too often: with
    9 samples and 12 comparisons in 4 % of cases instead of 0.4 %. The probability at the returned
    rank counts half (mid-p), because the trend also widens the interval."""
    chances = [math.comb(n, below) * 0.5 ** n for below in range(n // 2)]
    return next((rank for rank in range(1, n // 2) if sum(chances[:rank]) + chances[rank] / 2 > wrong / 2), max(n // 2, 1))


def compare_pairs(before: typing.Sequence[float], after: typing.Sequence[float], error: float, n_compared: int) -> Difference:
    """Compares two sets pair by pair. Their samples were taken in turns, so that changes over time affect both sets alike. The bounds are
    those of the sign test, widened by half of the trend and by the error. With too few pairs the difference is not known: even the interval
    from the smallest to the largest of n ratios is wrong with a probability of 2^(1 - n)."""
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
