# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stand-ins for fio, the clock, sysfs, the command and the service. A test sets the results of fio, which also change the kernel's
counters."""
import contextlib
import io
import math
import os
import pathlib
import re
import shutil
import tempfile
import unittest
from unittest import mock

from measure import bench, command, fio, main, service, subject, sysfs
from measure.service import Refused

GIB = 1 << 30


class Fake(unittest.TestCase):
    """A test in a temporary directory. Its subdirectory class/ simulates /sys/class/block with the disks sda and sdb."""

    def setUp(self):
        self.here = pathlib.Path(tempfile.mkdtemp(prefix="dk-measure-"))
        self.addCleanup(shutil.rmtree, self.here)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.here)
        for name in "sda", "sdb":
            self.put(f"class/{name}/stat", "1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0")
        self.put("class/sda/queue/read_ahead_kb", "128")
        self.read_end, self.write_end = os.pipe2(os.O_NONBLOCK)
        self.addCleanup(os.close, self.read_end)
        self.addCleanup(os.close, self.write_end)
        self.now, self.step_seconds = 0.0, 0.1
        self.log = []               # arguments of each run of fio
        self.reads = 0              # number of sectors read from the simulated drives so far
        self.behave = lambda n: {}  # returns the results of fio's run `n` that differ from the defaults; n counts from 1
        self.patch(sysfs, "BLOCK", str(self.here / "class"))
        self.patch(bench, "monotonic", self.advance_clock)
        self.patch(fio, "run", self.run_fio)

    def patch(self, where, name, what):
        patcher = mock.patch.object(where, name, what)
        self.addCleanup(patcher.stop)
        return patcher.start()

    def put(self, path, text):
        path = self.here / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    def get(self, path):
        return (self.here / path).read_text().strip()

    def advance_clock(self):
        """Advances the clock at each reading."""
        self.now += self.step_seconds
        return self.now

    def stop(self):
        os.write(self.write_end, b"x")

    def run_fio(self, arguments, stop_fd):
        self.log.append(" ".join(arguments))
        behavior = {"bytes": 1 << 20, "extra": 0, "changes": 0, "error": 0, "ns": 1000, "p99": 9000, "max": 5000, "ms": 500, "bw": 2e6, "iops": 70.5,
                    "counted": None, "stop": False, **self.behave(len(self.log))}
        self.reads += (behavior["bytes"] + behavior["extra"]) // 512
        counted = self.reads if behavior["counted"] is None else behavior["counted"]
        self.put("class/sda/stat", f"1 0 {counted} 0 {behavior['changes']} 0 0 0 0 0 0 0 0 0 0 0 0")
        if behavior["stop"]:
            self.stop()
            raise fio.Stopped
        if behavior["error"]:
            raise fio.Failed(os.strerror(behavior["error"]))
        percentile = {"50.000000": behavior["ns"], "99.000000": behavior["p99"]}
        read = {"io_bytes": behavior["bytes"], "bw_bytes": behavior["bw"], "iops": behavior["iops"], "runtime": behavior["ms"],
                "clat_ns": {"max": behavior["max"], "percentile": percentile}}
        return {"jobs": [{"error": 0, "read": read, "write": {"iops": 30}, "sync": {"lat_ns": {"percentile": {"50.000000": 5000}}}}]}

    def runs(self, part):
        return [line for line in self.log if part in line]

    def meter(self, **changes):
        arguments = {"name": "sda", "node": "/dev/none", "size": 64 * GIB, "budget": 40, "stop_fd": self.read_end, "check_ready": self.check_ready,
                     "report_progress": self.report_progress, **changes}
        self.n_checks, self.checks_max, self.spent, self.longest, self.n_reports = 0, math.inf, 0, 0, 0
        return bench.Meter(**arguments)

    def check_ready(self):
        self.n_checks += 1
        if self.n_checks > self.checks_max:
            raise command.Trouble("no more")

    def report_progress(self, spent):
        self.longest, self.spent, self.n_reports = max(self.longest, spent - self.spent), spent, self.n_reports + 1




def row(name, transport, value, **more):
    return {"name": name, "transport": transport, "value": value, "saved": None, "reason": None, "supported": value is not None,
            "exact": None if value is None else True, **more}


def drive(name, **more):
    """Returns a drive in the command's JSON format."""
    return {"name": name, "key": name, "node": f"/dev/{name}", "model": None, "serial": None, "firmware": None, "size": 9 * GIB,
            "state": "active/idle", "settings": [], "match": f'"/dev/{name}"',
            "wear": {"celsius": None, "celsius_max": None, "load_cycles": None, "start_stops": None, "testing": False}, **more}


class Program(Fake):
    """The whole program, with stand-ins for the command and the service."""

    def setUp(self):
        super().setUp()
        self.drives = {}
        self.is_terminal = False
        self.service = None         # None: the service is not running
        self.patch(command, "read", self.read)
        self.patch(subject.Subject, "read_settings", lambda s, *_: self.read("show", s.name)["drives"][0])
        self.patch(subject.Subject, "read_anywhere", lambda s: None)
        self.patch(service, "connect", lambda path: self.service)
        self.patch(os, "geteuid", lambda: 0)
        self.patch(fio, "is_installed", lambda: True)
        self.patch(subject, "open_stop", lambda: self.read_end)
        os.environ["TZ"] = "UTC"

    def read(self, verb, *words, **_):
        names = [word for word in words if not word.startswith("--")]
        return getattr(self, f"print_{verb}")(names, words)

    def find(self, name):
        for each in self.drives.values():
            if name in (each["name"], each["serial"], each["node"]):
                return each
        command.warn(f"'{name}' is no drive that drivekeep knows")
        raise command.Trouble(status=1)

    def print_show(self, names, _):
        return {"drives": [self.find(name) for name in names]}

    def print_list(self, _, __):
        return {"drives": list(self.drives.values())}

    def run_program(self, *words):
        """Runs the program and returns its exit status; the output is in `out` and `err`."""
        out, err = io.StringIO(), io.StringIO()
        err.isatty = lambda: self.is_terminal
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            # Passes the arguments in the same order as the command: options, "--", names.
            status = main.run([w for w in words if w.startswith("-")] + ["--"] + [w for w in words if not w.startswith("-")])
        self.out, self.err = out.getvalue(), err.getvalue()
        return status


class FakeService:
    """A service that handles a method in do_METHOD() of a subclass, and ignores all other methods."""

    def __init__(self):
        self.gate = None    # a function that returns why a drive may not be read; None: every drive may be read
        self.calls = []

    def request(self, member, signature="", *arguments, **_):
        try:
            return self.call(member, signature, *arguments)
        except (OSError, Refused) as error:
            raise service.explain(error) from None

    def call(self, member, _signature="", *arguments, **_):
        return getattr(self, f"do_{member.lower()}", lambda *_: ())(*arguments) or ()

    def read(self, name):
        self.request("Read", "as", [name])

    def request_permission(self, name):
        return self.gate(name) if self.gate else None


def without_day(text):
    """Replaces today's date, on which the output must not depend."""
    return re.sub(r"measured \d{4}-\d\d-\d\d", "measured 0000-00-00", text)
