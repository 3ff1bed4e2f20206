# SPDX-License-Identifier: LGPL-2.1-or-later
"""Picks the best value of a setting from samples that were taken for all values in turn. Pure functions. A value is picked only if it was
shown to be better than the current value; otherwise the setting does not change."""
from __future__ import annotations

import dataclasses

from measure import samples
from measure.figures import Figure
from measure.samples import Difference

MARGIN = 0.03

# Reasons of a pick. UNKNOWN: too few samples to show any difference. PRESENT: no value was shown to be better than the current one. BETTER: the
# picked value has a better goal. CHEAPER: the picked value has a lower cost, and its goal is worse by at most MARGIN.
UNKNOWN, PRESENT, BETTER, CHEAPER = "unknown", "present", "better", "cheaper"


@dataclasses.dataclass(frozen=True)
class Contest:
    """The samples of all values: a list for each value, with a sample for each round."""
    goals: list[list[float]]
    costs: list[list[float]] | None     # None: no cost is measured
    current: int        # index of the drive's current value
    ordered: bool       # values are in ascending order; if several are equally good, the smallest is preferred
    goal: Figure
    cost: Figure | None = None


def _is_better(figure: Figure, d: Difference) -> bool:
    return d.differs and (d.factor < 1) == figure.kind.less_is_better


def _is_as_good(figure: Figure, d: Difference) -> bool:
    """Returns true if the samples show that the figure is not worse, or worse by at most MARGIN."""
    return d.known and (d.high <= 1 + MARGIN if figure.kind.less_is_better else d.low >= 1 - MARGIN)


@dataclasses.dataclass(frozen=True)
class Pick:
    reason: str
    index: int          # index of the picked value, or of the current value if no value is picked
    goal: Difference = Difference()     # the picked value compared with the current value, corrected as in _compare_all()
    cost: Difference = Difference()

    @property
    def changes(self) -> bool:
        return self.reason in (BETTER, CHEAPER)


def _find_best(c: Contest) -> int | None:
    """Returns the index of the value with the best median, or None if all values have too few samples."""
    levels = {i: level for i, level in enumerate(map(samples.level, c.goals)) if level is not None}
    return (min if c.goal.kind.less_is_better else max)(levels, key=levels.__getitem__) if levels else None


def _find_knee(c: Contest, best: int) -> int:
    """Returns the index of the smallest value that has enough samples and is not shown to be worse than the best value."""
    for i in range(best if c.ordered else 0):
        d = samples.compare_pairs(c.goals[best], c.goals[i], c.goal.error, 1)
        if d.known and (not d.differs or _is_better(c.goal, d)):
            return i
    return best


def _compare_all(c: Contest) -> tuple[list[Difference], list[Difference]]:
    """Compares goals and costs of all values with those of the current value, by Holm's procedure. Each comparison is corrected for the
    number of comparisons that have not shown a difference so far. The procedure ends when a pass finds no further difference."""
    families = [(c.goal, c.goals)] + ([(c.cost, c.costs)] if c.costs else [])
    found = [[Difference()] * len(c.goals) for _ in families]
    left, n_before = [(f, i) for f in range(len(families)) for i in range(len(c.goals)) if i != c.current], 0
    while len(left) != n_before:
        for f, i in left:
            figure, lists = families[f]
            found[f][i] = samples.compare_pairs(lists[c.current], lists[i], figure.error, len(left))
        n_before, left = len(left), [(f, i) for f, i in left if not found[f][i].differs]
    return found[0], found[1] if c.costs else []


def decide(c: Contest) -> Pick:
    """Picks a value. If all values are equal, the probability of picking another value than the current one is at most 5 %: all comparisons
    are corrected together (S. Holm, "A simple sequentially rejective multiple test procedure", 1979)."""
    best = _find_best(c)
    if best is None or len(c.goals) < 2:
        return Pick(UNKNOWN, c.current)
    goals, costs = _compare_all(c)
    knee = _find_knee(c, best)

    def take(reason: str, i: int) -> Pick:
        return Pick(reason, i, goals[i], costs[i] if costs else Difference())

    # Goes through the values from the knee to the best value. Picks the first that was shown to be better than the current value.
    for i in range(knee, best + 1):
        if i != c.current and _is_better(c.goal, goals[i]):
            return take(BETTER, i)
    if costs and knee != c.current and _is_as_good(c.goal, goals[knee]) and _is_better(c.cost, costs[knee]):
        return take(CHEAPER, knee)
    return Pick(PRESENT if any(d.known for d in goals) else UNKNOWN, c.current)
