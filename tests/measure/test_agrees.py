# SPDX-License-Identifier: LGPL-2.1-or-later
"""The drivekeep command has all tunable settings, reads the configuration that `drivekeep tune` writes for them, shows values in the
format of measure/tunables.py, and has the same messages. The third argument of the test is the path of the command."""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import unittest.mock

from fake import Fake
from measure import block, service
from measure.tunables import TUNABLES

COMMAND = os.path.abspath(sys.argv[3])


class Agrees(Fake):
    def read(self, *words):
        done = subprocess.run([COMMAND, *words, "--json"], capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 2), done.stderr)
        return json.loads(done.stdout)

    def test_settings(self):
        rows = {}
        for row in self.read("settings")["settings"]:
            rows.setdefault(row["name"], row)
        for setting, t in TUNABLES.items():
            with self.subTest(setting):
                self.assertIsNone(rows[setting]["alias_of"])
                self.assertTrue(set(t.resets) <= set(rows))
                self.assertEqual([rows[setting][key] for key in ("danger", "once", "readable", "volatile")], [None, False, True, True])
                self.assertEqual(t.saves_power and t.spins_down, setting in ("standby_y", "standby_z"))

    def test_values(self):
        """The command reads each value of each setting from a block of its own, and shows the value as it is written in the block."""
        ladders = {setting: t.ladder or ("none", "mq-deadline") for setting, t in TUNABLES.items()}
        blocks = [block.HEAD + "{};\n" + block.assignment(setting, value) + block.BLOCK_END for setting, ladder in ladders.items() for value in ladder]
        self.put("etc/drivekeep/drivekeep.conf.d/60-tuned.conf", block.BEGIN + "".join(blocks) + block.END)
        explained = {}
        for row in self.read("explain", "--as", "serial=S", "--config-root=etc")["settings"]:
            explained[row["name"]] = [*(each["value"] for each in row["overridden"]), row["value"]]
        self.assertEqual(explained, {setting: list(ladder) for setting, ladder in ladders.items()})
        self.assertEqual([c for c in self.read("check", "--config-root=etc")["complaints"] if c["level"] == "error"], [])

    def test_messages(self):
        """Messages of both programs have the same words."""
        text = re.sub(r'"\s*"', "", "".join(path.read_text() for path in (pathlib.Path(block.__file__).parents[1] / "daemon/cli").glob("*.[ch]")))
        busy = unittest.mock.Mock(call=unittest.mock.Mock(side_effect=socket.timeout))
        for sentence in (service.missing().sentence, service.explain(OSError()).sentence, service.explain(service.Refused("", "%s")).sentence,
                         service.explain(service.Refused("System.Error.EPERM", "")).sentence,
                         service.Service.request_permission(busy, "sda"), block.UNSAFE):
            self.assertIn(f'"{sentence}"', text)

    def test_missing(self):
        """If drivekeep-tune is not installed, the command's message names this package."""
        for verb in "bench", "tune":
            done = subprocess.run([COMMAND, verb], capture_output=True, text=True, check=False)
            if "which is not installed" in done.stderr:
                self.assertEqual((done.returncode, done.stderr),
                                 (1, f"drivekeep: drivekeep {verb} needs the package drivekeep-tune, which is not installed\n"))
