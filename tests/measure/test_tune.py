# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of measuring one setting, on a simulated drive whose speed equals the value: the order of the values, the value that each sample
belongs to, and the end of the measurement."""
import math

from fake import Fake
from measure import bench, tune
from measure.bench import Measured
from measure.command import Trouble
from measure.figures import FIGURES, JOB_OF
from measure.pick import BETTER, PRESENT, UNKNOWN
from measure.tune import Busy, PresentUnavailable, ValueUnavailable, Tune, fit_idle_times


class Failed(Exception):
    """An error of set() that ends the measurement."""


class Tunes(Fake):
    def setUp(self):
        super().setUp()
        self.order = ""             # values in the order in which they were set
        self.refused, self.refused_from, self.failing_from = None, math.inf, math.inf
        self.value = "0"
        self.stop_at, self.waits, self.waited = 0, [], 0
        self.lost, self.looks, self.cycles, self.tells_cycles = None, 0, 0, True
        self.changes = {}
        self.patch(bench, "wait", self.wait)

    def set(self, value, _first):
        self.order += value
        n = len(self.order) - 1
        if n >= self.failing_from:
            raise Failed
        if n >= self.refused_from and value == self.refused:
            raise ValueUnavailable
        self.value = value

    def wait(self, _fd, seconds):
        """Lets idle times pass at once, and records their length."""
        self.waits.append(seconds)
        self.now, self.waited = self.now + seconds, seconds
        if len(self.waits) == self.stop_at:
            self.stop()
            return True
        return False

    def check_kept(self, _first):
        """Returns the drive's count of load cycles. The count grows by three each time that the idle times of the value 2 are measured."""
        self.looks += 1
        if self.looks % 2 == 0 and self.value == "2":
            self.cycles += 3
        if self.value == self.lost:
            raise ValueUnavailable
        return self.cycles if self.tells_cycles else None

    def make(self, goal="deep_rate", cost="deep_latency_p99", n_values=3, current="0", budget=16, **changes):
        meter = self.meter(budget=budget, **changes)
        return Tune(meter, FIGURES[goal], FIGURES[cost] if cost else None, [str(i) for i in range(n_values)], current, self.set, self.check_kept,
                    **self.changes)

    def run_tune(self, expected=None, **changes):
        x = self.make(**changes)
        if expected is None:
            x.run()
        else:
            with self.assertRaises(expected):
                x.run()
        return x

    def missing(self, x):
        return [[i for i, sample in enumerate(trial.goal) if math.isnan(sample)] for trial in x.trials]

    # The speed equals the value, with variations, so that intervals are wide.
    def wide(self, n):
        iops = 100 + 37 * n % 90
        return {"iops": iops, "bw": iops * 10000}

    def by_value(self, _n):
        return {"iops": 100 + 50 * int(self.value), "p99": 1000000 + int(self.value) * 1000}

    # ---- order of values ----

    def test_order(self):
        self.failing_from = 10
        x = self.run_tune(Failed)
        self.assertEqual(self.order, "01221001221")
        # The samples before the failure are available.
        self.assertEqual((x.rounds, len(x.trials), x.used), (4, 3, 10))
        self.assertEqual(self.missing(x), [[3], [3], []])
        self.assertEqual((self.n_reports, self.n_checks), (10, 10))

    def test_left_out(self):
        """An unavailable value is left out."""
        self.behave, self.refused_from = self.by_value, 0
        for refused, current, order in (("0", "2", "0122112"), ("1", "0", "0122002"), ("2", "0", "0121001")):
            with self.subTest(refused):
                self.order, self.refused = "", refused
                x = self.run_tune(current=current)
                self.assertEqual(self.order[:len(order)], order)
                self.assertEqual([t.value for t in x.trials], [v for v in "012" if v != refused])
                self.assertGreaterEqual(x.rounds, 6)
                for t in x.trials:
                    self.assertEqual(t.goal, [100 + 50 * int(t.value)] * x.rounds)
                self.assertEqual(x.trials[x.current].value, current)
                self.assertNotEqual(x.pick.reason, UNKNOWN)

    def test_refused_later(self):
        """A value that becomes unavailable after the first round is still tried in each round, but has no samples from then on."""
        self.behave, self.refused, self.refused_from = self.by_value, "1", 3
        for current in "01":
            with self.subTest(current):
                self.order = ""
                x = self.run_tune(current=current)
                self.assertEqual(self.order[:15], "012210012210012")
                self.assertEqual(len(x.trials), 3)
                self.assertEqual(self.missing(x)[1], list(range(1, x.rounds)))
                self.assertFalse([i for kept in (0, 2) for i in self.missing(x)[kept] if i < x.rounds - 1])

    def test_present_refused(self):
        """An unavailable present value ends the measurement."""
        self.refused, self.refused_from = "1", 0
        self.run_tune(PresentUnavailable, current="1")
        self.assertEqual(self.order, "01")

    def test_alone(self):
        """The measurement ends if only one value remains."""
        self.refused, self.refused_from = "1", 0
        x = self.run_tune(n_values=2)
        self.assertEqual((self.order, len(x.trials), x.pick.reason), ("01", 1, UNKNOWN))

    # ---- jobs ----

    def test_jobs(self):
        """If one job measures goal and cost, fio runs once for each value and round, otherwise twice. The first run of fio is not a sample."""
        self.failing_from = 6
        for goal, cost, runs in (("deep_rate", "deep_latency_p99", ["--name=deep "]), ("buffered", "mapped_latency", ["--name=buffered ", "--name=mapped "]),
                                 ("sequential_small", None, ["--name=small "])):
            with self.subTest(goal):
                self.order = ""
                self.log.clear()
                self.behave = lambda n: {**self.wide(n), "ns": 2000, "p99": self.wide(n)["iops"]}
                x = self.run_tune(Failed, goal=goal, cost=cost)
                self.assertEqual([len(self.runs(run)) for run in runs], [6] * len(runs))
                self.assertEqual(len(self.log), 1 + 6 * len(runs))
                self.assertEqual(x.used, 6)
                for trial in x.trials:
                    self.assertFalse(any(map(math.isnan, trial.goal[:2])))
                    self.assertEqual(any(map(math.isnan, trial.cost[:2])), cost is None)
                if goal == "deep_rate":
                    self.assertAlmostEqual(x.trials[2].cost[1], x.trials[2].goal[1] * 1e-9)

    def test_places(self):
        """No place is read twice, because the drive's cache may still have the data of the place."""
        self.behave, self.failing_from = self.wide, 24
        for goal in "buffered", "sequential_start":
            with self.subTest(goal):
                self.order = ""
                self.log.clear()
                self.run_tune(Failed, goal=goal, cost="mapped_latency", budget=160)
                for option, least in (("--offset=", 24), ("--randseed=", 48)):
                    found = [word for line in self.log[1:] for word in line.split() if word.startswith(option)]
                    self.assertGreaterEqual(len(found), least)
                    self.assertEqual(len(found), len(set(found)))

    def test_missing(self):
        """A sample that is left out is missing for its value and its round only."""
        self.failing_from = 6
        for goal, what, counts, complaint in (("deep_rate", {"extra": 4096}, (1, 0, 0), None), ("deep_rate", {"error": 5}, (0, 0, 1), "Input/output error"),
                                              ("buffered", {"extra": -528384}, (0, 1, 0), None)):
            with self.subTest(what):
                self.order = ""
                self.log.clear()
                self.behave = lambda n, what=what: what if n == 3 else {}
                x = self.run_tune(Failed, goal=goal, cost="deep_latency_p99" if goal == "deep_rate" else None)
                self.assertEqual((x.used, (x.seen.others, x.seen.cached, x.seen.errors), x.seen.complaint), (5, counts, complaint))
                self.assertEqual([[i for i in lost if i < 2] for lost in self.missing(x)], [[], [0], []])
                if goal == "deep_rate":
                    self.assertEqual([[math.isnan(c) for c in t.cost[:2]] for t in x.trials], [[False] * 2, [True, False], [False] * 2])

    # ---- end of the measurement ----

    def test_budget(self):
        self.behave = self.wide
        x = self.run_tune()
        self.assertTrue(16 - 2 * self.longest <= self.spent <= 16 + self.longest, self.spent)
        self.assertEqual(self.n_reports, len(self.order))
        self.assertGreater(x.rounds, 12)
        self.assertEqual(x.pick.reason, PRESENT)

    def test_most(self):
        self.behave = self.wide
        self.assertEqual(self.run_tune(samples_max=3).rounds, 3)

    def test_enough(self):
        """The measurement ends early if all intervals are narrow."""
        self.behave = self.by_value
        x = self.run_tune()
        self.assertLessEqual(x.rounds, 10)
        self.assertLess(self.spent, 12)
        self.assertEqual((x.pick.reason, x.pick.index), (BETTER, 2))

    def test_not_enough(self):
        """The measurement continues if one interval is wide."""
        self.behave = lambda n: self.by_value(n) if self.value == "0" else {**self.by_value(n), **self.wide(n)}
        self.run_tune()
        self.assertGreaterEqual(self.spent, 16 - 2 * self.longest)

    def test_busy(self):
        """The measurement ends if other programs use the drive in more than half of the samples."""
        for among_others, behave, expected in ((False, lambda n: 4096, Busy), (True, lambda n: 4096, None), (False, lambda n: n % 2 * 4096, None)):
            with self.subTest(expected=expected, among_others=among_others):
                self.order = ""
                self.log.clear()
                self.behave = lambda n, extra=behave: {**self.wide(n), "extra": extra(n)}
                self.changes = {"among_others": among_others}
                x = self.run_tune(expected)
                self.assertGreater(x.seen.others, 0)
                if expected:
                    self.assertEqual(self.order, "012210")
                else:
                    self.assertGreaterEqual(self.spent, 16 - 2 * self.longest)

    def test_refused(self):
        x = self.make()
        self.checks_max = 4
        with self.assertRaises(Trouble):
            x.run()
        self.assertEqual((self.order, x.used), ("01221", 4))

    def test_stopped(self):
        """If the user interrupts while fio runs, the sample of this run is dropped and no further value is set."""
        self.behave = lambda n: {"stop": n == 6}
        x = self.run_tune()
        self.assertEqual((self.order, x.used, x.seen.errors, x.pick.reason), ("01221", 4, 0, UNKNOWN))
        self.assertEqual(self.missing(x)[1], [1])

    def test_stopped_before(self):
        self.stop()
        x = self.run_tune()
        self.assertEqual((self.order, self.n_checks, x.used), ("", 0, 0))

    # ---- settings that save power ----

    def stay_idle(self, _n):
        """With the last value, reads are slow from 2 s of idle time on."""
        waited, self.waited = self.waited, 0
        return {"max": waited * 10 ** 7} if self.value == "2" and waited >= 2 else {}

    def curves(self, expected=None, n_idle=3, budget=600, **changes):
        self.order, self.waits, self.looks, self.cycles = "", [], 0, 0
        self.log.clear()
        self.changes = {"idle_times": tune.IDLE_TIMES[:n_idle], **self.changes}
        return self.run_tune(expected, goal="first_read", cost=None, budget=budget, **changes)

    def test_long_rest(self):
        """During long idle times the read permission is renewed."""
        job, m = JOB_OF["first_read"], Measured(FIGURES["first_read"])
        meter = self.meter()
        meter.sample(job, [m], 1, 65)
        self.assertEqual((len(self.waits), self.n_checks, len(m.samples)), (3, 2, 1))
        self.checks_max = 3
        with self.assertRaises(Trouble):
            meter.sample(job, [m], 2, 65)
        self.assertEqual(len(m.samples), 1)

    def test_curves(self):
        self.behave, self.failing_from = self.stay_idle, 6
        for self.tells_cycles in True, False:
            with self.subTest(self.tells_cycles):
                x = self.curves(Failed)
                self.assertEqual(self.order, "0122100")
                self.assertEqual((len(self.runs("--number_ios=1")), len(self.waits), self.looks, x.used), (24, 18, 12, 18))
                seeds = [word for line in self.log[1:] for word in line.split() if word.startswith("--randseed=")]
                self.assertEqual(len(seeds), len(set(seeds)))
                for i, trial in enumerate(x.trials):
                    self.assertEqual((trial.waits, trial.cycles), (6, (6 if i == 2 else 0) if self.tells_cycles else None))
                    for k, kept in enumerate(trial.after):
                        self.assertEqual(len(kept), 2)
                        self.assertAlmostEqual(kept[1], tune.IDLE_TIMES[k] * 1e-2 if i == 2 and k > 0 else 5e-6)
                    self.assertEqual(x.find_slow(trial), 1 if i == 2 else 3)
                    self.assertTrue(all(map(math.isnan, trial.goal[:2])))
                self.assertEqual((x.pick.reason, x.pick.index), (UNKNOWN, 0))

    def test_curves_not_kept(self):
        """A value that the drive does not keep is left out with its samples."""
        self.behave, self.lost, self.failing_from = self.stay_idle, "1", 5
        self.curves(PresentUnavailable, current="1")
        self.assertEqual(self.order, "01")
        x = self.curves(Failed)
        self.assertEqual(self.order, "012200")
        self.assertEqual([t.value for t in x.trials], ["0", "2"])
        self.assertEqual((x.trials[1].waits, x.find_slow(x.trials[1])), (6, 1))

    def test_curves_enough(self):
        """Each value is measured at most four times, because idle times wear the drive."""
        self.behave = self.stay_idle
        x = self.curves()
        self.assertEqual((self.order, len(x.trials[1].after[1])), ("012210012210", 4))

    def test_curves_busy(self):
        """If most samples of the first value are left out, the measurement ends, so that no further idle times wear the drive."""
        self.behave, self.failing_from = lambda n: {**self.stay_idle(n), "changes": n}, 3
        self.curves(Busy)
        self.assertEqual(self.order, "0")
        self.changes = {"among_others": True}
        self.curves(Failed)
        self.assertEqual(self.order, "0122")

    def test_curves_scattered(self):
        """Scattered latencies of a disk, 4 to 22 ms, are not slow reads."""
        self.behave = lambda n: {"max": 4000000 + 18000000 * (n * 37 % 101) // 101}
        for rounds in 1, 2, 3, 4:
            with self.subTest(rounds):
                self.failing_from = rounds * 3
                x = self.curves(None if rounds == 4 else Failed, n_idle=5, budget=60000)
                self.assertEqual([x.find_slow(trial) for trial in x.trials], [5] * 3)

    def test_curves_others(self):
        """I/O of other programs during an idle time drops the sample of this idle time."""
        self.behave, self.failing_from = lambda n: {**self.stay_idle(n), "changes": int(n >= 4)}, 3
        x = self.curves(Failed)
        self.assertEqual((x.seen.others, [len(kept) for kept in x.trials[0].after], x.find_slow(x.trials[0])), (1, [1, 0, 1], 3))

    def test_curves_stopped(self):
        """If the user interrupts during an idle time of a value, all samples of the value in this round are dropped."""
        self.behave, self.stop_at = self.stay_idle, 5
        x = self.curves()
        self.assertEqual((self.order, len(self.runs("--number_ios=1"))), ("01", 4 + 2))
        # The first value has its samples. The second value has none, because its idle times were interrupted.
        self.assertEqual((len(x.trials[0].after[2]), len(x.trials[1].after[0])), (1, 0))

    def test_curves_budget(self):
        """A value is measured only if all its idle times fit into the rest of the budget."""
        self.behave = self.stay_idle
        self.curves(budget=70)
        self.assertLessEqual(self.spent, 70)
        self.assertGreaterEqual(len(self.order), 6)
        self.assertEqual(len(self.waits) % 3, 0)

    def test_fits(self):
        """At least one idle time is used, and as many as fit into the budget."""
        for seconds, n_values, wake, n in ((10, 6, 1, 1), (2 * 6 * 8, 6, 1, 2), (2 * 6 * 8 - 1, 6, 1, 1), (600, 6, 1, 5), (600, 6, 10, 3), (7200, 6, 1, 9),
                                           (12 * 3600, 6, 10, 9)):
            with self.subTest(seconds=seconds, wake=wake):
                self.assertEqual(len(fit_idle_times(seconds, n_values, wake)), n)
