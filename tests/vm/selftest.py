"""Tests of the runner itself, without a machine: python3 -m selftest"""
import contextlib
import io
import pathlib
import tempfile
import time
import unittest
import unittest.mock

import run
from machine import Machine
from scenario import Scenario


class Sound(Scenario):
    def run(self):
        self.claim("it holds", True)


class Broken(Scenario):
    def run(self):
        self.claim("it holds", False)


class Unstable(Scenario):
    def run(self):
        self.claim("it holds", self.image.exists())     # in place of a guest: a file that the first try leaves for the second
        self.image.touch()


class Alone(Scenario):
    alone = True

    def run(self):
        self.claim("all others are over", len(list(self.image.parent.glob("*.over"))) == 2)


class Beside(Scenario):
    def run(self):
        time.sleep(0.3)
        (self.image.parent / f"{self.name()}.over").touch()


class AlsoBeside(Beside):
    pass


class Order(unittest.TestCase):
    def test_one_that_is_to_be_alone_comes_after_the_others(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            logs = pathlib.Path(directory)
            results = run.run_all([Alone, Beside, AlsoBeside], {(): logs / "mark"}, 2, logs)
            self.assertEqual((results["alone"]["passed"], results["alone"]["failed"]), (1, 0))


    def test_one_that_mostly_waits_is_one_more(self):
        class Waits(Scenario):
            waits = True

        for scenario, beside, jobs, may in ((Sound, [], 2, True), (Sound, [Sound], 2, True), (Sound, [Sound, Sound], 2, False),
                                            (Sound, [Sound, Waits], 2, True), (Sound, [Sound, Sound, Waits], 2, False),
                                            (Waits, [Sound, Sound], 2, True), (Waits, [Waits], 2, False), (Waits, [Sound], 1, False),
                                            (Sound, [Waits], 1, False), (Alone, [Waits], 2, False), (Alone, [], 2, True)):
            with self.subTest(scenario=scenario, beside=beside, jobs=jobs):
                self.assertEqual(run.may_begin(scenario, beside, jobs), may)


class Stuck(unittest.TestCase):
    def test_a_machine_that_does_not_boot_is_reset_once(self):
        for stuck in (False, True):
            with self.subTest(stuck=stuck), contextlib.redirect_stdout(io.StringIO()):
                machine = unittest.mock.Mock(**{"_wait_agent.side_effect": TimeoutError("no answer") if stuck else None})
                Machine.wait_boot(machine)
                self.assertEqual([call[0] for call in machine.method_calls], ["_wait_agent"] + ["reset"] * stuck)


class Again(unittest.TestCase):
    def test_each_that_failed_is_run_once_more(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            logs = pathlib.Path(directory)
            scenarios, guests = [Sound, Broken, Unstable], {(): logs / "mark"}
            results = run.run_all(scenarios, guests, 2, logs)
            self.assertEqual({name: result["failed"] for name, result in results.items()},
                             {"sound": 0, "broken": 1, "unstable": 1})
            self.assertEqual(run.run_failed_again(scenarios, guests, results, logs), ["unstable"])
            self.assertEqual({name: result["failed"] for name, result in results.items()},
                             {"sound": 0, "broken": 1, "unstable": 0})
            self.assertEqual(sorted(path.name for path in logs.glob("*.first.log")), ["broken.first.log", "unstable.first.log"])
            self.assertIn("FAIL unstable: it holds", (logs / "unstable.first.log").read_text())
            self.assertIn("ok   unstable: it holds", (logs / "unstable.log").read_text())


if __name__ == "__main__":
    unittest.main()
