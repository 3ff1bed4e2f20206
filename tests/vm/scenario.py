"""A scenario: one or a few machines, and claims about them, each printed on a separate line.

A failing claim does not end the scenario. An exception ends the scenario and prints the guest's last messages.
"""
import contextlib
import re
import time
import traceback

import saved
from machine import Machine

JOURNAL_TAIL = "journalctl -b -o short-monotonic --no-pager | tail -80"


def table(rows, indent=""):
    """Formats rows of texts as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(indent + "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows)


class Scenario:
    """Base class of scenarios. Subclass it in scenarios/*.py with a docstring about the scenario's subject, and implement run().

    The scenario's name is the class's name in lower case with hyphens: ColdBoot is "cold-boot".
    """
    time_limit = 1200   # seconds; about ten boots under emulation
    for_every_build = True      # False: requires a special build, and runs only if its full name is given
    core = False        # True: also runs with --suite=SUITE:core
    rare = False        # True: takes long, runs only when named or with --all
    long = False        # True: starts first if no duration of an earlier run is known
    alone = False       # True: runs alone, after all others
    real_time = False   # True: has real-time priority, so that other processes of the host do not delay the scenario (sched(7))
    packages = ()       # Debian packages that only the machines of this scenario have

    def __init__(self, image):
        self.image = image
        self.passed = 0
        self.failed = 0
        self.claims = []
        self.faults = []
        self._started = time.monotonic()

    @classmethod
    def name(cls):
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    @classmethod
    def summary(cls):
        return (cls.__doc__ or "").strip().partition("\n")[0]

    def run(self):
        raise NotImplementedError

    @contextlib.contextmanager
    def machine(self, *, cold=False, **options):
        """Runs a Machine with these options. If the body of the `with` statement fails, prints the machine's console and journal. Unless
        `cold` is true, the machine starts in the state of a machine that has booted, if the options permit this."""
        state = None if cold else saved.state(self.image, options)
        with Machine(self.image, state=state, **options) as machine:
            try:
                if state:
                    machine.apply()
                else:
                    machine.wait_boot()
                yield machine
            except Exception:
                self._show(machine)
                raise

    # Claims

    def claim(self, text, holds, detail=""):
        """Counts a claim and prints its line with "ok" or "FAIL". A failed claim also prints the detail. Returns true if the claim
        holds."""
        self.claims.append(text)
        if holds:
            self.passed += 1
        else:
            self.failed += 1
        self._print("ok  " if holds else "FAIL", text, "" if holds else detail)
        return bool(holds)

    def equal(self, text, actual, expected):
        return self.claim(text, actual == expected, f"expected: {expected!r}\nactual:   {actual!r}")

    def match(self, text, actual, pattern):
        """Claims that the text `actual` contains the pattern; ^ and $ match at every line."""
        return self.claim(text, re.search(pattern, actual, re.M), f"expected: /{pattern}/\nactual:   {actual!r}")

    def no_match(self, text, actual, pattern):
        return self.claim(text, not re.search(pattern, actual, re.M), f"expected: no /{pattern}/\nactual:   {actual!r}")

    def note(self, text):
        """Prints progress that is not a claim."""
        self._print("  ..", text)

    def fault(self, what, where, drives, seen, delay=None, lost=None):
        """Adds a row to the runner's table of faults: the fault, its place, the number of drives, the verdicts seen, the delay of other
        drives in seconds, and whether data was lost."""
        self.faults.append((what, where, str(drives), seen, "-" if delay is None else f"{delay:.1f} s",
                            "-" if lost is None else "SOME" if lost else "none", self.name()))

    def execute(self):
        """Calls run() for the runner, and counts an exception as one failure."""
        try:
            self.run()
        except Exception as error:
            frames = "".join(traceback.format_exception(error))
            self.claim(f"ended by {type(error).__name__}", False, frames)

    def show_table(self, rows):
        print("\n" + table(rows, "     "), flush=True)

    def _print(self, mark, text, detail=""):
        elapsed = time.monotonic() - self._started
        lines = [f"{mark} {self.name()}: {text}  [{elapsed:.0f} s]", *("     " + line for line in detail.splitlines())]
        print("\n".join(lines), flush=True)

    def _show(self, machine):
        try:
            journal = machine.run(JOURNAL_TAIL, timeout=30, check=False).stdout if machine.agent else "(the power is off)"
        except Exception as error:
            journal = f"(no answer: {error})"
        for title, text in (("console", machine.console_tail()), ("journal", journal)):
            self.note(f"{title} of the guest:")
            print("".join(f"     {line}\n" for line in text.splitlines()), end="", flush=True)
