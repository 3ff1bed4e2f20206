# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of saved results: the conversion to text and back, and files in a directory whose files another user may have replaced."""
import json
import os
import resource
import signal

from fake import Fake, drive, row
from measure import result, samples
from measure.bench import measured
from measure.figures import FIGURES

WHEN = 1764190865


def make(name, when=WHEN):
    disk = drive("sda", key="0x5000", wwn="0x5000", serial="5YD1", model="ST\x1b[2J",
                 settings=[row("apm", "ata", "254"), row("lookahead", "ata", "on"), row("acoustic", "ata", None)])
    r = result.make(disk, [disk], when)
    r.name = name
    m = measured(r.figures, FIGURES["random_latency"])
    m.samples = [0.008 + 1e-9 * i for i in range(7)]
    m.others, m.cached = 3, 2
    measured(r.figures, FIGURES["buffered"]).errors = 9
    r.counted = True
    return r


class Texts(Fake):
    def test_text(self):
        text = result.to_json(make("x"))
        for part in '"unit": "s"', '"median": 0.0080000', '"low": null':
            self.assertIn(part, text)
        self.assertNotIn("\x1b", text)
        r = result.from_json(text, "x")
        self.assertEqual([r.texts[key] for key in ("drive", "key", "model", "serial", "firmware")], ["sda", "0x5000", "ST\x1b[2J", "5YD1", None])
        self.assertTrue(r.texts["kernel"] and r.counted)
        self.assertEqual(r.when, WHEN * 10 ** 6)
        self.assertEqual(r.settings[1], {"drive": "sda", "key": "0x5000", "name": "lookahead", "value": "on"})
        self.assertEqual((len(r.settings), list(r.figures)), (2, ["random_latency", "buffered"]))
        m = r.figures["random_latency"]
        self.assertEqual((m.samples, m.others, m.cached), (make("x").figures["random_latency"].samples, 3, 2))
        self.assertEqual(r.figures["buffered"].errors, 9)
        self.assertEqual(result.to_json(r), text)

    def test_name(self):
        """A result is named after the drive and the time. Its key is the key in the command's JSON."""
        os.environ["TZ"] = "UTC"
        r = result.make(drive("md127", key="12:34"), [], WHEN)
        self.assertEqual((r.name, r.key), ("md127-20251126-210105", "12:34"))

    def test_bad(self):
        for text in ("", "{", "[]", "7", "null", "{}", '{ "version": 2, "drive": "sda", "key": "k" }', '{ "version": 1, "drive": "sda" }',
                     '{ "version": 1, "drive": 7, "key": "k" }', "[" * 100000):
            with self.subTest(text[:40]), self.assertRaises(ValueError):
                result.from_json(text, "x")

    def test_strange(self):
        """Unknown and invalid parts are ignored, and the rest is read."""
        r = result.from_json('{ "version": 1, "drive": "sda", "key": "k", "new": [], "settings": [ 7, {}, { "drive": "sda", "key": "k", "name": '
                             '"apm", "value": "1" } ], "figures": [ null, {}, { "name": "new" }, { "name": [] }, { "name": "buffered", "samples": '
                             '[ 5, -1, 0, "x", null, 1e300, 6.5 ], "others": -4 } ] }', "x")
        self.assertEqual((len(r.settings), list(r.figures)), (1, ["buffered"]))
        self.assertEqual((r.figures["buffered"].samples, r.figures["buffered"].others), ([5, 6.5], 0))

    def test_many(self):
        """At most samples.MAX samples of a figure are loaded, because the computing time grows with the square of their number."""
        figures = [{"name": "buffered", "samples": [7] + [8] * 5000}, {"name": "buffered", "samples": [9]}]
        r = result.from_json(json.dumps({"version": 1, "drive": "sda", "key": "k", "figures": figures}), "x")
        self.assertEqual([len(m.samples) for m in r.figures.values()], [samples.MAX])


class Files(Fake):
    def test_files(self):
        self.assertEqual(result.load_all("lib/bench"), [])
        # The directory is created with its parent.
        for r in make("sda-2", 20), make("sda-1", 30), make("sdb-1", 10):
            result.save("lib/bench", r)
        self.put("lib/bench/other.json", "{}")
        self.put("lib/bench/README", "no measurement")
        self.assertEqual([r.name for r in result.load_all("lib/bench")], ["sdb-1", "sda-2", "sda-1"])
        self.assertEqual(result.load("lib/bench", "sda-2").when, 20 * 10 ** 6)
        self.assertEqual(result.load("none", "lib/bench/sda-1.json").when, 30 * 10 ** 6)
        for directory, name, error in (("lib/bench", "none", FileNotFoundError), ("none", "sda-1", FileNotFoundError), ("lib/bench", "other", ValueError)):
            with self.subTest(name), self.assertRaises(error):
                result.load(directory, name)
        with self.assertRaises(NotADirectoryError):
            result.load_all("lib/bench/README")

    def test_led_elsewhere(self):
        """The owner of the parent directory cannot make root read or write another file."""
        r = make("sda-1")
        self.put("victim/file", "precious")
        self.put("lib/x", "")
        os.symlink("../victim", "lib/bench")
        with self.assertRaises(OSError):
            result.save("lib/bench", r)
        self.assertEqual(os.listdir("victim"), ["file"])

        os.unlink("lib/bench")
        os.mkdir("lib/bench")
        os.symlink("../../victim/file", "lib/bench/sda-1.json")
        with self.assertRaises(FileExistsError):
            result.save("lib/bench", r)
        with self.assertRaises(OSError):
            result.load("lib/bench", "sda-1")
        os.unlink("lib/bench/sda-1.json")
        os.link("victim/file", "lib/bench/sda-1.json")
        with self.assertRaises(FileExistsError):
            result.save("lib/bench", r)
        self.assertEqual(self.get("victim/file"), "precious")
        os.unlink("lib/bench/sda-1.json")
        os.mkfifo("lib/bench/sda-1.json")
        with self.assertRaises(ValueError):
            result.load("lib/bench", "sda-1")

    def test_full(self):
        self.addCleanup(signal.signal, signal.SIGXFSZ, signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        try:
            with self.assertRaises(OSError):
                result.save("bench", make("sda-1"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        self.assertEqual(os.listdir("bench"), [])
