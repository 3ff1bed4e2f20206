# SPDX-License-Identifier: LGPL-2.1-or-later
"""The drive or array that is measured: identifies it, checks that it can be measured now, and keeps visits and file system checks away
during the measurement."""
from __future__ import annotations

import argparse
import contextlib
import math
import mmap
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing

from measure import bench, command, fio, service, sysfs
from measure.bench import Meter
from measure.command import LATER, Trouble

TOO_WARM = 60       # degrees Celsius; the usual operating limit of hard disks
SLEEPING = "standby", "suspended", "sleep"
BAR = 30
UNITS = {"ms": 0.001, "msec": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "hr": 3600, "hour": 3600, "minute": 60, "second": 1}


def parse_budget(text: str) -> float | None:
    """Returns the seconds of "90s" or "1h 30min"; or None if the text is not a time from 10 s to 12 h."""
    part = r" *(\d+\.?\d*|\.\d+) *([a-z]+) *"
    parts = re.findall(part, text.lower()) if re.fullmatch(f"({part})+", text.lower()) else []
    seconds = sum(float(n) * (UNITS.get(unit) or UNITS.get(unit.removesuffix("s"), math.nan)) for n, unit in parts)
    return seconds if 10 <= seconds <= 12 * 3600 else None


def format_duration(seconds: float) -> str:
    """Formats seconds as in "1 h 30 min" or "2 min 5 s"."""
    whole = int(seconds)
    parts = [(whole // 3600, "h"), (whole // 60 % 60, "min"), (whole % 60 if whole < 3600 else 0, "s")]
    return " ".join(f"{n} {unit}" for n, unit in parts if n) or "0 s"


class Subject:
    """The drive or array to measure. The constructor raises Trouble if it cannot be measured, and sends no command that wakes a drive."""

    def __init__(self, options: argparse.Namespace, verb: str, budget: str):
        seconds = parse_budget(options.budget or budget)
        if seconds is None:
            raise Trouble(f"'{options.budget}' is not a valid time: write --budget={budget}, or another time from 10s to 12h")
        if os.geteuid() != 0:
            raise Trouble("only root may measure drives")
        if not fio.is_installed():
            raise Trouble(f"drivekeep {verb} needs fio: install the package 'fio'")
        self.options, self.budget = options, seconds
        self.spent = 0.0        # seconds of the budget that earlier measurements took
        self.file = -1          # descriptor for jobs that write; negative: no such jobs
        self.progress = sys.stderr.isatty() and not options.quiet
        self.stop_fd = open_stop()
        self.service = service.connect(options.state_dir)
        self.when = time.time()

        # `drivekeep show` finds the drive by any of its names, and does not wake it.
        self.drive, = self._show("--", options.names[0])
        self.name, self.size = self.drive["name"], self.drive["size"]
        self.changes_states = is_nvme(self.drive)    # an NVMe drive changes power states by itself
        self.diskseq = sysfs.attribute(self.name, "diskseq")
        self.below = sysfs.disks_below(self.name)
        self.is_array = self.name not in self.below
        known = {drive["name"] for drive in command.read("list", *self.state())["drives"]} if self.is_array else {self.name}
        self.disks = [name for name in self.below if name in known]
        # Without the service, the drivekeep command itself refuses drives whose file system check is queued or running.
        if self.service:
            self.service.request("Settle")
        for name, why in self._refusals():
            raise Trouble(f"{name} cannot be read now: {why}; try again later", LATER)
        self.shown = self._examine()

    def state(self) -> list[str]:
        """Returns the command's option for the directory of the service's state files."""
        return [f"--state-dir={self.options.state_dir}"]

    def _show(self, *words: str) -> list[dict]:
        return command.read("show", *self.state(), *words)["drives"]

    def _refusals(self) -> typing.Iterator[tuple[str, str]]:
        """Requests permission to read all disks. Yields each disk that may not be read now, with the cause."""
        for name in self.disks if self.service else []:
            why = self.service.request_permission(name)
            if why:
                yield name, why

    # ---- obstacles ----

    def _examine(self) -> list[dict]:
        """Returns the command's JSON about the drive and its disks, with settings and wear. Raises Trouble if the drive cannot be measured
        now."""
        if any(row["transport"] == "optical" for row in self.drive["settings"]):
            raise self._objection("it is an optical drive")
        if self.size < bench.SIZE_MIN:
            raise self._objection(f"it has less than {bench.SIZE_MIN >> 30} GiB, or no medium")
        shown = self._show("--wear", *dict.fromkeys([self.name, *self.disks]))
        for drive in shown:
            strain = find_obstacle(drive)
            if strain:
                raise self._objection(f"{drive['name']} {strain}")
        for disk in self.below:
            for name in sysfs.above(disk):
                action = sysfs.attribute(name, "md/sync_action")
                if action not in ("", "idle", "frozen"):
                    raise self._objection(f"{name} is busy with '{action}'")
        return shown

    def _objection(self, why: str) -> Trouble:
        return Trouble(f"{self.name} is not measured: {why}")

    # ---- settings of the drive ----

    def read_settings(self, setting: str | None = None) -> dict:
        """Returns the command's JSON about the drive: its wear, and all settings or only `setting`. An idle NVMe controller may report a power
        state that it has entered by itself. So this function reads from an NVMe drive until the command has finished."""
        child = command.begin("show", "--json", "--wear", *([f"--setting={setting}"] if setting else []), *self.state(), self.name)
        done = threading.Event()
        reader = threading.Thread(target=self._keep_awake, args=(done,), daemon=True)
        if self.changes_states:
            reader.start()
        try:
            return command.end(child)["drives"][0]
        finally:
            done.set()
            if self.changes_states:
                reader.join()

    def _keep_awake(self, done: threading.Event) -> None:
        while not done.wait(0.02):
            self.read_anywhere()

    def read_anywhere(self) -> None:
        """Reads from a changing offset: the data at a fixed offset may be in the drive's cache."""
        with contextlib.suppress(OSError), open(self.drive["node"], "rb", 0, opener=open_direct) as node, mmap.mmap(-1, mmap.PAGESIZE) as block:
            node.seek(time.monotonic_ns() % (self.size // mmap.PAGESIZE) * mmap.PAGESIZE)
            node.readinto(block)

    # ---- during the measurement ----

    def is_here(self) -> bool:
        """Returns true if the name still belongs to the same drive, or if the kernel has no sequence numbers of disks."""
        return not self.diskseq or sysfs.attribute(self.name, "diskseq") == self.diskseq

    def check_here(self) -> None:
        if not self.is_here():
            raise Trouble(f"{self.name} can no longer be measured: it was removed")

    def check_ready(self) -> None:
        self.check_here()
        for _, why in self._refusals():
            raise Trouble(f"{self.name} can no longer be measured: {why}")

    def is_stopped(self) -> bool:
        return fio.wait_for_stop(self.stop_fd, 0)

    def meter(self, budget: float) -> Meter:
        """Returns a meter that shows a progress bar."""
        return Meter(self.name, self.drive["node"], self.size, budget, self.stop_fd, self.check_ready, self._show_progress,
                     self.below if self.is_array else [], self.file)

    def _show_progress(self, spent: float) -> None:
        if not self.progress:
            return
        all_spent = min(self.spent + spent, self.budget)
        part = all_spent / self.budget
        bar = "#" * int(part * BAR)
        print(f"\r{self.name} [{bar:{BAR}}] {int(part * 100):3} %, {format_duration(self.budget - all_spent)} left\033[K", end="", file=sys.stderr,
              flush=True)

    def hide_progress(self) -> None:
        if self.progress:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    # ---- the file of --file ----

    def make_file(self) -> None:
        """Creates the file of --file on this drive. Without --file, or after an interrupt, there is no file."""
        directory = self.options.file
        if directory is None:
            return
        fault = self._find_fault(directory)
        if fault:
            raise Trouble(fault)
        try:
            self.file = make_scratch_file(directory, self.stop_fd)
        except fio.Stopped:
            pass
        except OSError as error:
            raise Trouble(f"no file of {bench.FILE_SIZE >> 20} MiB can be written in '{directory}': {error.strerror}") from None

    def _find_fault(self, directory: str) -> str | None:
        """Returns why the directory cannot be used, or None if it can. Directories on btrfs are not checked, because
        btrfs has device numbers of its own."""
        if not os.path.isdir(directory):
            return f"'{directory}' is not a directory: --file needs a directory on {self.name}"
        kind = subprocess.run(["stat", "-f", "-c", "%T", "--", directory], capture_output=True, text=True, check=False).stdout.strip()
        if kind == "btrfs":
            return None
        device = sysfs.device_name(os.stat(directory).st_dev)
        if device is None:
            return f"'{directory}' is on an unknown drive: --file needs a directory on {self.name}"
        on_it = device == self.name or device in sysfs.above(self.name)
        if not on_it or not set(sysfs.disks_below(device)) <= set(self.below):
            return f"'{directory}' is not on {self.name} alone: --file needs a directory that is only on {self.name}"
        return None


def is_nvme(drive: dict) -> bool:
    return any(row["transport"] == "nvme" for row in drive["settings"])


def find_obstacle(drive: dict) -> str | None:
    """Returns why the drive must not be measured now, as the end of a sentence, or None if it may be measured. For arrays, only the disks
    have obstacles."""
    if drive["state"] in SLEEPING:
        return "is in a low-power state; read from the drive to wake it, and try again"
    wear = drive["wear"]
    if wear is None:
        return "does not answer"
    if wear["testing"]:
        return "runs a self-test"
    celsius, most = wear["celsius"], wear["celsius_max"]
    if is_nvme(drive):
        return f"has {celsius} C, above its warning limit of {most} C" if None not in (celsius, most) and celsius > most else None
    return f"has {celsius} C, above the limit of {TOO_WARM} C" if celsius is not None and celsius > TOO_WARM else None


def open_direct(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_DIRECT)


def open_stop() -> int:
    """Returns a descriptor that becomes readable when a signal asks the program to end; the signal itself no longer ends the program.
    Signals that are ignored, as by nohup(1), stay ignored."""
    read_end, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    for each in command.SIGNALS:
        if signal.getsignal(each) != signal.SIG_IGN:
            signal.signal(each, lambda *_: os.write(write_end, b"x"))
    return read_end


def make_scratch_file(directory: str, stop_fd: int) -> int:
    """Creates a file for jobs that write, and returns its descriptor. The file has no name, so it disappears with the last descriptor. Its
    random content, written to the drive, cannot be compressed by a file system or a drive."""
    with tempfile.TemporaryFile(buffering=0, dir=directory) as file:
        while file.tell() < bench.FILE_SIZE:
            file.write(os.urandom(1 << 20))
            if fio.wait_for_stop(stop_fd, 0):
                raise fio.Stopped
        os.fsync(file.fileno())
        return os.dup(file.fileno())
