# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tunable settings, and the values to try on a drive, with a simulated sysfs. Agreement with the command: test_agrees.py."""
from fake import Fake
from measure import tunables
from measure.figures import FIGURES, JOB_OF, Place
from measure.tunables import TUNABLES

READ_AHEAD = "128 KiB, 256 KiB, 512 KiB, 1 MiB, 2 MiB, 4 MiB, 8 MiB"
MIN, OPTIMAL = "minimum_io_size", "optimal_io_size"

# Each case: the setting, its present value, queue attributes, whether the device is an array, and the expected values to try.
CASES = (("scheduler", "mq-deadline", {"scheduler": "none [mq-deadline] bfq"}, False, "mq-deadline, none, bfq"),
         ("scheduler", "none", {"scheduler": "[none]"}, False, "none"),
         ("scheduler", "none", {}, False, "none"),
         ("max_sectors_kb", "512 KiB", {"max_hw_sectors_kb": "1024"}, False, "128 KiB, 256 KiB, 512 KiB, 1 MiB"),
         ("max_sectors_kb", "1280 KiB", {"max_hw_sectors_kb": "32767"}, False, "128 KiB, 256 KiB, 512 KiB, 1 MiB, 1280 KiB, 2 MiB, 4 MiB"),
         ("max_sectors_kb", "64 KiB", {"max_hw_sectors_kb": "64"}, False, "64 KiB"),
         ("max_sectors_kb", "64 KiB", {}, False, "64 KiB"),
         ("read_ahead_kb", "64 KiB", {}, False, "64 KiB, " + READ_AHEAD),
         ("read_ahead_kb", "16 MiB", {}, False, READ_AHEAD + ", 16 MiB"),
         ("read_ahead_kb", "8 MiB", {}, False, READ_AHEAD),
         ("queue_depth", "31", {}, False, "1, 2, 4, 8, 16, 31, 32"),
         ("lookahead", "on", {}, False, "on, off"),
         ("write_cache", "off", {}, False, "off, on"),
         ("wbt_lat_usec", "off", {}, False, "off, 2 ms, 10 ms, 75 ms"),
         ("wbt_lat_usec", "2 ms", {}, False, "2 ms, off, 10 ms, 75 ms"),
         ("apm", "off", {}, False, "64, 127, 128, 192, 254, off"),
         ("standby_z", "1 min 30 s", {}, False, "off, 1 s, 5 s, 10 s, 1 min 30 s"),
         ("apst_latency", "1500 us", {}, False, "off, 1500 us, 5 ms, 25 ms, 100 ms"),
         # The array has three data disks, with chunks of 512 KiB.
         ("read_ahead_kb", "3 MiB", {MIN: "524288", OPTIMAL: "1572864"}, True,
          "128 KiB, 256 KiB, 512 KiB, 1 MiB, 1536 KiB, 2 MiB, 3 MiB, 4 MiB, 6 MiB, 8 MiB, 12 MiB"),
         # The array has two data disks. All multiples of its stripe are among the values of the ladder.
         ("read_ahead_kb", "128 KiB", {MIN: "524288", OPTIMAL: "1048576"}, True, READ_AHEAD),
         # For a disk, these attributes do not describe stripes.
         ("read_ahead_kb", "128 KiB", {MIN: "524288", OPTIMAL: "1572864"}, False, READ_AHEAD),
         # The following arrays have no stripes.
         ("read_ahead_kb", "128 KiB", {MIN: "524288", OPTIMAL: "1572860"}, True, READ_AHEAD),
         # Many disks with 512-byte sectors report this size, which is not a multiple of the page size.
         ("read_ahead_kb", "128 KiB", {MIN: "512", OPTIMAL: "33553920"}, True, READ_AHEAD),
         ("read_ahead_kb", "128 KiB", {MIN: "4096", OPTIMAL: "4096"}, True, READ_AHEAD),
         ("read_ahead_kb", "128 KiB", {MIN: "4096", OPTIMAL: "0"}, True, READ_AHEAD),
         ("read_ahead_kb", "128 KiB", {}, True, READ_AHEAD),
         # Only read_ahead_kb uses multiples of the stripe.
         ("nr_requests", "256", {MIN: "524288", OPTIMAL: "1572864"}, True, "16, 32, 64, 128, 256, 512, 1024"))


class Table(Fake):
    def test_table(self):
        for name, t in TUNABLES.items():
            with self.subTest(name):
                self.assertTrue(t.ladder or t.attribute)
                self.assertEqual(t.writes, name in ("write_cache", "wbt_lat_usec"))
                self.assertEqual(JOB_OF[t.goal].place == Place.ONCE, t.saves_power)
                ranks = [tunables.rank(name, value) for value in t.ladder]
                self.assertEqual(ranks, sorted(set(ranks)))
                if t.cost:
                    self.assertIn(t.cost, FIGURES)
                    self.assertNotEqual(t.cost, t.goal)
                    self.assertEqual(JOB_OF[t.cost].writes, t.writes)
        self.assertNotIn("timeout", TUNABLES)

    def test_values(self):
        for setting, present, files, is_array, expected in CASES:
            with self.subTest(setting=setting, present=present, files=files):
                for name in "scheduler", "max_hw_sectors_kb", MIN, OPTIMAL:
                    (self.here / "class/sda/queue" / name).unlink(missing_ok=True)
                for name, text in files.items():
                    self.put(f"class/sda/queue/{name}", text)
                self.assertEqual(", ".join(tunables.values(TUNABLES[setting], "sda", present, is_array)), expected)

    def test_size(self):
        for size, text in ((0, "0 B"), (512, "512 B"), (1024, "1 KiB"), (1572864, "1536 KiB"), (3 << 20, "3 MiB"), (1 << 40, "1 TiB"), (1 << 50, "1024 TiB")):
            self.assertEqual(tunables.format_size(size), text)
