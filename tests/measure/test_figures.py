# SPDX-License-Identifier: LGPL-2.1-or-later
"""Formats and keys of figures."""
import unittest

from measure.figures import FIGURES, JOB_OF, JOBS, LATENCY, RATE, SPEED, Place, format_range, format_value

TEXTS = ((SPEED, 187.4e6, "187 MB/s"), (SPEED, 99.94e6, "99.9 MB/s"), (SPEED, 99.96e6, "100 MB/s"), (SPEED, 9.994e6, "9.99 MB/s"),
         (SPEED, 9.996e6, "10.0 MB/s"), (SPEED, 7.1e9, "7100 MB/s"), (LATENCY, 8.13e-3, "8.13 ms"), (LATENCY, 85e-6, "85.0 us"),
         (LATENCY, 1.2, "1.20 s"), (RATE, 81.23, "81.2 /s"), (RATE, 512345, "512345 /s"))
RANGES = ((SPEED, 185.24e6, 189.07e6, "185.2 to 189.1 MB/s"), (LATENCY, 0.9996e-3, 1.0004e-3, "1.000 to 1.000 ms"),
          (LATENCY, 84.1e-6, 99.994e-6, "84.10 to 99.99 us"), (RATE, 0, 512345, "0 to 512345 /s"))


class Figures(unittest.TestCase):
    def test_format(self):
        for kind, value, text in TEXTS:
            with self.subTest(text):
                self.assertEqual(format_value(kind, value), text)

    def test_range(self):
        for kind, low, high, text in RANGES:
            with self.subTest(text):
                self.assertEqual(format_range(kind, low, high), text)

    def test_table(self):
        """Keys of figures are unique, and figures that need a file come last."""
        self.assertEqual(FIGURES["random_latency_p99"].key, "random_latency_p99")
        self.assertNotIn("none", FIGURES)
        self.assertEqual(len(FIGURES), sum(len(job.figures) for job in JOBS))
        self.assertEqual(JOB_OF["deep_latency_p99"].name, "deep")
        places = [job.place == Place.FILE for job in JOBS]
        self.assertEqual(places, sorted(places))
