# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of measure/bench.py: the arguments of fio, the samples that are left out, and the end of a measurement."""
import os
import re

from fake import GIB, Fake
from measure.bench import Measured
from measure.command import Trouble
from measure.figures import FIGURES, JOB_OF

READ_ONLY = "--readonly "
SEQUENTIAL = " --rw=read --bs=1M --direct=1 --ioengine=libaio --iodepth=4"


def head(ms, seed):
    return (f"--output-format=json --thread --runtime={ms}ms --randseed={seed} --norandommap --invalidate=0 --fadvise_hint=0 "
            "--allow_file_create=0 ")


def changes_by(n):
    return {"changes": n}


# Each case: the results of fio that differ from the defaults of fake.py, and whether the kernel counts I/O. Then what is expected: the name
# of the counter that a sample of sequential_start increases, the same for a sample of buffered, and the complaint.
USED = ((lambda n: {}, True, "samples", "samples", None),
        (lambda n: {"extra": 4096}, True, "others", "samples", None),
        (lambda n: {"extra": 524288}, True, "others", "samples", None),
        (lambda n: {"extra": 528384}, True, "others", "others", None),
        (changes_by, True, "others", "others", None),
        (lambda n: {"extra": -524288}, True, "samples", "samples", None),
        (lambda n: {"extra": -528384}, True, "samples", "cached", None),
        (lambda n: {"counted": 0}, False, "samples", "samples", None),
        (lambda n: {"error": 5}, True, "errors", "errors", "Input/output error"),
        (lambda n: {"ms": 250}, True, "samples", "samples", None),
        (lambda n: {"ms": 249}, True, "errors", "errors", "fio read the whole zone in 249 ms, which is too short to measure"))


class Benches(Fake):
    def bench(self, **changes):
        figures = {}
        self.log.clear()
        self.reads, self.now = 0, 0.0
        m = self.meter(**changes)
        self.put("class/sda/stat", "1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0")
        m.run(figures)
        return figures if m.counted else {**figures, "uncounted": None}

    # ---- arguments of fio ----

    def test_arguments(self):
        """fio reads from the right places: with 64 GiB, a zone is 2 GiB."""
        self.bench()
        for text in (head(500, 1) + READ_ONLY + "--name=start --filename=/dev/none --offset=0 --size=1073741824" + SEQUENTIAL,
                     head(500, 2) + READ_ONLY + "--name=start --filename=/dev/none --offset=662700032 --size=1073741824" + SEQUENTIAL,
                     head(500, 2) + READ_ONLY + "--name=middle --filename=/dev/none --offset=35022438400 --size=1073741824" + SEQUENTIAL,
                     head(500, 2) + READ_ONLY + "--name=end --filename=/dev/none --offset=67234693120 --size=1073741824" + SEQUENTIAL):
            with self.subTest(text):
                self.assertIn(text, self.log)
        for text in (" --size=536870912 --rw=read --bs=128k --direct=0 --ioengine=psync", READ_ONLY + "--name=latency --filename=/dev/none "
                     "--size=68719476736 --time_based --rw=randread --bs=4k --direct=1 --ioengine=psync", READ_ONLY + "--name=random "
                     "--filename=/dev/none --size=68719476736 --time_based --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32"):
            with self.subTest(text):
                self.assertTrue(any(line.endswith(text) for line in self.log))
        # No job may write to the drive.
        for line in self.log:
            self.assertIn(READ_ONLY, line)
            for text in "--rw=write", "--rw=randrw", "--invalidate=1":
                self.assertNotIn(text, line)

    def test_places(self):
        """No two samples of one measurement begin at the same place."""
        self.bench(budget=160)
        places = [re.search(r"--offset=\d+", line).group() for line in self.log[1:] if "--offset=" in line]
        self.assertEqual(len(places), len(set(places)))
        self.assertGreater(len(places), 80)

    def test_apart(self):
        """Consecutive samples do not overlap, even if the drive is fast."""
        self.bench()
        last, places = None, [tuple(map(int, re.search(r"--offset=(\d+) --size=(\d+)", line).groups())) for line in self.runs("--name=buffered ")]
        for offset, size in places:
            self.assertEqual(size, GIB // 2)
            self.assertTrue(2 * GIB <= offset and offset + size <= 6 * GIB, offset)
            self.assertTrue(last is None or abs(offset - last) >= size, (last, offset))
            last = offset
        self.assertGreater(len(places), 5)

    def test_most(self):
        figures = self.bench(samples_max=3)
        self.assertEqual({len(m.samples) for m in figures.values()}, {3})

    def test_file(self):
        with open("file", "w+b") as file:
            figures = self.bench(file=file.fileno())
            path = f"--filename=/proc/{os.getpid()}/fd/{file.fileno()}"
        for text in (f"fadvise_hint=0 --allow_file_create=0 --name=fsync {path} --size=134217728 --time_based --rw=write --bs=4k --fsync=1 "
                     "--ioengine=psync", f"fadvise_hint=0 --allow_file_create=0 --name=mixed {path} --size=134217728 --time_based --rw=randrw "
                     "--rwmixread=70 --bs=4k --direct=1 --ioengine=libaio --iodepth=8"):
            self.assertTrue(any(line.endswith(text) for line in self.log), text)
        self.assertAlmostEqual(figures["fsync_latency"].samples[0], 5e-6)
        self.assertEqual(figures["mixed_rate"].samples[0], 100.5)
        # The drive itself is still read, and only the file is written.
        for line in self.log:
            self.assertTrue("--filename=/dev/" not in line or READ_ONLY in line, line)

    def test_beside(self):
        """A job that reads the drive while a file is written runs without --readonly."""
        job, m = JOB_OF["throttled_latency"], Measured(FIGURES["throttled_latency"])
        with open("file", "w+b") as file:
            meter = self.meter(file=file.fileno(), counted=True)
            self.behave = lambda n: {"extra": 4096, "changes": 1}
            meter.sample(job, [m], 6)
            self.assertEqual(self.log, [
                head(1000, 7) + "--name=throttled --filename=/dev/none --size=68719476736 --time_based --rw=randread --bs=4k --direct=1 "
                f"--ioengine=psync --group_reporting --name=beside --group_reporting --filename=/proc/{os.getpid()}/fd/{file.fileno()} "
                "--size=134217728 --time_based --rw=write --bs=128k --direct=0 --ioengine=psync --sync_file_range=write:8"])
            # The writes of the job itself do not invalidate the sample.
            self.assertEqual(len(m.samples), 1)
            self.assertAlmostEqual(m.samples[0], 1e-6)
            # A sample during which other programs read is left out.
            self.behave = lambda n: {"extra": 2097152}
            meter.sample(job, [m], 7)
        self.assertEqual((len(m.samples), m.others), (1, 1))

    # ---- choice of samples ----

    def test_used(self):
        for number, (behave, counted, start, buffered, complaint) in enumerate(USED):
            with self.subTest(number):
                self.behave = behave
                figures = self.bench()
                self.assertEqual("uncounted" not in figures, counted)
                self.assertEqual(len(figures), 7 + (not counted))
                for key, kept_as in (("sequential_start", start), ("buffered", buffered)):
                    m = figures[key]
                    counts = {"samples": len(m.samples), "others": m.others, "cached": m.cached, "errors": m.errors}
                    self.assertGreaterEqual(counts.pop(kept_as), 10)
                    self.assertEqual(set(counts.values()), {0}, key)
                self.assertEqual(figures["sequential_start"].complaint, complaint)
                if start == "samples":
                    for key, value in (("sequential_start", 2e6), ("random_latency", 1e-6), ("random_latency_p99", 9e-6), ("random_rate", 70.5)):
                        self.assertAlmostEqual(figures[key].samples[0], value)

    def test_switched_off(self):
        """If the kernel stops counting I/O during the measurement, the samples before and after this moment are valid."""
        def behave(n):
            if n == 4:
                self.put("class/sda/queue/iostats", "0")
            return {"counted": 6144} if n >= 4 else {}
        self.behave = behave
        figures = self.bench()
        self.assertIn("uncounted", figures)
        self.assertGreaterEqual(len(figures["sequential_start"].samples), 10)

    def test_nothing(self):
        """A sample in which fio finished no request is an error."""
        self.behave = lambda n: {"ns": 0}
        figures = self.bench()
        self.assertEqual((figures["random_latency"].samples, figures["random_latency"].complaint), ([], "fio measured nothing"))
        self.assertTrue(figures["random_latency_p99"].samples)

    def test_below(self):
        """I/O of other programs on a member disk of an array is noticed."""
        def disk(sectors, changes=0):
            self.put("class/sdb/stat", f"1 0 {sectors} 0 {changes} 0 0 0 0 0 0 0 0 0 0 0 0")
            return {}
        cases = ((lambda n: disk(self.reads + 2048), True, True), (lambda n: disk(self.reads * 2 + 4096), False, True),
                 (lambda n: disk(0, n), False, True), (lambda n: self.put("class/sdb/queue/iostats", "0") or {}, True, False))
        for number, (behave, used, counted) in enumerate(cases):
            with self.subTest(number):
                self.behave = behave
                disk(0)
                figures = self.bench(below=["sdb"])
                self.assertEqual("uncounted" not in figures, counted)
                self.assertEqual(bool(figures["sequential_start"].samples), used)
                self.assertEqual(figures["sequential_start"].others > 0, not used)

    def test_settles(self):
        """A sample begins only after the read-ahead of the previous sample has ended."""
        self.put("class/sda/inflight", "       1        0")
        self.behave = lambda n: (n >= 9 and self.put("class/sda/inflight", "0 0")) or {}
        self.assertGreater(len(self.bench()["sequential_start"].samples), 4)

    def test_large_read_ahead(self):
        """Samples are larger than the read-ahead, so that reads from the page cache are noticed."""
        self.put("class/sda/queue/read_ahead_kb", "16384")
        self.bench()
        self.assertTrue(self.runs(" --size=536870912 --rw=read --bs=128k"))

    # ---- end of the measurement ----

    def test_budget(self):
        """No sample begins after the budget is spent."""
        self.bench()
        self.assertTrue(39 <= self.spent <= 40.2, self.spent)
        self.assertEqual(self.n_reports, self.n_checks)

    def test_refused(self):
        figures, meter = {}, self.meter()
        self.checks_max = 9
        with self.assertRaises(Trouble):
            meter.run(figures)
        self.assertEqual((len(figures["sequential_start"].samples), len(figures["buffered"].samples)), (2, 1))

    def test_stopped(self):
        """An interrupt while fio runs drops the sample of this run; earlier samples are kept."""
        self.behave = lambda n: {"stop": n == 9}
        figures = self.bench()
        self.assertEqual([len(figures[key].samples) for key in ("sequential_start", "sequential_middle")], [2, 1])
        self.assertEqual(figures["sequential_middle"].errors, 0)

    def test_stopped_before(self):
        self.stop()
        self.assertEqual(self.bench()["sequential_start"].samples, [])
        self.assertEqual(self.n_checks, 0)
