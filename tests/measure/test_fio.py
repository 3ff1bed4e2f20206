# SPDX-License-Identifier: LGPL-2.1-or-later
"""Running fio, replaced by a script: its results, failures and end."""
import math
import os
import time

from fake import Fake
from measure import fio

RUN = fio.run
JSON = '{ "jobs": [ { "error": 0, "read": { "iops": 70.5, "x": "7", "y": true } } ] }'

# The script, and the expected failure; None: success.
CASES = (("cat json", None),
         ("echo 'latency: Laying out IO file'; cat json", None),
         ("cat json; echo and more", None),
         ("sed s/0,/5,/ json", "Input/output error"),
         ("cat json; exit 1", "fio ended with exit status 1"),
         ("echo 'fio: no such engine'; exit 1", "fio: no such engine"),
         ("exit 1", "fio ended with exit status 1"),
         ("kill -KILL $$", "fio ended with signal 9"),
         ("echo '{ \"fio version\" : 3'; exit 1", "fio ended with exit status 1"),
         ("echo '[]'", "[]"),
         ("echo to stderr >&2", "to stderr"))


class Fio(Fake):
    def setUp(self):
        super().setUp()
        self.put("json", JSON)
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = f"{self.here}/bin:{path}"

    def run_script(self, script):
        self.put("bin/fio", f"#!/bin/sh\n{script}")
        os.chmod("bin/fio", 0o755)
        return RUN(["--x", "a b"], self.read_end)

    def test_told(self):
        """Results of fio are returned, and failures have fio's message."""
        for script, fault in CASES:
            with self.subTest(script):
                if fault is None:
                    self.assertEqual(fio.number(self.run_script(script), "read/iops"), 70.5)
                    continue
                with self.assertRaises(fio.Failed) as caught:
                    self.run_script(script)
                self.assertEqual(str(caught.exception), fault)

    def test_arguments(self):
        """fio gets each argument as one word, and has a process group of its own."""
        self.run_script('printf "%s\\n" "$@" > words; ps -o pgid= -p $$ > group; echo $$ >> group; cat json')
        self.assertEqual(self.get("words"), "--x\na b")
        group, pid = self.get("group").split()
        self.assertEqual(group, pid)

    def test_number(self):
        output = self.run_script("cat json")
        self.assertEqual(fio.number(output, "error"), 0)
        for path in "read/x", "read/y", "read/none", "read", "none/none":
            with self.subTest(path):
                self.assertTrue(math.isnan(fio.number(output, path)))

    def test_stopped(self):
        """After an interrupt fio is terminated, and its results are not used."""
        with self.assertRaises(fio.Stopped):
            self.run_script(f"trap 'echo told > told; exit 1' TERM; echo > {self.stop_path()}; while :; do sleep 0.01; done")
        self.assertEqual(self.get("told"), "told")

    def test_no_end(self):
        """If fio does not end after SIGTERM, the program does not wait for fio any longer."""
        self.patch(fio, "STOP_SECONDS", 0.1)
        begun = time.monotonic()
        with self.assertRaises(fio.Stopped):
            self.run_script(f"trap '' TERM; echo > {self.stop_path()}; while :; do sleep 0.01; done")
        self.assertLess(time.monotonic() - begun, 60)

    def stop_path(self):
        return f"/proc/{os.getpid()}/fd/{self.write_end}"

    def test_missing(self):
        self.put("bin/fio", "#!/bin/sh")
        os.chmod("bin/fio", 0o755)
        self.assertTrue(fio.is_installed())
        os.environ["PATH"] = "/none"
        self.assertFalse(fio.is_installed())
