"""A scenario: one machine or a few, and the claims it proves about them, each a line of its own.

A failing claim does not end the scenario; an exception does, and shows the guest's last words.
"""
import contextlib
import re
import time
import traceback

from machine import Machine

JOURNAL_TAIL = "journalctl -b -o short-monotonic --no-pager | tail -80"


def table(rows, indent=""):
    """Rows of texts as lines, their columns one below the other."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(indent + "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows)


class Scenario:
    """Subclass it in scenarios/*.py, say what it is about in the docstring, and write run().

    The runner calls it by the class's name in lower case with hyphens: ColdBoot is "cold-boot".
    """
    time_limit = 1200   # seconds; some ten boots under emulation
    for_every_build = True      # False: wants a build of its own, and is run by its name only
    core = False        # of those that every suite is tested with
    rare = False        # takes long: only when named, or with --all
    long = False        # begun first where nobody knows how long it takes
    alone = False       # not beside others, and after them
    packages = ()       # Debian's, which the machines of other scenarios do not have

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
    def machine(self, **options):
        """A Machine (with its options) that is running; if the block fails, its console and journal are shown."""
        with Machine(self.image, **options) as machine:
            try:
                machine.wait_boot()
                yield machine
            except Exception:
                self._show(machine)
                raise

    # Claims

    def claim(self, text, holds, detail=""):
        """The claim itself: a line that says ok or FAIL, with the detail (what is wrong) below the latter."""
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
        """The pattern is searched for; ^ and $ match at every line."""
        return self.claim(text, re.search(pattern, actual, re.M), f"expected: /{pattern}/\nactual:   {actual!r}")

    def no_match(self, text, actual, pattern):
        return self.claim(text, not re.search(pattern, actual, re.M), f"expected: no /{pattern}/\nactual:   {actual!r}")

    def note(self, text):
        """Progress that is not a claim."""
        self._print("  ..", text)

    def fault(self, what, where, drives, seen, delay=None, lost=None):
        """A line of the runner's table of faults: injected where, with so many drives present; what was seen (the verdict); how
        many seconds the other drives took meanwhile; whether data was lost."""
        self.faults.append((what, where, str(drives), seen, "-" if delay is None else f"{delay:.1f} s",
                            "-" if lost is None else "SOME" if lost else "none", self.name()))

    def execute(self):
        """What the runner calls: run(), and whatever goes wrong in it counted as one failure."""
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
