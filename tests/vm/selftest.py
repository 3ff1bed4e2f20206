"""Tests of the runner itself, without a machine: python3 -m selftest"""
import contextlib
import io
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest
import unittest.mock

import run
from image import Image
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
        self.claim("it holds", self.image.exists())     # the first run creates this file, and the second run finds it
        self.image.touch()


class Dies(Scenario):
    def execute(self):
        os.kill(os.getpid(), signal.SIGKILL)


class NewToUs(Scenario):
    long = True

    def run(self):
        self.claim("it holds", True)


class Alone(Scenario):
    alone = True

    def run(self):
        self.claim("all others are over", len(list(self.image.parent.glob("*.over"))) == 2)


class RealTime(Scenario):
    real_time = True

    def run(self):
        self.claim("the scenario has real-time priority", os.sched_getscheduler(0) == os.SCHED_RR)


class Beside(Scenario):
    def run(self):
        time.sleep(0.3)
        (self.image.parent / f"{self.name()}.over").touch()


class AlsoBeside(Beside):
    pass


class Core(Scenario):
    core = True


class RareCore(Scenario):
    core, rare = True, True


def wait(condition):
    """Calls a function until it returns a true value, and returns this value."""
    while not (value := condition()):
        time.sleep(0.01)
    return value


def tests_of(guest, *scenarios):
    return [run.Test("trixie", scenario, lambda: guest) for scenario in scenarios]


class Selection(unittest.TestCase):
    def test_rare_scenarios_run_only_with_all_or_by_name(self):
        found = {scenario.name(): scenario for scenario in (Sound, Core, RareCore)}
        for patterns, everything, core, chosen in (([], False, False, [Sound, Core]), ([], True, False, [Sound, Core, RareCore]),
                                                   ([], False, True, [Core]), ([], True, True, [Core, RareCore]),
                                                   (["rare-*"], False, True, [RareCore])):
            with self.subTest(patterns=patterns, everything=everything, core=core):
                self.assertEqual(run.select(found, patterns, everything, core), chosen)


class Order(unittest.TestCase):
    def test_a_scenario_with_alone_runs_last(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            logs = pathlib.Path(directory)
            results = run.run_all(tests_of(logs / "trixie" / "mark", Alone, Beside, AlsoBeside), 2, logs, {})
            self.assertEqual((results["trixie/alone"]["passed"], results["trixie/alone"]["failed"]), (1, 0))

    @unittest.skipUnless(os.geteuid() == 0, "without root there is no real-time priority")
    def test_a_scenario_with_real_time_has_priority(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            logs = pathlib.Path(directory)
            results = run.run_all(tests_of(logs / "trixie" / "mark", RealTime, Sound), 2, logs, {})
            self.assertEqual([result["failed"] for result in results.values()], [0, 0])

    def test_longest_first_after_long_ones_of_unknown_duration(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            logs = pathlib.Path(directory)
            results = run.run_all(tests_of(logs, Sound, Beside, NewToUs), 1, logs,
                                  {"trixie/sound": 2.0, "trixie/beside": 3.5})
            self.assertEqual(list(results), ["trixie/new-to-us", "trixie/beside", "trixie/sound"])

    def test_one_scenario_with_real_time_runs_at_a_time(self):
        real_time, sound, alone = tests_of(pathlib.Path(), RealTime, Sound, Alone)
        for waiting, running, following in (([real_time, sound], [], real_time), ([real_time, sound], [sound], real_time),
                                            ([real_time, sound], [real_time], sound), ([real_time], [real_time], None),
                                            ([real_time, alone], [real_time], None), ([alone], [], alone)):
            with self.subTest(waiting=waiting, running=running):
                self.assertEqual(run.next_test(waiting, running), following)

    def test_a_scenario_waits_for_its_image(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            mark = pathlib.Path(directory) / "trixie" / "mark"
            late = run.Test("trixie", NewToUs, lambda: (mark.parent / "beside.over").exists() and mark)
            results = run.run_all([late, *tests_of(mark, Beside, Alone)], 2, mark.parent.parent, {})
            self.assertEqual(list(results), ["trixie/beside", "trixie/new-to-us", "trixie/alone"])

    def test_images_are_built_one_after_another(self):
        def build_machine(machines, suite, **_):
            return Image(*[suite] * 6) if suite in machines else sys.exit(1)

        with unittest.mock.patch("image.build_machine", build_machine), unittest.mock.patch("run.accelerator", lambda _: run.KVM):
            images = run.Images(["trixie", "sid"], [("trixie", ()), ("sid", ("jq",)), ("forky", ()), ("bookworm", ())])
            self.assertEqual([wait(lambda: images.get("sid", ("jq",))).suite, images.get("trixie", ()).suite], ["sid", "trixie"])
            with self.assertRaisesRegex(SystemExit, "not all images"):
                wait(lambda: images.get("bookworm", ()))

    def test_more_scenarios_run_while_processors_are_idle(self):
        for scenario, running, jobs, idle, may in ((Sound, 0, 2, 0, True), (Sound, 1, 2, 0, True), (Sound, 2, 2, 0, False),
                                                   (Sound, 2, 2, 0.4, False), (Sound, 2, 2, 0.6, True), (Sound, 3, 2, 0.6, True),
                                                   (Sound, 4, 2, 2, False), (Sound, 0, 1, 0, True), (Sound, 1, 1, 2, False),
                                                   (Alone, 1, 2, 2, False), (Alone, 0, 2, 0, True)):
            with self.subTest(scenario=scenario, running=running, jobs=jobs, idle=idle):
                self.assertEqual(run.may_begin(scenario, [Sound] * running, jobs, idle), may)

    def test_durations_of_passed_tests_are_stored(self):
        with tempfile.TemporaryDirectory() as directory:
            cache = pathlib.Path(directory)
            run.store_durations(cache, {"trixie/a": {"failed": 0, "seconds": 7.5}, "trixie/b": {"failed": 0, "seconds": 3}})
            run.store_durations(cache, {"trixie/b": {"failed": 1, "seconds": 1}, "trixie/c": {"failed": 0, "seconds": 2}})
            self.assertEqual(run.stored_durations(cache), {"trixie/a": 7.5, "trixie/b": 3, "trixie/c": 2})
            self.assertEqual([path.name for path in cache.iterdir()], ["seconds.json"])


class Stuck(unittest.TestCase):
    def test_a_machine_that_does_not_boot_is_reset_once(self):
        for stuck in (False, True):
            with self.subTest(stuck=stuck), contextlib.redirect_stdout(io.StringIO()):
                machine = unittest.mock.Mock(**{"_wait_agent.side_effect": TimeoutError("no answer") if stuck else None})
                Machine.wait_boot(machine)
                self.assertEqual([call[0] for call in machine.method_calls], ["_wait_agent"] + ["reset"] * stuck)


class Again(unittest.TestCase):
    def test_failed_tests_run_once_more(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            logs = pathlib.Path(directory)
            tests = tests_of(logs / "mark", Sound, Broken, Unstable)
            results = run.run_all(tests, 2, logs, {})
            self.assertEqual({name: result["failed"] for name, result in results.items()},
                             {"trixie/sound": 0, "trixie/broken": 1, "trixie/unstable": 1})
            self.assertEqual({tuple(result["claims"]) for result in results.values()}, {("it holds",)})
            self.assertEqual(run.run_failed_again(tests, results, logs), ["trixie/unstable"])
            self.assertEqual({name: result["failed"] for name, result in results.items()},
                             {"trixie/sound": 0, "trixie/broken": 1, "trixie/unstable": 0})
            logs /= "trixie"
            self.assertEqual(sorted(path.name for path in logs.glob("*.first.log")), ["broken.first.log", "unstable.first.log"])
            self.assertIn("FAIL unstable: it holds", (logs / "unstable.first.log").read_text())
            self.assertIn("ok   unstable: it holds", (logs / "unstable.log").read_text())

    def test_a_test_that_died_has_failed(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            logs = pathlib.Path(directory)
            [result] = run.run_all(tests_of(logs, Dies), 1, logs, {}).values()
            self.assertEqual((result["passed"], result["failed"]), (0, 1))


if __name__ == "__main__":
    unittest.main()
