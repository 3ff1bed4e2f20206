# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures one setting: tries the values in turn until the samples show which value is best, or the time is spent.
For a setting that saves power, picks no value, and measures the latency of the first read after idle times with each value."""
from __future__ import annotations

import dataclasses
import itertools
import math
import time
import typing

from measure import bench, fio, pick, samples
from measure.bench import Measured, Meter
from measure.figures import JOB_OF, Figure, Job

NARROW = 0.03       # the measurement may end if no interval is wider than this fraction of its median
BUSY_ROUNDS = 2
STEPS = 1 << 20

SLOW = 3            # a first read is slow if it takes this many times the usual latency or more; a disk's seeks differ less
IDLE_ROUNDS = 2
CURVE_ROUNDS_MAX = 4    # few rounds, because each idle time may wear the drive
TURN_EXTRA = 3      # s; time to set a value

# Idle times before the first read, in seconds.
IDLE_TIMES = (1, 2, 5, 10, 20, 30, 60, 120, 300)


def fit_idle_times(budget: float, n_values: int, wake: float) -> tuple[int, ...]:
    """Returns as many idle times as fit into the budget, if `n_values` values are measured in two rounds. Returns at least one idle time.
    `wake`: seconds that the first read after an idle time takes."""
    seconds = budget // IDLE_ROUNDS // n_values - TURN_EXTRA
    return IDLE_TIMES[:max(sum(turn <= seconds for turn in itertools.accumulate(idle + wake for idle in IDLE_TIMES)), 1)]


class Busy(Exception):
    """Other programs use the drive too much."""


class ValueUnavailable(Exception):
    """The drive rejects the value or does not keep it. If raised in the first round, the value is left out of the whole measurement."""


class PresentUnavailable(Exception):
    """The unavailable value is the current one: the setting cannot be measured."""


@dataclasses.dataclass(eq=False)
class Trial:
    """The samples of one value. `goal` and `cost` have a sample for each round; NaN stands for a missing sample. `after` has a list of
    samples for each idle time."""
    value: str
    goal: list[float] = dataclasses.field(default_factory=list)
    cost: list[float] = dataclasses.field(default_factory=list)
    after: list[list[float]] = dataclasses.field(default_factory=list)
    waits: int = 0                  # number of idle times
    cycles: int | None = 0          # load cycles of the drive during the idle times; None: the drive does not count them


@dataclasses.dataclass(eq=False)
class Tune:
    """The measurement of one setting. The last value stays set: the caller restores the old value. The samples are available even if run()
    raises Busy, PresentUnavailable or Trouble."""
    meter: Meter                # with the budget of this setting
    goal: Figure
    cost: Figure | None         # None: no cost is measured
    values: dataclasses.InitVar[list[str]]
    present: str                # the current value of the drive
    set: typing.Callable[[str, bool], None]     # sets a value; the flag is true in the first round
    check_kept: typing.Callable[[bool], int | None] | None = None     # checks that the drive keeps the value; returns its load cycles
    ordered: bool = False       # values are in ascending order
    among_others: bool = False  # continue although other programs use the drive most of the time
    idle_times: tuple[int, ...] = ()    # for a setting that saves power: seconds without I/O before each sample; otherwise empty

    rounds: int = 0

    def __post_init__(self, values: list[str]):
        self.seen = Measured(self.goal)     # samples of all values together
        self.trials = [Trial(value, after=[[] for _ in self.idle_times]) for value in values]
        self.pick = pick.Pick(pick.UNKNOWN, self.current)
        # Starts at a new place: the drive's cache may still have the data of an earlier measurement. The modulo keeps
        # the step small: sample() would map very large steps to a few places only.
        self._step = int(time.time() * 1e6) % STEPS
        self._start = self._longest = 0.0

    @property
    def current(self) -> int:
        return next((i for i, trial in enumerate(self.trials) if trial.value == self.present), 0)

    @property
    def used(self) -> int:
        return len(self.seen.samples)

    @property
    def has_seen(self) -> bool:
        return bool(self.used + self.seen.others + self.seen.cached + self.seen.errors)

    def run(self) -> None:
        self._start = bench.monotonic()
        try:
            self.meter.warm_up()
            goes_on = True
            while goes_on and len(self.trials) > 1 and self.rounds < self.meter.samples_max:
                goes_on = self._round()
                if self.rounds >= BUSY_ROUNDS and self._is_busy():
                    raise Busy
                goes_on = goes_on and not self._is_enough()
        except fio.Stopped:
            pass
        finally:
            picks = self.rounds > 0 and not self.idle_times
            self.pick = pick.decide(self._contest()) if picks else pick.Pick(pick.UNKNOWN, self.current)

    # ---- one value, once ----

    def _sample(self, trial: Trial, job: Job, step: int, idle: float = 0) -> None:
        self.meter.check_ready()
        items, used = {figure: self.seen if figure is self.goal else Measured(figure) for figure in job.figures}, self.used
        self.meter.sample(job, list(items.values()), step, idle)
        if self.goal in items:
            trial.goal[-1] = self.seen.samples[-1] if self.used > used else math.nan
        if self.cost in items:
            trial.cost[-1] = next(iter(items[self.cost].samples), math.nan)

    def _run_jobs(self, trial: Trial) -> None:
        goal, cost = JOB_OF[self.goal.key], JOB_OF[self.cost.key] if self.cost else None
        self._step += 1
        self._sample(trial, goal, self._step)
        # The two jobs use separate step numbers, so that the places of each job are spread over the whole drive.
        if cost and cost is not goal:
            self._sample(trial, cost, self._step + STEPS)

    def _run_curve(self, trial: Trial) -> None:
        """Measures the first read after each idle time. The read at the end of an idle time also begins the next idle time. Raises
        ValueUnavailable if the drive has not kept the value; the samples are invalid then."""
        job, seconds = JOB_OF[self.goal.key], []
        # The first read brings the drive out of any low-power state.
        self.meter.check_ready()
        self._step += 1
        self.meter.sample(job, [Measured(self.goal)], self._step)
        before = self.check_kept(self.rounds == 1)
        for idle in self.idle_times:
            self._step += 1
            self._sample(trial, job, self._step, idle)
            seconds.append(trial.goal[-1])
            trial.goal[-1] = math.nan
            self.meter.report_progress(bench.monotonic() - self._start)
        after = self.check_kept(self.rounds == 1)

        for kept, value in zip(trial.after, seconds):
            kept += [value] * (not math.isnan(value))
        trial.waits += len(self.idle_times)
        trial.cycles = None if None in (trial.cycles, before, after) else trial.cycles + after - before

    # ---- rounds ----

    def _contest(self) -> pick.Contest:
        costs = [t.cost for t in self.trials] if self.cost else None
        return pick.Contest([t.goal for t in self.trials], costs, self.current, self.ordered, self.goal, self.cost)

    def _is_enough(self) -> bool:
        if self.idle_times:
            return self.rounds >= CURVE_ROUNDS_MAX
        estimates = [samples.estimate(trial.goal, self.goal.error) for trial in self.trials]
        narrow = all(e.bounded and e.high - e.low <= NARROW * e.median for e in estimates)
        return narrow and pick.decide(self._contest()).reason != pick.UNKNOWN

    def _is_busy(self) -> bool:
        return self.seen.others > self.used and not self.among_others

    def _round(self) -> bool:
        """Runs one round. Returns false if the time is spent or the user interrupts. Every other round tries the values in reverse
        order, so that no value gains by its place in the order or by slow changes."""
        meter = self.meter
        self.rounds += 1
        for trial in self.trials:
            trial.goal.append(math.nan)
            trial.cost.append(math.nan)
        for trial in self.trials[::1 if self.rounds % 2 == 1 else -1]:
            begun = bench.monotonic()
            if fio.wait_for_stop(meter.stop_fd, 0) or begun - self._start + self._longest > meter.budget:
                return False
            try:
                self.set(trial.value, self.rounds == 1)
                if self.idle_times:
                    self._run_curve(trial)
                else:
                    self._run_jobs(trial)
            except ValueUnavailable:
                # After the first round the value stays in the measurement, because it may become available again.
                if self.rounds == 1 and trial.value == self.present:
                    raise PresentUnavailable from None
                if self.rounds == 1:
                    self.trials.remove(trial)
                    continue
            if self.idle_times and self._is_busy():
                raise Busy
            self._longest = max(self._longest, bench.monotonic() - begun)
            meter.report_progress(bench.monotonic() - self._start)
        return True

    # ---- slow first reads ----

    @property
    def slow_limit(self) -> float:
        """Returns the seconds from which on a first read is slow: three times the usual latency. The usual latency is the smallest of all
        medians; there is a median for each value and for each idle time."""
        groups = [[s for kept in trial.after for s in kept] for trial in self.trials]
        groups += [[s for trial in self.trials for s in trial.after[k]] for k in range(len(self.idle_times))]
        return SLOW * min((samples.median(group) for group in groups if group), default=math.nan)

    def find_slow(self, trial: Trial) -> int:
        """Returns the index of the shortest idle time from which on every first read was slow. This idle time and all longer idle times
        must have at least two samples. If there is no such idle time, returns the number of idle times."""
        limit, first = self.slow_limit, len(trial.after)
        while first > 0 and len(trial.after[first - 1]) >= 2 and all(s >= limit for s in trial.after[first - 1]):
            first -= 1
        return first
