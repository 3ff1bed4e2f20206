# SPDX-License-Identifier: LGPL-2.1-or-later
"""Output of `drivekeep tune` for a setting that saves power: table, notes, JSON and picture. The measurement itself: test_tune.py."""
import contextlib
import io
import json
import types

from fake import Fake, drive
from measure import plot, report
from measure.temporary import Temporary
from measure.pick import UNKNOWN, Pick
from measure.tunables import TUNABLES
from measure.tune import Tune
from measure.tuning import Tuning

# Latencies in seconds: for each value of apm, the samples after each idle time. The latencies with 127 stay just below three times the usual
# 13 ms. The value 254 lacks samples.
LATENCIES = {"64": [[0.012, 0.512], [0.520, 0.530]], "127": [[0.011, 0.014], [0.036, 0.037]], "254": [[], [0.013]]}

TABLE = """\
apm: first read after idle time, for each idle time
apm         1 s     2 s       LOAD CYCLES
 64 -    262 ms  525 ms 3 in 4 idle times
127 -   12.5 ms 36.5 ms 0 in 4 idle times
254 now       - 13.0 ms                 -
apm = 64: the first read after 2 s of idle time is slow (525 ms)
apm = 127: up to 2 s of idle time, no first read is slow
apm = 254: too few samples
apm is not changed (254): no value is best, because a value that saves more power makes the first read slower
--budget=1h is enough to measure apm alone with idle times up to 300 s
samples left out: 1 because other programs used the drive, 0 from the page cache, 0 because of errors

No setting changes.
"""

# Samples of apm = 64 after each idle time, and the expected note.
SENTENCES = (([0.505, 0.515], [5.05, 5.15],
              "apm = 64: the first read after idle times of 1 s or more is slow (510 ms after 1 s, 5.10 s after 2 s)"),
             ([0.505, 0.515], [0.012, 5.15], "apm = 64: some first reads are slow, without a clear link to the idle time"),
             ([0.012, 0.014], [0.013, 0.015], "apm = 64: up to 2 s of idle time, no first read is slow"))


class Curves(Fake):
    def setUp(self):
        super().setUp()
        options = types.SimpleNamespace(json=False, no_legend=False, write=False)
        self.subject = types.SimpleNamespace(options=options, name="sda", drive=drive("sda", model="DISK", serial="S1"))
        t = self.tuning = Tuning(TUNABLES["apm"])
        t.present, t.values = "254", list(LATENCIES)
        t.temporary = Temporary(self.subject, "apm", "254", {}, True)
        t.tune = Tune(self.meter(counted=True), t.goal, None, t.values, "254", t.temporary.set, ordered=True, idle_times=(1, 2))
        for trial in t.tune.trials:
            trial.after, trial.waits = [list(kept) for kept in LATENCIES[trial.value]], 4
            trial.cycles = {"64": 3, "127": 0, "254": None}[trial.value]
            trial.goal = [float("nan")] * 2
        t.tune.rounds, t.tune.seen.samples, t.tune.seen.others, t.tune.pick = 2, [1] * 9, 1, Pick(UNKNOWN, 2)

    def show(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            report.show(self.subject, [self.tuning])
        return out.getvalue()

    def test_table(self):
        self.assertEqual(self.show(), TABLE)

    def test_sentences(self):
        for first, last, text in SENTENCES:
            with self.subTest(text):
                self.tuning.tune.trials[0].after = [first, last]
                self.assertIn(text, self.show())

    def test_slow(self):
        self.assertEqual([self.tuning.tune.find_slow(trial) for trial in self.tuning.tune.trials], [1, 2, 2])

    def test_share(self):
        """A setting that saves power gets as much time for each of its values as other settings."""
        self.assertEqual(self.tuning.share, 3000)
        for setting, share in (("scheduler", 3000), ("read_ahead_kb", 3000), ("max_sectors_kb", 1500)):
            t = Tuning(TUNABLES[setting])
            t.values = ["a", "b", "c"]
            self.assertEqual(t.share, share)
        self.tuning.lacking = "it sleeps"
        self.assertEqual(self.tuning.share, 0)

    def test_json(self):
        """No value is picked, so the JSON has no configuration."""
        self.subject.options.json = True
        document = json.loads(self.show())
        self.assertEqual(document["block"], [])
        setting, = document["settings"]
        self.assertEqual((setting["reason"], setting["picked"], len(setting["values"])), ("curve", "254", 3))
        value = setting["values"][0]
        self.assertEqual(value["idle"][1], {"seconds": 2, "median": 0.525, "samples": [0.520, 0.530]})
        self.assertEqual((len(value["idle"]), value["slow_after"], value["load_cycles"], value["waits"]), (2, 2, 3, 4))
        value = setting["values"][2]
        self.assertEqual((value["slow_after"], value["load_cycles"], value["idle"][0]["median"]), (None, None, None))

    def test_picture(self):
        """The picture has a line for each value, and a point for a value with samples of one idle time only."""
        text = plot.draw(self.subject, [self.tuning], "svg").decode()
        for part in ">apm: first read after idle time (less is better)</text>", ">254 (now)</text>", ">2 s</text>":
            self.assertIn(part, text)
