# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines the jobs, each a run of fio for a second or less, and the figures that each job measures."""
from __future__ import annotations

import dataclasses
import enum


@dataclasses.dataclass(frozen=True)
class Kind:
    unit: str               # in JSON
    words: tuple[str, str]  # words for a smaller and for a larger figure
    less_is_better: bool = False


SPEED = Kind("B/s", ("slower", "faster"))
LATENCY = Kind("s", ("shorter", "longer"), less_is_better=True)
RATE = Kind("1/s", ("fewer", "more"))     # reads, or reads and writes


class Place(enum.IntEnum):
    """Where on the drive a job reads. A zone is a thirty-second of the drive."""
    START = 0       # the outer zone of a rotational disk
    MIDDLE = 1
    END = 2         # the inner zone
    FRESH = 3       # the second and the third zone, at offsets not read before: the data is most likely not in the page cache
    ANYWHERE = 4    # random places on the whole drive, drawn by fio
    ONCE = 5        # a single random place
    MAPPED = 6      # random places, read through the page cache with read-ahead
    FILE = 7        # a separate file


@dataclasses.dataclass(frozen=True)
class Figure:
    key: str        # used in files and JSON, and never changed
    title: str
    kind: Kind
    paths: tuple[str, ...]      # paths of numbers in fio's JSON about a job; the figure is their sum
    unit: float     # factor that converts fio's unit into the unit of the kind
    error: float    # resolution of fio's value, as a fraction of the value


@dataclasses.dataclass(frozen=True)
class Job:
    name: str
    place: Place
    milliseconds: int           # duration of a sample; figures may depend on it
    arguments: str              # for fio
    figures: tuple[Figure, ...]
    for_settings: bool = False  # measures the effect of a setting, and is not part of `drivekeep bench`
    background: str = ""        # fio arguments of a second job, which writes to a separate file during this job

    @property
    def writes(self) -> bool:
        """True if the job writes. Jobs write only to a separate file."""
        return self.place == Place.FILE or bool(self.background)


SHORT = 500
LONG = 1000         # a rotational disk does about eighty random reads in this time
LONGEST = 60000     # more than a disk needs to spin up

# fio reports durations in whole ms. A small and fast drive may finish reading a place early; bench.find_fault() accepts SHORT / 2 ms or more.
# fio reports a latency as the middle of a range: each power of two is divided into 64 ranges (stat.h, FIO_IO_U_PLAT_BITS).
ERROR_OF_TIME = 2 / SHORT
ERROR_OF_LATENCY = 1 / 128

# All jobs switch two options of fio(1) off: "invalidate" (BLKFLSBUF) would write dirty pages of other programs, and "fadvise_hint" would
# double the read-ahead that is measured.
SEQUENTIAL = "--rw=read --bs=1M --direct=1 --ioengine=libaio --iodepth=4"
RANDOM = "--rw=randread --bs=4k --direct=1"


def speed(key: str, title: str) -> Figure:
    return Figure(key, title, SPEED, ("read/bw_bytes",), 1, ERROR_OF_TIME)


def latency(key: str, title: str, percentile: int = 50, of: str = "read/clat_ns") -> Figure:
    return Figure(key, title, LATENCY, (f"{of}/percentile/{percentile}.000000",), 1e-9, ERROR_OF_LATENCY)


def rate(key: str, title: str, *paths: str) -> Figure:
    return Figure(key, title, RATE, paths or ("read/iops",), 1, ERROR_OF_TIME)


# Jobs that need a separate file come last.
JOBS = (
    Job("start", Place.START, SHORT, SEQUENTIAL, (speed("sequential_start", "sequential, start (outer zone)"),)),
    Job("middle", Place.MIDDLE, SHORT, SEQUENTIAL, (speed("sequential_middle", "sequential, middle"),)),
    Job("end", Place.END, SHORT, SEQUENTIAL, (speed("sequential_end", "sequential, end (inner zone)"),)),
    Job("buffered", Place.FRESH, SHORT, "--rw=read --bs=128k --direct=0 --ioengine=psync", (speed("buffered", "sequential, with read-ahead"),)),
    Job("latency", Place.ANYWHERE, LONG, f"{RANDOM} --ioengine=psync",
        (latency("random_latency", "random 4 KiB, median latency"), latency("random_latency_p99", "random 4 KiB, 99 % latency", 99))),
    Job("random", Place.ANYWHERE, SHORT, f"{RANDOM} --ioengine=libaio --iodepth=32", (rate("random_rate", "random 4 KiB, 32 at once"),)),
    Job("small", Place.FRESH, SHORT, "--rw=read --bs=64k --direct=1 --ioengine=psync",
        (speed("sequential_small", "sequential 64 KiB, one at a time"),), for_settings=True),
    Job("mapped", Place.MAPPED, SHORT, "--rw=randread --bs=4k --ioengine=mmap",
        (latency("mapped_latency", "random 4 KiB, mapped, median latency"),), for_settings=True),
    Job("deep", Place.ANYWHERE, LONG, f"{RANDOM} --ioengine=libaio --iodepth=256",
        (rate("deep_rate", "random 4 KiB, 256 at once"), latency("deep_latency_p99", "256 at once, 99 % latency", 99)), for_settings=True),
    Job("first", Place.ONCE, LONGEST, f"{RANDOM} --ioengine=psync",
        (Figure("first_read", "first read after idle time", LATENCY, ("read/clat_ns/max",), 1e-9, 0),), for_settings=True),
    # The kernel throttles only writes that no program waits for. So fio starts writeback by sync_file_range(2), and does not wait for the
    # end of the writes. Therefore fio cannot measure their speed.
    Job("throttled", Place.ANYWHERE, LONG, f"{RANDOM} --ioengine=psync",
        (latency("throttled_latency", "random 4 KiB during writes, median latency"),), for_settings=True,
        background="--rw=write --bs=128k --direct=0 --ioengine=psync --sync_file_range=write:8"),
    Job("fsync", Place.FILE, SHORT, "--rw=write --bs=4k --fsync=1 --ioengine=psync",
        (latency("fsync_latency", "fsync after 4 KiB, median latency", of="sync/lat_ns"),)),
    Job("mixed", Place.FILE, SHORT, "--rw=randrw --rwmixread=70 --bs=4k --direct=1 --ioengine=libaio --iodepth=8",
        (rate("mixed_rate", "70 % reads, 30 % writes, 8 at once", "read/iops", "write/iops"),)),
)

FIGURES = {figure.key: figure for job in JOBS for figure in job.figures}
JOB_OF = {figure.key: job for job in JOBS for figure in job.figures}


# ---- as text ----

def _unit(kind: Kind, value: float) -> tuple[float, str]:
    if kind is SPEED:
        return 1e6, "MB/s"
    if kind is LATENCY:
        return (1e-6, "us") if value < 1e-3 else (1e-3, "ms") if value < 1 else (1, "s")
    return 1, "/s"


def _fraction_digits(n: float, all_digits: int) -> int:
    """Returns how many digits must follow the decimal point to print a number with `all_digits` digits in total."""
    return min(max(all_digits - 1 - int(f"{n:.{all_digits - 1}e}".partition("e")[2]), 0), all_digits - 1)


def format_value(kind: Kind, value: float) -> str:
    """Formats a value with three digits, more than most samples support: "187 MB/s", "8.13 ms", "1230 /s"."""
    one, unit = _unit(kind, value)
    return f"{value / one:.{_fraction_digits(value / one, 3)}f} {unit}"


def format_estimate(kind: Kind, e) -> tuple[str | None, str | None]:
    """Formats the median and the bounds of a samples.Estimate; None: not known."""
    return format_value(kind, e.median) if e.n else None, format_range(kind, e.low, e.high) if e.bounded else None


def caption(kind: Kind, e) -> str:
    """Formats an estimate as in "187 MB/s (185.2 to 189.1 MB/s)"."""
    return format_value(kind, e.median) + (f" ({format_range(kind, e.low, e.high)})" if e.bounded else "")


def format_range(kind: Kind, low: float, high: float) -> str:
    """Formats bounds with four digits, enough to distinguish them: "185.2 to 189.1 MB/s"."""
    one, unit = _unit(kind, high)
    digits = _fraction_digits(high / one, 4)
    return f"{low / one:.{digits}f} to {high / one:.{digits}f} {unit}"
