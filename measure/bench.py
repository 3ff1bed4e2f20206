# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures one drive with its current settings: runs all jobs in rounds, so that changes over time affect all figures alike, until the time
budget is spent. Only reads from the drive, except for jobs that write to a file of their own."""
from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import time
import typing

from measure import fio, samples, sysfs
from measure.figures import JOBS, Figure, Job, Place

ZONES = 32
ZONE_OF = {Place.START: 0, Place.MIDDLE: ZONES // 2, Place.END: ZONES - 1}
MIB = 1 << 20
PAGE = 4096
FRESH_ZONES = 2         # jobs at Place.FRESH use the second and the third zone
FRESH_LENGTHS = 8       # a sample at Place.FRESH reads at least one eighth of the FRESH_ZONES
FRESH_SPARES = 8        # a sample reads at least the size of the read-ahead, multiplied by this number
READ_AHEAD_WINDOWS = 4  # assumed size of the read-ahead, in units of read_ahead_kb; at most half of the read-ahead is in flight
SETTLE_TRIES = 500      # ms to wait for requests in flight
REST_PART = 30          # s between renewals of the service's read permission, which lasts for a minute
FILE_SIZE = 128 * MIB
FILE_SPARE = MIB        # bytes that a file system may read when the file is written
SIZE_MIN = 4 << 30      # bytes; zones of smaller drives are too small for a sample

GOLDEN = 0x9E3779B97F4A7C15     # golden section (0.618) of 2^64; multiples are taken modulo 2^64

# Replaced by tests.
monotonic: typing.Callable[[], float] = time.monotonic


@dataclasses.dataclass
class Measured:
    """The samples of one figure."""
    figure: Figure
    samples: list[float] = dataclasses.field(default_factory=list)      # valid samples, in the order in which they were taken
    others: int = 0                 # samples left out because other programs used the drive
    cached: int = 0                 # samples left out because the page cache served part of the read
    errors: int = 0                 # samples left out because fio or the drive failed
    complaint: str | None = None    # message of the last failure

    def estimate(self) -> samples.Estimate:
        return samples.estimate(self.samples, self.figure.error)


def measured(figures: dict[str, Measured], figure: Figure) -> Measured:
    return figures.setdefault(figure.key, Measured(figure))


@dataclasses.dataclass
class Meter:
    """Takes samples of one drive."""
    name: str
    node: str
    size: int               # bytes
    budget: float           # s
    stop_fd: int            # becomes readable when the user interrupts the program
    check_ready: typing.Callable[[], None]      # called before each sample; an exception ends the measurement
    report_progress: typing.Callable[[float], None]     # called with the seconds spent
    below: list[str] = dataclasses.field(default_factory=list)      # the member disks of an array
    file: int = -1          # descriptor of a file of FILE_SIZE for jobs that write; negative: no such jobs
    samples_max: int = samples.MAX
    counted: bool = False   # the kernel counts all I/O, so that I/O of other programs is noticed

    # ---- places on the drive ----

    def _read_ahead(self, place: Place, size: int = 0) -> int:
        """Returns how many bytes the kernel may have read ahead, beyond the `size` bytes that the job requested."""
        window = 1024 * sysfs.number(self.name, "queue/read_ahead_kb")
        return READ_AHEAD_WINDOWS * window if place == Place.FRESH else size // PAGE * window if place == Place.MAPPED else 0

    def _drop_cache(self, offset: int, size: int) -> None:
        """Drops the range from the page cache. If a file system uses the whole device, the kernel first writes dirty pages of the range to
        the drive. A direct read has the same effect."""
        with contextlib.suppress(OSError), open(self.node, "rb", 0) as node:
            os.posix_fadvise(node.fileno(), offset, size, os.POSIX_FADV_DONTNEED)

    def _own_file(self) -> str:
        return f"--filename=/proc/{os.getpid()}/fd/{self.file} --size={FILE_SIZE} --time_based"

    def _place(self, place: Place, step: int) -> str:
        """Returns the place as options of fio."""
        zone = self.size // ZONES // MIB * MIB
        if place == Place.FILE:
            return self._own_file()
        if place in ZONE_OF:
            # Each sample begins at another offset in the first half of the zone.
            size = self.size // ZONES // 2 // MIB * MIB
            offset = 2 * size * ZONE_OF[place] + spread(step, size)
        elif place == Place.FRESH:
            # Each sample begins at another offset, because the drive's own cache may still have the data of earlier samples. A sample reads
            # more than the kernel reads ahead.
            whole, ahead = FRESH_ZONES * zone, self._read_ahead(place)
            size = min(max(whole // FRESH_LENGTHS, ahead * FRESH_SPARES) // MIB * MIB, whole)
            offset = zone + spread(step, whole - size)
            self._drop_cache(offset, size + ahead)
        else:
            if place == Place.MAPPED:
                self._drop_cache(0, 0)
            return f"--filename={self.node} --size={self.size} {'--number_ios=1' if place == Place.ONCE else '--time_based'}"
        return f"--filename={self.node} --offset={offset} --size={size}"

    # ---- one sample ----

    def _run(self, job: Job, step: int) -> dict:
        # fio reports the jobs of a group as one: the reads are those of the measured job, the writes those of the background job.
        background = f" --group_reporting --name=beside --group_reporting {self._own_file()} {job.background}" if job.background else ""
        words = (f"--output-format=json --thread --runtime={job.milliseconds}ms --randseed={step + 1} --norandommap --invalidate=0 "
                 f"--fadvise_hint=0 --allow_file_create=0{'' if job.writes else ' --readonly'} --name={job.name} "
                 f"{self._place(job.place, step)} {job.arguments}{background}")
        return fio.run(words.split(" "), self.stop_fd)

    def _count_io(self) -> tuple[int, int, int] | None:
        """Returns the bytes read from the device, the bytes read from the member disks of an array, and the number of writes to all these
        devices. Returns None if the kernel does not count all I/O. Waits for read-ahead in flight, which belongs to the previous sample."""
        for _ in range(SETTLE_TRIES):
            if not sysfs.is_in_flight(self.name):
                break
            time.sleep(0.001)
        own, below = sysfs.traffic(self.name), [sysfs.traffic(name) for name in self.below]
        if own is None or None in below:
            return None
        return own.read_bytes, sum(t.read_bytes for t in below), own.changes + sum(t.changes for t in below)

    def _classify(self, job: Job, before: tuple[int, int, int] | None, size: int) -> str:
        """Returns the name of the counter that a sample of `size` bytes increases: "samples", "others" or "cached"."""
        # Does not compare counters for this program's file: the file system's own I/O for the file would look like I/O of other programs.
        if not self.counted or job.place == Place.FILE:
            return "samples"
        after, spare = self._count_io(), self._read_ahead(job.place, size)
        # iostats may have been switched off during the sample.
        self.counted = before is not None and after is not None
        if not self.counted:
            return "samples"
        read, below, changes = (now - then for now, then in zip(after, before))
        # If the job also writes to the file, only reads of the device itself can show I/O of other programs: the job's own writes to an array
        # may cause reads and writes of the array's disks.
        if job.background:
            return "others" if read > size + FILE_SPARE else "samples"
        if max(read, below) > size + spare or changes:
            return "others"
        least = {Place.MAPPED: size, Place.FRESH: size - spare}.get(job.place, 0)
        return "cached" if read < least else "samples"

    def _idle(self, idle: float) -> None:
        """Waits for `idle` seconds and renews the service's permission meanwhile. Raises fio.Stopped."""
        while idle > 0:
            part = min(idle, REST_PART)
            if wait(self.stop_fd, part):
                raise fio.Stopped
            idle -= part
            if idle > 0:
                self.check_ready()

    def sample(self, job: Job, items: list[Measured], step: int, idle: float = 0) -> None:
        """Takes one sample. `items`: for each figure of the job, the object that gets the sample or counts the failure. `step`: determines the
        place, and must differ for each sample. `idle`: seconds without I/O before the job; I/O of other programs in this time is noticed."""
        before, output, complaint = self._count_io(), {}, None
        self._idle(idle)
        try:
            output = self._run(job, step)
        except fio.Failed as failed:
            complaint = str(failed)
        size = fio.number(output, "read/io_bytes")
        verdict = self._classify(job, before, int(size)) if size >= 0 else "samples"
        # The written data must be on the drive before the next measurement.
        if job.writes:
            with contextlib.suppress(OSError):
                os.fsync(self.file)

        for m in items:
            value = sum(fio.number(output, path) for path in m.figure.paths) if size >= 0 else math.nan
            fault = complaint or find_fault(output, job, m.figure, value)
            if fault:
                m.complaint = fault
                m.errors += 1
            elif verdict == "samples":
                m.samples.append(value * m.figure.unit)
            else:
                setattr(m, verdict, getattr(m, verdict) + 1)

    def warm_up(self) -> None:
        """Reads once, so that a drive leaves a low-power state and moves its heads. Also finds out whether the kernel counts I/O."""
        before, failed = self._count_io(), False
        try:
            self._run(JOBS[0], 0)
        except fio.Failed:
            failed = True
        after = self._count_io()
        self.counted = before is not None and after is not None and (failed or after[0] != before[0])

    # ---- rounds ----

    def run(self, figures: dict[str, Measured]) -> None:
        """Measures until the budget is spent or the user interrupts. `figures` has all samples even if run() raises an exception."""
        start = monotonic()
        jobs = [job for job in JOBS if not job.for_settings and (not job.writes or self.file >= 0)]
        items = {job.name: [measured(figures, figure) for figure in job.figures] for job in jobs}
        with contextlib.suppress(fio.Stopped):
            self.warm_up()
            self._rounds(jobs, items, start)

    def _rounds(self, jobs: list[Job], items: dict[str, list[Measured]], start: float) -> None:
        fresh, longest = int(time.time() * 1e6), 0.0
        for number in range(1, self.samples_max + 1):
            for job in jobs:
                begun = monotonic()
                if fio.wait_for_stop(self.stop_fd, 0) or begun - start + longest > self.budget:
                    return
                self.check_ready()
                self.sample(job, items[job.name], number if job.place < Place.FRESH else fresh + number)
                longest = max(longest, monotonic() - begun)
                self.report_progress(monotonic() - start)


# Replaced by tests.
wait = fio.wait_for_stop


def spread(step: int, size: int) -> int:
    """Returns an offset below `size` for each step, in whole MiB. Multiples of the golden section are spread evenly for any number of
    steps, and consecutive offsets are far apart."""
    return ((step * GOLDEN & 0xFFFFFFFFFFFFFFFF) >> 32) * (size // MIB) // (1 << 32) * MIB


def find_fault(output: dict, job: Job, figure: Figure, value: float) -> str | None:
    """Returns why fio's result for this figure is not valid, or None if it is valid."""
    # In a very short time, fio may not have finished a single request.
    if math.isnan(value) or value <= 0:
        return "fio measured nothing"
    ms = fio.number(output, "read/runtime")
    if job.place <= Place.FRESH and ms * figure.error < 1:
        return f"fio read the whole zone in {ms:.0f} ms, which is too short to measure"
    return None
