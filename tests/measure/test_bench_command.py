# SPDX-License-Identifier: LGPL-2.1-or-later
"""`drivekeep bench` as a whole: refusals, output, saved results, and comparisons."""
import json
import os
import signal

from fake import FakeService, GIB, Program, drive, row
from measure import bench, command, fio, result, subject, sysfs
from measure.figures import FIGURES

OPEN_STOP = subject.open_stop
SPREAD = 1, 1.004, 0.996, 1.002, 0.998, 1.001

TABLE = """\
MEASURED                         MEDIAN       95 % INTERVAL SAMPLES LEFT OUT
sequential, start (outer zone) 150 MB/s 149.1 to 150.9 MB/s      12 2 (other programs used the drive), 1 (in the page cache)
random 4 KiB, median latency    8.00 ms   7.922 to 8.079 ms      12 -
random 4 KiB, 32 at once         120 /s   119.3 to 120.7 /s      12 -
sequential, with read-ahead           -                   -       0 4 (Input/output error)

Saved as sda-20"""

DIFFERENCES = """\
MEASURED                         BEFORE    AFTER DIFFERENCE
sequential, start (outer zone) 150 MB/s 158 MB/s 5.0 % faster (3.7 to 6.3 %)
random 4 KiB, median latency    8.00 ms  7.62 ms 4.8 % shorter (2.9 to 6.6 %)
random 4 KiB, 32 at once         120 /s   120 /s 12 samples show no difference
sequential, with read-ahead           -        - not known: too few samples
before: sda-20"""

REFUSED = ((["sda"], {"user": 1000}, "only root may measure drives"),
           (["sdx"], {}, "'sdx' is no drive that drivekeep knows"),
           (["sda", "sdb"], {}, "only one drive can be measured at a time"),
           (["sr0"], {}, "sr0 is not measured: it is an optical drive"),
           (["sdc"], {}, "sdc is not measured: it has less than 4 GiB, or no medium"),
           (["sda"], {"sda": {"state": "standby"}}, "sda is not measured: sda is in a low-power state"),
           (["sda"], {"sda": {"state": "suspended"}}, "sda is not measured: sda is in a low-power state"),
           (["sda"], {"sda": {"state": "sleep"}}, "sda is not measured: sda is in a low-power state"),
           (["md0"], {"sdb": {"state": "standby"}}, "md0 is not measured: sdb is in a low-power state"),
           (["sda"], {"sda": {"wear": None}}, "sda is not measured: sda does not answer"),
           (["sda"], {"wear": ("sda", {"testing": True})}, "sda is not measured: sda runs a self-test\n"),
           (["sda"], {"wear": ("sda", {"celsius": 61})}, "sda is not measured: sda has 61 C, above the limit of 60 C\n"),
           (["nvme0n1"], {"wear": ("nvme0n1", {"testing": True})}, "nvme0n1 is not measured: nvme0n1 runs a self-test\n"),
           (["nvme0n1"], {"wear": ("nvme0n1", {"celsius": 82, "celsius_max": 81})},
            "nvme0n1 is not measured: nvme0n1 has 82 C, above its warning limit of 81 C\n"),
           (["sda"], {"sync": "resync"}, "sda is not measured: md0 is busy with 'resync'"),
           (["md0"], {"sync": "check"}, "md0 is not measured: md0 is busy with 'check'"),
           (["sda", "--budget=9s"], {}, "'9s' is not a valid time: write --budget=3min, or another time from 10s to 12h"),
           (["sda", "--budget=13h"], {}, "'13h' is not a valid time"),
           (["sda", "--budget=100"], {}, "'100' is not a valid time"),
           (["sda", "--budget=long"], {}, "'long' is not a valid time"),
           (["sda", "--file=none"], {}, "'none' is not a directory: --file needs a directory on sda"),
           (["sda", "--file=/proc"], {}, "'/proc' is on an unknown drive"),
           (["--budget=1min"], {}, "--budget and --file need a drive to measure"),
           (["--compare", "--file=."], {}, "--budget and --file need a drive to measure"),
           (["sda"], {"fio": False}, "drivekeep bench needs fio: install the package 'fio'"),
           (["sda"], {"early": True}, "sda cannot be read now: a visit to the drive takes long; try again later"))

NOT_COMPARED = ((["--compare"], "kept does not have two measurements of sda"),
                (["--compare", "sdx"], "'sdx' is no drive that drivekeep knows"),
                (["--compare", "5YD1"], "kept does not have two measurements of 5YD1"),
                (["--compare", "sdb"], "kept does not have two measurements of sdb"),
                (["--compare", "a", "b"], "the measurement 'a' cannot be read: No such file or directory"),
                (["--compare", "a", "b", "c"], "too many names"),
                (["--compare", "kept/bad.json", "b"], "'kept/bad.json' is not a measurement of 'drivekeep bench'"))


class Command(Program):
    def setUp(self):
        super().setUp()
        ata = [row("apm", "ata", "254"), row("acoustic", "ata", None)]
        for each in (drive("md0"), drive("sda", model="ST2000", serial="5YD1", key="0x5000", settings=ata), drive("sdb", settings=ata),
                     drive("sdc", size=0), drive("sr0", size=GIB, settings=[row("speed", "optical", None)]),
                     drive("nvme0n1", settings=[row("power_state", "nvme", "0")])):
            self.drives[each["name"]] = each
        self.patch(sysfs, "disks_below", lambda name: ["sda", "sdb"] if name == "md0" else [name])
        self.patch(sysfs, "above", lambda name: ["md0"] if name in ("sda", "sdb") else [])
        self.patch(bench.Meter, "run", lambda meter, figures: self.run_meter(meter, figures))
        self.meters, self.level, self.n_samples, self.counted = [], 1, 12, True
        self.times = iter(range(1764190865, 1764190965))
        self.patch(subject.time, "time", lambda: next(self.times))

    def run_meter(self, meter, figures):
        self.meters.append(meter)
        meter.report_progress(meter.budget / 2)
        for key, level in (("sequential_start", 150e6 * self.level), ("random_latency", 0.008 / self.level), ("random_rate", 120)):
            bench.measured(figures, FIGURES[key]).samples = [level * SPREAD[i % 6] for i in range(self.n_samples)]
        figures["sequential_start"].others, figures["sequential_start"].cached = 2, 1
        failed = bench.measured(figures, FIGURES["buffered"])
        failed.errors, failed.complaint = 4, "Input/output error"
        meter.counted = self.counted
        meter.check_ready()

    def bench(self, *words):
        return self.run_program("bench", "--results=kept", *words)

    def measure(self, name):
        self.assertEqual((self.bench(name), self.err), (0, ""))

    def kept(self):
        return sorted(os.listdir("kept")) if os.path.isdir("kept") else []

    # ---- measuring ----

    def test_show(self):
        self.assertEqual((self.bench("sda"), self.err), (0, ""))
        self.assertTrue(self.out.startswith(TABLE), self.out)
        meter, = self.meters
        self.assertEqual((meter.budget, meter.samples_max, meter.node, meter.size, meter.below, meter.file), (180, 1000, "/dev/sda", 9 * GIB, [], -1))

    def test_json(self):
        self.assertEqual(self.bench("5YD1", "--json", "--budget=1h"), 0)
        self.assertEqual(self.meters[0].budget, 3600)
        r = result.from_json(self.out, "x")
        self.assertEqual((r.texts["host"], len(r.texts["boot_id"])), (os.uname().nodename, 32))
        self.assertEqual(r.settings, [{"drive": "sda", "key": "0x5000", "name": "apm", "value": "254"}])

    def test_budgets(self):
        for text, seconds in (("10s", 10), ("1h 30min", 5400), ("2m", 120), ("0.5h", 1800), ("12h", 43200), ("90 sec", 90)):
            with self.subTest(text):
                self.assertEqual(subject.parse_budget(text), seconds)

    def test_array(self):
        self.assertEqual(self.bench("md0", "--json"), 0)
        self.assertEqual(self.meters[0].below, ["sda", "sdb"])
        self.assertEqual([s["drive"] for s in result.from_json(self.out, "x").settings], ["sda", "sdb"])

    def test_progress(self):
        """The progress bar appears on a terminal, and disappears at the end."""
        self.is_terminal = True
        for quiet, expected in (("--no-pager", "\rsda [###############               ]  50 %, 1 min 30 s left\033[K\r\033[K"), ("--quiet", "")):
            with self.subTest(quiet):
                self.assertEqual(self.bench("sda", quiet), 0)
                self.assertEqual(self.err, expected)

    def test_signals(self):
        """Signals end the measurement but not the program; ignored signals, as by nohup(1), stay ignored."""
        for number, ignored in ((signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGHUP, False), (signal.SIGHUP, True), (signal.SIGINT, True)):
            with self.subTest(number=number, ignored=ignored):
                before = signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL)
                self.addCleanup(signal.signal, number, before)
                others = [signal.getsignal(each) for each in command.SIGNALS]
                fd = OPEN_STOP()
                os.kill(os.getpid(), number)
                self.assertEqual(fio.wait_for_stop(fd, 0), not ignored)
                for each, handler in zip(command.SIGNALS, others):
                    signal.signal(each, handler)
                os.close(fd)

    def test_uncounted(self):
        self.counted = False
        self.assertEqual(self.bench("sda"), 0)
        self.assertIn("the kernel does not count I/O of sda", self.out)

    def test_refused(self):
        for words, changes, text in REFUSED:
            with self.subTest(text):
                before = json.dumps(self.drives)
                self.patch(os, "geteuid", lambda changes=changes: changes.get("user", 0))
                self.patch(fio, "is_installed", lambda changes=changes: changes.get("fio", True))
                self.put("class/md0/md/sync_action", changes.get("sync", "idle"))
                self.service = FakeService() if "early" in changes else None
                if self.service:
                    self.service.gate = lambda name: "a visit to the drive takes long"
                for name in self.drives:
                    self.drives[name].update(changes.get(name, {}))
                if "wear" in changes:
                    self.drives[changes["wear"][0]]["wear"].update(changes["wear"][1])
                status = self.bench(*words)
                self.assertIn(text, self.err)
                self.assertEqual((status, self.out, self.meters, self.kept()), (75 if "early" in changes else 1, "", [], []))
                self.drives = json.loads(before)

    def test_not_refused(self):
        """A drive at its temperature limit, a drive that reports no temperature or no limit, and an idle array are measured."""
        for name, wear in (("sda", {"celsius": 60}), ("nvme0n1", {"celsius": 36, "celsius_max": 81}), ("nvme0n1", {"celsius": 81, "celsius_max": 81}),
                           ("nvme0n1", {"celsius": 82}), ("nvme0n1", {"celsius_max": 81})):
            with self.subTest(wear):
                self.drives[name]["wear"] = {**drive("x")["wear"], **wear}
                self.put("class/md0/md/sync_action", "frozen")
                self.measure(name)

    def test_ended(self):
        """If the service must visit the drive, the measurement ends. Its earlier samples are shown and saved."""
        self.service, n = FakeService(), iter(range(9))
        self.service.gate = lambda name: "a visit to the drive takes long" if next(n) > 0 else None
        self.assertEqual(self.bench("sda"), 0)
        self.assertIn("sda can no longer be measured: a visit to the drive takes long", self.err)
        self.assertIn("Saved as", self.out)

    def test_nothing(self):
        self.n_samples = 0
        self.assertEqual(self.bench("sda"), 1)
        self.assertIn("no result is saved: nothing was measured on sda", self.err)
        self.assertIn("4 (Input/output error)", self.out)
        self.assertEqual(self.kept(), [])

    def test_not_kept(self):
        self.put("kept", "no directory")
        self.assertEqual(self.bench("sda"), 1)
        self.assertIn("the measurement cannot be saved in kept: Not a directory", self.err)
        self.assertIn("150 MB/s", self.out)

    # ---- saved results ----

    def test_list(self):
        self.assertEqual((self.bench(), self.out), (0, ""))
        self.assertIn("kept has no measurement; 'drivekeep bench DRIVE' measures a drive", self.err)
        self.measure("sda")
        self.measure("sdb")
        self.assertEqual(self.bench(), 0)
        self.assertRegex(self.out, r"^NAME +DRIVE .*\nsda-20251126-\d+ +sda .* 36\nsdb-20251126-\d+ +sdb .* 36\n$")
        self.assertEqual(self.bench("--no-legend"), 0)
        self.assertNotIn("NAME", self.out)
        self.assertEqual(self.bench("--json"), 0)
        kept = json.loads(self.out)["measurements"]
        self.assertEqual([(m["samples"], m["key"]) for m in kept], [(36, "0x5000"), (36, "sdb")])
        # Each measurement has its figures, as printed after the measurement, with the number of samples.
        self.assertEqual(self.bench("sda", "--json"), 0)
        printed = [{key: len(f[key]) if key == "samples" else f[key] for key in ("name", "unit", "median", "low", "high", "samples")}
                   for f in json.loads(self.out)["figures"]]
        self.assertEqual(kept[0]["figures"], printed)
        self.assertEqual([f["samples"] for f in printed], [12, 12, 12, 0])

    # ---- comparing ----

    def test_compare(self):
        self.measure("sda")
        self.measure("sdb")
        self.level = 1.05
        self.drives["sda"]["settings"][0]["value"] = "128"
        self.measure("sda")
        self.assertEqual((self.bench("--compare"), self.err), (0, ""))
        self.assertTrue(self.out.startswith(DIFFERENCES), self.out)
        self.assertIn("\nsda, apm: 254 before, 128 after\n", self.out)
        self.assertNotIn("kernel", self.out)

    def test_compare_named(self):
        self.level = 1.3
        self.measure("sda")
        self.level = 1
        self.measure("sda")
        self.measure("sdb")
        names = [r.name for r in result.load_all("kept")]
        self.assertEqual(self.bench("--compare", names[0], names[2]), 0)
        for part in "195 MB/s 150 MB/s 23 % slower (2", "30 % longer (2", "\ndrive: 0x5000 before, sdb after\n":
            self.assertIn(part, self.out)
        # The last two measurements of a drive are compared.
        self.assertEqual(self.bench("--compare", "--json", "sda"), 0)
        document = json.loads(self.out)
        self.assertEqual({f["differs"] for f in document["figures"]}, {True, False, None})
        self.assertEqual((document["before"], document["after"]), tuple(names[:2]))
        self.assertAlmostEqual(document["figures"][0]["factor"], 0.769, places=3)

    def test_not_compared(self):
        self.measure("sda")
        self.put("kept/bad.json", "{}")
        for words, text in NOT_COMPARED:
            with self.subTest(words):
                self.assertEqual((self.bench(*words), self.out), (1, ""))
                self.assertIn(text, self.err)
