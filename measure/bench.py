# SPDX-License-Identifier: LGPL-2.1-or-later
"""The measurement of one drive as it is: jobs in turn, round after round, so that what changes meanwhile is in all figures alike, until
a time is spent. Only reads, but for what is done to a file of its own."""
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
FRESH_ZONES = 2         # the second and the third, …
FRESH_LENGTHS = 8       # … of which a sample may read such a part, …
FRESH_SPARES = 8        # … or so many times more than what is read ahead
READ_AHEAD_WINDOWS = 4  # the kernel has two under way at most, each no larger than read_ahead_kb
SETTLE_TRIES = 500      # ms, for what is under way still
REST_PART = 30          # s; the service leaves the drive alone for a minute after it was asked
FILE_SIZE = 128 * MIB
FILE_SPARE = MIB        # a file system may read for what is written in a file
SIZE_MIN = 4 << 30      # in less, a zone has no room for what is to be read there

GOLDEN = 0x9E3779B97F4A7C15     # 0.618 of 2^64, beyond which the whole turns are lost

# Tests have a clock of their own.
monotonic: typing.Callable[[], float] = time.monotonic


@dataclasses.dataclass
class Measured:
    """What was measured of one figure."""
    figure: Figure
    samples: list[float] = dataclasses.field(default_factory=list)      # that are kept, in the order in which they were taken
    others: int = 0                 # left out: others used the drive, …
    cached: int = 0                 # … part of it was in the page cache, …
    errors: int = 0                 # … or fio or the drive failed
    complaint: str | None = None    # of the last one that failed

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
    stop_fd: int            # readable: the user wants an end
    check_ready: typing.Callable[[], None]    # called before each sample; what it raises ends the measurement
    report_progress: typing.Callable[[float], None]    # so many seconds are spent
    below: list[str] = dataclasses.field(default_factory=list)      # the disks below an array
    file: int = -1          # for what writes, FILE_SIZE large; negative: nothing does
    samples_max: int = samples.MAX
    counted: bool = False   # the kernel has counted all that was done, so that others' use was seen

    # ---- where ----

    def _read_ahead(self, place: Place, size: int = 0) -> int:
        """How much the kernel may have read of its own accord, beside so much that was asked for, or for an earlier sample."""
        window = 1024 * sysfs.number(self.name, "queue/read_ahead_kb")
        return READ_AHEAD_WINDOWS * window if place == Place.FRESH else size // PAGE * window if place == Place.MAPPED else 0

    def _drop_cache(self, offset: int, size: int) -> None:
        """The page cache is to have nothing of it. The kernel also writes out what is changed there; where a file system lies on the whole
        device it would do so for a direct read, too."""
        with contextlib.suppress(OSError), open(self.node, "rb", 0) as node:
            os.posix_fadvise(node.fileno(), offset, size, os.POSIX_FADV_DONTNEED)

    def _own_file(self) -> str:
        return f"--filename=/proc/{os.getpid()}/fd/{self.file} --size={FILE_SIZE} --time_based"

    def _place(self, place: Place, step: int) -> str:
        """As options of fio, which reads on from an offset for no longer than the size."""
        zone = self.size // ZONES // MIB * MIB
        if place == Place.FILE:
            return self._own_file()
        if place in ZONE_OF:
            # Each sample begins elsewhere in the first half.
            size = self.size // ZONES // 2 // MIB * MIB
            offset = 2 * size * ZONE_OF[place] + spread(step, size)
        elif place == Place.FRESH:
            # Each begins elsewhere, as a drive has a cache, too, and where there is more than what the kernel reads ahead.
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
        # What is told in a group is told of all its jobs as of one.
        background = f" --group_reporting --name=beside --group_reporting {self._own_file()} {job.background}" if job.background else ""
        words = (f"--output-format=json --thread --runtime={job.milliseconds}ms --randseed={step + 1} --norandommap --invalidate=0 "
                 f"--fadvise_hint=0 --allow_file_create=0{'' if job.writes else ' --readonly'} --name={job.name} "
                 f"{self._place(job.place, step)} {job.arguments}{background}")
        return fio.run(words.split(" "), self.stop_fd)

    def _count_io(self) -> tuple[int, int, int] | None:
        """Bytes read from the device and from the disks below an array, and changes of all of these; None: not all of it is counted. What
        is read ahead still belongs to the sample before."""
        for _ in range(SETTLE_TRIES):
            if not sysfs.is_in_flight(self.name):
                break
            time.sleep(0.001)
        own, below = sysfs.traffic(self.name), [sysfs.traffic(name) for name in self.below]
        if own is None or None in below:
            return None
        return own.read_bytes, sum(t.read_bytes for t in below), own.changes + sum(t.changes for t in below)

    def _classify(self, job: Job, before: tuple[int, int, int] | None, size: int) -> str:
        """Of a sample in which so many bytes were read: "samples", "others" or "cached"."""
        # What a file system writes by itself for a file of ours is ours, too.
        if not self.counted or job.place == Place.FILE:
            return "samples"
        after, spare = self._count_io(), self._read_ahead(job.place, size)
        # It may have been switched off meanwhile.
        self.counted = before is not None and after is not None
        if not self.counted:
            return "samples"
        read, below, changes = (now - then for now, then in zip(after, before))
        # Beside writes this is all that can be told: disks of an array may be read for these, too.
        if job.background:
            return "others" if read > size + FILE_SPARE else "samples"
        if max(read, below) > size + spare or changes:
            return "others"
        least = {Place.MAPPED: size, Place.FRESH: size - spare}.get(job.place, 0)
        return "cached" if read < least else "samples"

    def _idle(self, idle: float) -> None:
        """In a longer time without use the service is asked again."""
        while idle > 0:
            part = min(idle, REST_PART)
            if wait(self.stop_fd, part):
                raise fio.Stopped
            idle -= part
            if idle > 0:
                self.check_ready()

    def sample(self, job: Job, items: list[Measured], step: int, idle: float = 0) -> None:
        """One item for each figure of the job. `step` says where: no two samples may have the same. Before the job the drive is left
        alone for `idle` seconds, which belong to the sample where others' use is looked for. What fails in fio is told in the items."""
        before, output, complaint = self._count_io(), {}, None
        self._idle(idle)
        try:
            output = self._run(job, step)
        except fio.Failed as failed:
            complaint = str(failed)
        size = fio.number(output, "read/io_bytes")
        verdict = self._classify(job, before, int(size)) if size >= 0 else "samples"
        # Before anything else is measured, what was written here is on the drive.
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
        """Heads move, a drive in a low-power state comes out of it. It also shows whether the kernel counts."""
        before, failed = self._count_io(), False
        try:
            self._run(JOBS[0], 0)
        except fio.Failed:
            failed = True
        after = self._count_io()
        self.counted = before is not None and after is not None and (failed or after[0] != before[0])

    # ---- all of them ----

    def run(self, figures: dict[str, Measured]) -> None:
        """Until the budget is spent or the user wants an end. What was measured by then is in `figures` also where it raises."""
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


# Tests let no time pass.
wait = fio.wait_for_stop


def spread(step: int, size: int) -> int:
    """A place in so many bytes for each step, in whole MiB: at multiples of the golden section, which spread evenly however many there
    are, and of which two that follow each other are far apart."""
    return ((step * GOLDEN & 0xFFFFFFFFFFFFFFFF) >> 32) * (size // MIB) // (1 << 32) * MIB


def find_fault(output: dict, job: Job, figure: Figure, value: float) -> str | None:
    """Why what fio tells of this figure is not used."""
    # In too short a time fio has finished nothing.
    if math.isnan(value) or value <= 0:
        return "fio measured nothing"
    ms = fio.number(output, "read/runtime")
    if job.place <= Place.FRESH and ms * figure.error < 1:
        return f"fio read the whole zone in {ms:.0f} ms, which is too short to measure"
    return None
