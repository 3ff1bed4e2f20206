#!/usr/bin/env python3
"""Run the system tests: build the image, then each scenario in a process of its own."""
import argparse
import contextlib
import fnmatch
import importlib.util
import json
import multiprocessing
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time

import image
from patience import PATIENCE
from scenario import Scenario, table

# The rest of the table of faults, which needs no machine.
BY_UNIT_TESTS = [
    ("killed before and after each note and line", "daemon and worker", "1", "all as wanted, none twice", "-", "-", "test-killed"),
    ("machine lost at each of these", "daemon and worker", "1", "quarantined where noted", "-", "-", "test-killed"),
    ("no memory, at each allocation", "worker", "1", "error, or true verdicts", "-", "-", "test-failures-visit"),
    ("EIO and short reads, at each call on a file", "worker", "1", "error, or true verdicts", "-", "-", "test-failures-visit"),
    ("state files cut off, huge, links, pipes, others'", "/run, /var", "1", "ignored, and said", "-", "-", "test-state, test-guard-store"),
    ("a worker that dies", "daemon", "1", "once more after 5 s", "-", "-", "test-target"),
]
FAULTS_BYTES = 1 << 18
SCENARIOS = pathlib.Path(__file__).resolve().parent / "scenarios"


def load_scenarios():
    """Every Scenario subclass of every file, in the order of the files."""
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
                                               else scenario.core if core else everything or not scenario.rare)]
    for pattern in patterns:
        if not fnmatch.filter(found, pattern):
            sys.exit(f"run.py: no scenario is called {pattern!r}; there are: {', '.join(found)}")
    return chosen


class Tee:
    """What a scenario prints, on the runner's output and in a file."""

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
    """One scenario in a process: its machines die with it, and it can be given up when it takes too long."""

    def __init__(self, scenario, guest, log):
        self.scenario = scenario
        self._log = log
        self._log.write_text("")    # there also for a process that does not get so far
        self.started = time.monotonic()
        self._counts = multiprocessing.Array("i", 2)
        self._faults = multiprocessing.Array("c", FAULTS_BYTES)
        self._process = multiprocessing.Process(target=self._work, args=(scenario, guest), daemon=True)
        self._process.start()

    def _work(self, scenario, guest):
        signal.signal(signal.SIGINT, signal.SIG_IGN)    # Ctrl-C reaches the runner too, which stops us
        signal.signal(signal.SIGTERM, leave)
        threading.Thread(target=follow_parent, daemon=True).start()
        running = scenario(guest)
        with open(self._log, "w") as log, contextlib.redirect_stdout(Tee(sys.stdout, log)):
            try:
                running.execute()
            finally:
                self._counts[:] = [running.passed, running.failed]
                self._faults.value = json.dumps(running.faults).encode()

    def finished(self):
        late = time.monotonic() - self.started > self.scenario.time_limit * PATIENCE
        if self._process.is_alive() and late:
            print(f"FAIL {self.scenario.name()}: not over after {self.scenario.time_limit * PATIENCE} s", flush=True)
            self.stop()
        return not self._process.is_alive()

    def stop(self):
        self._process.terminate()
        self._process.join(30)
        self._process.kill()
        self._process.join()

    def counts(self):
        """Passed and failed; a process that did not come to its end is one failure more."""
        passed, failed = self._counts
        return passed, failed + (self._process.exitcode != 0)

    def faults(self):
        return json.loads(self._faults.value or b"[]")


def leave(*_):
    """Unwind, so that machines stop and their directories go; once, or the second signal would interrupt just that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def follow_parent():
    """A runner that was killed cannot stop its scenarios; they have to see it themselves."""
    multiprocessing.parent_process().join()
    os.kill(os.getpid(), signal.SIGTERM)


def may_begin(scenario, running, jobs):
    """Beside those that run? One that mostly waits is beside as many others as without it."""
    if jobs == 1 or scenario.alone:
        return not running
    waiting = sum(other.waits for other in running)
    return not waiting if scenario.waits else len(running) - waiting < jobs


def run_all(scenarios, guests, jobs, logs):
    """The results by name. Guests are images by the packages that scenarios want. What each scenario prints is kept in the directory
    logs."""
    waiting, running, results = sorted(scenarios, key=lambda scenario: (scenario.alone, not scenario.long)), [], {}
    with contextlib.ExitStack() as stack:
        while waiting or running:
            while scenario := next((each for each in waiting if may_begin(each, [job.scenario for job in running], jobs)), None):
                waiting.remove(scenario)
                running.append(Job(scenario, guests[scenario.packages], logs / f"{scenario.name()}.log"))
                stack.callback(running[-1].stop)
            for job in [job for job in running if job.finished()]:
                running.remove(job)
                passed, failed = job.counts()
                seconds = round(time.monotonic() - job.started, 1)
                results[job.scenario.name()] = {"passed": passed, "failed": failed, "seconds": seconds,
                                                "faults": job.faults()}
            time.sleep(0.1)
    return results


def run_failed_again(scenarios, guests, results, logs):
    """Each that failed once more, alone. One that passes then is unstable: its result counts, its name is returned, and what it
    printed first is kept."""
    unstable = []
    for scenario in scenarios:
        name = scenario.name()
        if not results[name]["failed"]:
            continue
        (logs / f"{name}.log").rename(logs / f"{name}.first.log")
        print(f"{name} failed, and is run once more, alone", flush=True)
        [again] = run_all([scenario], guests, 1, logs).values()
        if not again["failed"]:
            results[name] = again
            unstable.append(name)
    return unstable


def show_faults(rows):
    """What was injected, and what came of it."""
    print(table([("fault", "injected into", "drives", "seen", "others took", "data lost", "proved by"), *rows]))


def main():
    parser = argparse.ArgumentParser(description="Run drivekeep's system tests in virtual machines.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenarios to run, wildcards allowed (default: all but those that take long)")
    parser.add_argument("--all", action="store_true", help="also the scenarios that take long")
    parser.add_argument("--suite", choices=image.SUITES, default=image.USUAL_SUITE,
                        help=f"Debian's suite in the machine (default: {image.USUAL_SUITE})")
    parser.add_argument("--core", action="store_true", help="only the scenarios that every suite is tested with")
    parser.add_argument("--list", action="store_true", help="list the scenarios and stop")
    parser.add_argument("--overlay", metavar="DIR", help="drivekeep as `DESTDIR=DIR meson install` made it")
    parser.add_argument("--module", action="append", default=[], metavar="FILE",
                        help="a kernel module that modules.py built; as often as needed")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="scenarios at a time (default: 1)")
    parser.add_argument("--results", metavar="FILE", help="write the counts, and which scenarios were unstable, to FILE as JSON")
    parser.add_argument("--logs", metavar="DIR", type=pathlib.Path,
                        help="keep what each scenario prints in DIR (default: a new directory below /tmp)")
    options = parser.parse_args()
    found = load_scenarios()
    names = select(found, options.names, options.all or options.list, options.core)
    if options.list:
        for name in names:
            print(f"{name:20} {'(--all) ' if found[name].rare else ''}{found[name].summary()}")
        return 0

    signal.signal(signal.SIGTERM, leave)
    started = time.monotonic()
    scenarios = [found[name] for name in names]
    guests = {}
    for packages in dict.fromkeys(scenario.packages for scenario in scenarios):
        guests[packages] = image.build(options.overlay, options.module, log=lambda text: print(text, flush=True), packages=packages,
                                       suite=options.suite)
    logs = options.logs or pathlib.Path(tempfile.mkdtemp(prefix="dk-logs-", dir="/tmp"))
    logs.mkdir(parents=True, exist_ok=True)
    results = run_all(scenarios, guests, options.jobs, logs)
    unstable = run_failed_again(scenarios, guests, results, logs)
    faults = [row for name in names for row in results[name]["faults"]]
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
