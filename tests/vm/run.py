#!/usr/bin/env python3
"""Run the system tests: build the image, then run each scenario in a separate process."""
import argparse
import collections.abc
import contextlib
import dataclasses
import fnmatch
import functools
import importlib.util
import json
import math
import multiprocessing
import os
import pathlib
import resource
import signal
import sys
import tempfile
import threading
import time

import image
from machine import KVM, accelerator
from patience import PATIENCE
from scenario import Scenario, table

# Rows of the table of faults. Unit tests inject these faults, without a virtual machine.
BY_UNIT_TESTS = [
    ("killed before and after each note and message", "daemon and worker", "1", "all settings written once", "-", "-", "test-killed"),
    ("power cut before and after each of these", "daemon and worker", "1", "quarantined if noted", "-", "-", "test-killed"),
    ("no memory, at each allocation", "worker", "1", "error, or true verdicts", "-", "-", "test-failures-visit"),
    ("EIO and short reads, at each call on a file", "worker", "1", "error, or true verdicts", "-", "-", "test-failures-visit"),
    ("state file too short, huge, link, pipe, foreign", "/run, /var", "1", "ignored and logged", "-", "-", "test-state, test-guard-store"),
    ("worker dies", "daemon", "1", "another visit after 5 s", "-", "-", "test-target"),
]
SCENARIOS = pathlib.Path(__file__).resolve().parent / "scenarios"


def load_scenarios():
    """Returns every Scenario subclass of every file by name, in the order of the files."""
    found = {}
    for path in sorted(SCENARIOS.glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"scenarios.{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Scenario) and value.__module__ == module.__name__:
                found[value.name()] = value
    return found


def select(found, patterns, everything, core):
    chosen = [name for name, scenario in found.items()
              if name in patterns
              or scenario.for_every_build and (any(fnmatch.fnmatch(name, pattern) for pattern in patterns) if patterns
                                               else (scenario.core or not core) and (everything or not scenario.rare))]
    for pattern in patterns:
        if not fnmatch.filter(found, pattern):
            sys.exit(f"run.py: no scenario is called {pattern!r}; there are: {', '.join(found)}")
    return [found[name] for name in chosen]


class Images:
    """Builds images in a process, one after another. Scenarios run in finished images meanwhile."""

    def __init__(self, machines, wanted):
        self._images = {}
        self._receiver, sender = multiprocessing.Pipe(duplex=False)
        multiprocessing.Process(target=self._build, args=(sender, machines, wanted), daemon=True).start()
        sender.close()

    def _build(self, sender, machines, wanted):
        signal.signal(signal.SIGINT, signal.SIG_IGN)    # as in Job
        for suite, packages in wanted:
            built = image.build_machine(machines, suite, log=lambda text: print(text, flush=True), packages=packages)
            sender.send((suite, packages, built))

    def get(self, suite, packages):
        """Returns the image, or None if it is not finished. If an image cannot be built, ends this program."""
        while (suite, packages) not in self._images and self._receiver.poll():
            try:
                *key, built = self._receiver.recv()
            except EOFError:
                sys.exit("run.py: not all images were built")
            if not self._images and accelerator(built.kernel) != KVM:
                print("KVM does not work on this host: the machines are emulated, and run five to ten times slower than with KVM", flush=True)
            self._images[tuple(key)] = built
        return self._images.get((suite, packages))


@dataclasses.dataclass(frozen=True)
class Test:
    """A scenario together with the suite of its machines. guest() returns their image, or None while the image is not finished."""
    suite: str
    scenario: type
    guest: collections.abc.Callable

    @property
    def name(self):
        return f"{self.suite}/{self.scenario.name()}"


class Tee:
    """Writes a scenario's output to several streams: the runner's output and a file."""

    def __init__(self, *streams):
        self._streams = streams

    def write(self, text):
        for stream in self._streams:
            stream.write(text)

    def flush(self):
        for stream in self._streams:
            stream.flush()

    def isatty(self):
        return False


class Job:
    """One test in a process. The test's machines end with the process. The process is stopped after a time limit."""

    def __init__(self, test, logs):
        self.test = test
        self._log = logs / f"{test.name}.log"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._log.write_text("")    # the log exists even if the process dies before it opens the log
        self._report = self._log.with_suffix(".json")
        self._report.unlink(missing_ok=True)
        self.started = time.monotonic()
        self._process = multiprocessing.Process(target=self._work, daemon=True)
        self._process.start()

    def _work(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)    # Ctrl-C also reaches the runner, which stops this process
        signal.signal(signal.SIGTERM, exit_on_signal)
        threading.Thread(target=follow_parent, daemon=True).start()
        if self.test.scenario.real_time:
            # A container may lack the permission.
            with contextlib.suppress(PermissionError):
                os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        running = self.test.scenario(self.test.guest())
        with open(self._log, "w") as log, contextlib.redirect_stdout(Tee(sys.stdout, log)):
            try:
                running.execute()
            finally:
                used = resource.getrusage(resource.RUSAGE_CHILDREN)
                self._report.write_text(json.dumps({"passed": running.passed, "failed": running.failed, "faults": running.faults,
                                                    "claims": running.claims, "cpu": round(used.ru_utime + used.ru_stime, 1)}))

    def finished(self):
        limit = self.test.scenario.time_limit * PATIENCE
        if self._process.is_alive() and time.monotonic() - self.started > limit:
            print(f"FAIL {self.test.name}: not over after {limit} s", flush=True)
            self.stop()
        return not self._process.is_alive()

    def stop(self):
        self._process.terminate()
        self._process.join(30)
        self._process.kill()
        self._process.join()

    def result(self):
        """Returns the report of the process. A process that did not exit normally counts as one more failure."""
        try:
            report = json.loads(self._report.read_text())
        except (OSError, ValueError):
            report = {"passed": 0, "failed": 0, "faults": [], "claims": [], "cpu": 0}
        report["failed"] += self._process.exitcode != 0
        return {**report, "seconds": round(time.monotonic() - self.started, 1)}


def exit_on_signal(*_):
    """Exits by an exception, so that machines stop and their directories are removed. A second signal is ignored: it would interrupt the
    cleanup."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def follow_parent():
    """Ends this process when the runner dies: a killed runner cannot stop its scenarios."""
    multiprocessing.parent_process().join()
    os.kill(os.getpid(), signal.SIGTERM)


class Processors:
    """The number of the host's processors that were idle in the last few seconds, from /proc/stat; zero if /proc/meminfo shows too little
    available memory for one more machine (proc(5))."""
    SECONDS = 3
    MEMORY_KB = 2 << 20

    def __init__(self):
        self.begin()

    def begin(self):
        """Starts a new interval, in which no processor counts as idle yet. The load of a machine that was just started is not known yet."""
        self._idle, self._before, self._since = 0, self._read(), time.monotonic()

    def idle(self):
        if time.monotonic() - self._since > self.SECONDS:
            idle, total = (now - before for now, before in zip(self._read(), self._before))
            self.begin()
            self._idle = idle / max(total, 1) * os.cpu_count() if self._available() > self.MEMORY_KB else 0
        return self._idle

    def _available(self):
        with open("/proc/meminfo") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))

    def _read(self):
        with open("/proc/stat") as file:
            times = [int(field) for field in file.readline().split()[1:9]]
        return times[3] + times[4], sum(times)


def may_begin(scenario, running, jobs, idle):
    """Returns true if a scenario may start beside the scenarios in `running`. At most `jobs` scenarios run at a time, or twice as many
    while more than half a processor is idle."""
    if jobs == 1 or scenario.alone:
        return not running
    return len(running) < jobs or len(running) < 2 * jobs and idle > 0.5


def next_test(waiting, running):
    """Returns the first test that can start beside the tests in `running`, or None. A test waits for its image. A scenario that runs alone
    waits for all other scenarios to start. A scenario with real-time priority waits for the end of another one, which would delay it."""
    real_time = any(test.scenario.real_time for test in running)
    return next((test for test in waiting if test.guest() and (waiting[0].scenario.alone or not test.scenario.alone)
                 and not (real_time and test.scenario.real_time)), None)


def run_all(tests, jobs, logs, seconds):
    """Runs the tests and returns their results by name. `long` tests of unknown duration start first, then the tests that took longest in
    their last run. The directory `logs` keeps their output."""
    def order(test):
        return test.scenario.alone, -seconds.get(test.name, math.inf if test.scenario.long else 0)

    waiting = sorted(tests, key=order)
    running, results, processors = [], {}, Processors()
    with contextlib.ExitStack() as stack:
        while waiting or running:
            test = next_test(waiting, [job.test for job in running])
            if test and may_begin(test.scenario, running, jobs, processors.idle()):
                waiting.remove(test)
                running.append(Job(test, logs))
                stack.callback(running[-1].stop)
                processors.begin()
                continue
            for job in [job for job in running if job.finished()]:
                running.remove(job)
                results[job.test.name] = job.result()
            time.sleep(0.1)
    return results


def run_failed_again(tests, results, logs):
    """Runs each failed test once more, alone. A test that passes the second time is unstable: its second result counts, its first output is
    kept, and its name is returned."""
    unstable = []
    for test in tests:
        if not results[test.name]["failed"]:
            continue
        (logs / f"{test.name}.log").rename(logs / f"{test.name}.first.log")
        print(f"{test.name} failed, and is run once more, alone", flush=True)
        [again] = run_all([test], 1, logs, {}).values()
        if not again["failed"]:
            results[test.name] = again
            unstable.append(test.name)
    return unstable


def stored_durations(cache):
    """Returns the duration in seconds of each test when it last passed."""
    try:
        return json.loads((cache / "seconds.json").read_text())
    except (OSError, ValueError):
        return {}


def store_durations(cache, results):
    """Stores the durations of tests that passed. A new file replaces the old one atomically, because another run may be reading the old
    file."""
    taken = {name: result["seconds"] for name, result in results.items() if not result["failed"]}
    new = cache / f"seconds.{os.getpid()}"
    new.write_text(json.dumps({**stored_durations(cache), **taken}))
    new.rename(cache / "seconds.json")


def show_faults(rows):
    """Prints the table of injected faults and their effects."""
    print(table([("fault", "injected into", "drives", "verdict or effect", "time of other drives", "data lost", "tested by"), *rows]))


def main():
    parser = argparse.ArgumentParser(description="Run drivekeep's system tests in virtual machines.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenarios to run, wildcards allowed (default: all except slow ones)")
    parser.add_argument("--all", action="store_true", help="run slow scenarios too")
    parser.add_argument("--suite", action="append", dest="suites", metavar="SUITE[:core]",
                        help=f"suite of Debian in the machines (default: {image.USUAL_SUITE}), may be repeated; with :core, run only "
                        "the scenarios for every suite")
    parser.add_argument("--list", action="store_true", help="list the scenarios and stop")
    parser.add_argument("--machines", metavar="DIR", type=pathlib.Path,
                        help="directory of the machines' parts from build_machine in tests/setup.sh")
    parser.add_argument("--jobs", type=int, default=1, metavar="N",
                        help="number of scenarios at a time; up to N more run while processors are idle")
    parser.add_argument("--results", metavar="FILE", help="write the claims of each scenario, and the unstable scenarios, to FILE as JSON")
    parser.add_argument("--logs", metavar="DIR", type=pathlib.Path,
                        help="directory for the output of each scenario (default: a new directory below /tmp)")
    options = parser.parse_args()
    found = load_scenarios()
    if options.list:
        for scenario in select(found, options.names, True, False):
            print(f"{scenario.name():20} {'(--all) ' if scenario.rare else ''}{scenario.summary()}")
        return 0
    if not options.machines:
        parser.error("--machines is missing")

    signal.signal(signal.SIGTERM, exit_on_signal)
    started = time.monotonic()
    chosen = []
    for number, suite in enumerate(options.suites or [image.USUAL_SUITE]):
        suite, _, core = suite.partition(":")
        chosen += [(suite, scenario) for scenario in select(found, options.names, options.all and (core or not number), core)]
    # Most scenarios need the first suite without more packages, so this image is built first.
    images = Images(options.machines, sorted(dict.fromkeys((suite, scenario.packages) for suite, scenario in chosen), key=lambda each: each[1]))
    tests = [Test(suite, scenario, functools.partial(images.get, suite, scenario.packages)) for suite, scenario in chosen]
    logs = options.logs or pathlib.Path(tempfile.mkdtemp(prefix="dk-logs-", dir="/tmp"))
    cache = image.cache_directory()
    results = run_all(tests, options.jobs, logs, stored_durations(cache))
    unstable = run_failed_again(tests, results, logs)
    store_durations(cache, results)
    faults = [row for test in tests for row in results[test.name]["faults"]]
    if faults:
        show_faults(faults + (BY_UNIT_TESTS if not options.names else []))
    total = {key: sum(result[key] for result in results.values()) for key in ("passed", "failed")}
    if options.results:
        pathlib.Path(options.results).write_text(json.dumps({**total, "unstable": unstable, "scenarios": results}, indent=2) + "\n")
    for name in unstable:
        print(f"unstable: {name} failed, and passed when it was run again, alone; its first output: {logs / name}.first.log")
    print(f"system tests: {total['passed']} passed, {total['failed']} failed, in {time.monotonic() - started:.0f} s")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
