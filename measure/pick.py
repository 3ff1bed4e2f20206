# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which value of a setting is picked, by what was measured with each of them in turns. Pure. What was not shown to be better is not
picked: then the setting stays as it is."""
from __future__ import annotations

import dataclasses

from measure import samples
from measure.figures import Figure
from measure.samples import Difference

MARGIN = 0.03

# Why: there are too few samples to show any difference; none was shown to be better than the present one; the goal is better; it costs
# less, and the goal was shown to be no worse than by MARGIN.
UNKNOWN, PRESENT, BETTER, CHEAPER = "unknown", "present", "better", "cheaper"


@dataclasses.dataclass(frozen=True)
class Contest:
    """Of values, a list for each: a sample for each round."""
    goals: list[list[float]]
    costs: list[list[float]] | None     # None: it costs nothing that is measured
    current: int        # the value that the drive has
    ordered: bool       # from the smallest value to the largest, of which a smaller one that is as good is preferred
    goal: Figure
    cost: Figure | None = None


def _is_better(figure: Figure, d: Difference) -> bool:
    return d.differs and (d.factor < 1) == figure.kind.less_is_better


def _is_as_good(figure: Figure, d: Difference) -> bool:
    """Is it shown to be no worse than by so much?"""
    return d.known and (d.high <= 1 + MARGIN if figure.kind.less_is_better else d.low >= 1 - MARGIN)


@dataclasses.dataclass(frozen=True)
class Pick:
    reason: str
    index: int          # the present one where it stays
    goal: Difference = Difference()     # from the present one to the one that is picked; corrected as below
    cost: Difference = Difference()

    @property
    def changes(self) -> bool:
        return self.reason in (BETTER, CHEAPER)


def _find_best(c: Contest) -> int | None:
    """The one with the best median; None: there are too few samples of all."""
    levels = {i: level for i, level in enumerate(map(samples.level, c.goals)) if level is not None}
    return (min if c.goal.kind.less_is_better else max)(levels, key=levels.__getitem__) if levels else None


def _find_knee(c: Contest, best: int) -> int:
    """The smallest that was not shown to be worse than the best."""
    for i in range(best if c.ordered else 0):
        d = samples.compare_pairs(c.goals[best], c.goals[i], c.goal.error, 1)
        if d.known and (not d.differs or _is_better(c.goal, d)):
            return i
    return best


def _compare_all(c: Contest) -> tuple[list[Difference], list[Difference]]:
    """All values' goals with the present one's, and costs. By Holm's steps: each comparison is corrected for all that have not shown a
    difference yet, until none shows one any more."""
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
    """The chance that anything but the present value is picked where all are the same is 5 % or less: the picked one's differences are
    among those of all values, of which all together are corrected for (S. Holm, "A simple sequentially rejective multiple test
    procedure", 1979)."""
    best = _find_best(c)
    if best is None or len(c.goals) < 2:
        return Pick(UNKNOWN, c.current)
    goals, costs = _compare_all(c)
    knee = _find_knee(c, best)

    def take(reason: str, i: int) -> Pick:
        return Pick(reason, i, goals[i], costs[i] if costs else Difference())

    # Of those from the knee to the best the first that is shown to be better.
    for i in range(knee, best + 1):
        if i != c.current and _is_better(c.goal, goals[i]):
            return take(BETTER, i)
    if costs and knee != c.current and _is_as_good(c.goal, goals[knee]) and _is_better(c.cost, costs[knee]):
        return take(CHEAPER, knee)
    return Pick(PRESENT if any(d.known for d in goals) else UNKNOWN, c.current)
