# SPDX-License-Identifier: LGPL-2.1-or-later
"""The settings that `drivekeep tune` measures: for each, the figure to improve (goal), the figure that may get worse (cost), and the values
to try. Settings that save power have no best value: for these, the latency of the first read after idle times is measured.

Values are texts in the command's format: "512 KiB".
"""
from __future__ import annotations

import dataclasses
import math

from measure import sysfs
from measure.figures import JOB_OF


@dataclasses.dataclass(frozen=True)
class Tunable:
    setting: str
    goal: str                   # key of a figure
    cost: str | None = None     # key of a figure; None: no cost is measured
    ordered: bool = False       # if several values are equally good, the smallest is preferred
    ladder: tuple[str, ...] = ()    # values to try; empty: the names listed in `attribute`
    attribute: str | None = None    # queue attribute that lists the values to try or, if there is a ladder, gives the largest value in KiB
    stripes: bool = False       # for an array with stripes, multiples of the stripe are tried, too
    resets: tuple[str, ...] = ()    # other settings that a change may reset
    saves_power: bool = False   # the first read after each idle time is measured, because saving power makes it slower
    spins_down: bool = False    # the first read may have to spin the drive up
    caution: str | None = None  # printed if a value other than "off" is picked

    @property
    def writes(self) -> bool:
        """True if the measurement writes to a separate file."""
        return JOB_OF[self.goal].writes


SWITCH = "off", "on"
TIMER = "off", "1 s", "5 s", "10 s"


def _saves_power(setting: str, ladder: tuple[str, ...], spins_down: bool = False) -> Tunable:
    return Tunable(setting, "first_read", ordered=True, ladder=ladder, saves_power=True, spins_down=spins_down)


# Source of `resets`: elevator_switch(), scsi_change_queue_depth() and queue_limits_commit_update() in the kernel.
TUNABLES = {t.setting: t for t in (
    Tunable("read_ahead_kb", "buffered", "mapped_latency", ordered=True, stripes=True,
            ladder=("128 KiB", "256 KiB", "512 KiB", "1 MiB", "2 MiB", "4 MiB", "8 MiB")),
    Tunable("scheduler", "deep_rate", "deep_latency_p99", attribute="scheduler", resets=("nr_requests", "wbt_lat_usec")),
    Tunable("queue_depth", "deep_rate", "deep_latency_p99", ordered=True, ladder=("1", "2", "4", "8", "16", "32"), resets=("nr_requests",)),
    Tunable("nr_requests", "deep_rate", "deep_latency_p99", ordered=True, ladder=("16", "32", "64", "128", "256", "512", "1024")),
    Tunable("max_sectors_kb", "sequential_start", ordered=True, attribute="max_hw_sectors_kb", resets=("read_ahead_kb",),
            ladder=("128 KiB", "256 KiB", "512 KiB", "1 MiB", "2 MiB", "4 MiB")),
    Tunable("lookahead", "sequential_small", "random_latency", ladder=SWITCH),
    Tunable("write_cache", "mixed_rate", "fsync_latency", ladder=SWITCH, resets=("read_ahead_kb",),
            caution="cached data that no file system has flushed is lost when the power fails"),
    Tunable("wbt_lat_usec", "throttled_latency", ladder=("off", "2 ms", "10 ms", "75 ms"),
            caution="this setting makes the kernel throttle writes; the slowdown of writes is not measured"),
    _saves_power("apm", ("64", "127", "128", "192", "254")),
    _saves_power("idle_a", TIMER), _saves_power("idle_b", TIMER), _saves_power("idle_c", TIMER),
    _saves_power("standby_y", TIMER, spins_down=True), _saves_power("standby_z", TIMER, spins_down=True),
    _saves_power("apst_latency", ("off", "5 ms", "25 ms", "100 ms")),
    _saves_power("power_state", ("0", "1", "2", "3", "4")))}

UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "us": 1, "ms": 1000, "s": 10 ** 6, "min": 60 * 10 ** 6,
         "h": 3600 * 10 ** 6}


def format_size(size: int) -> str:
    """Formats a size in the largest unit that divides it, like the command."""
    return next(f"{size // UNITS[unit]} {unit}" for unit in ("TiB", "GiB", "MiB", "KiB", "B") if size % UNITS[unit] == 0 and (size or unit == "B"))


def rank(setting: str, value: str) -> float:
    """Returns the sort key of a value among values of the same setting. "1 min 30 s" is a sum; words that are not numbers come first."""
    if value in SWITCH:
        return math.inf if setting == "apm" else SWITCH.index(value)
    words = value.split()
    try:
        return sum(float(n) * UNITS[unit] for n, unit in zip(words[::2], words[1::2] + [""] * (len(words) % 2)))
    except (KeyError, ValueError):
        return -1


def values(t: Tunable, name: str, present: str, is_array: bool) -> list[str]:
    """Returns the values to try on this drive, including the current value. The values of an ordered setting are in ascending
    order."""
    if t.ladder:
        limit = 1024 * sysfs.number(name, f"queue/{t.attribute}") if t.attribute else math.inf
        tried = [value for value in t.ladder if rank(t.setting, value) <= limit]
    else:
        tried = schedulers(name)
    if t.stripes and is_array and sysfs.stripe(name):
        tried += [format_size(n * sysfs.stripe(name)) for n in (1, 2, 4, 8)]
    found = list(dict.fromkeys([present, *tried]))
    return sorted(found, key=lambda value: rank(t.setting, value)) if t.ordered else found


def schedulers(name: str) -> list[str]:
    """Returns the names in an attribute such as "none [mq-deadline] bfq"."""
    return sysfs.attribute(name, "queue/scheduler").replace("[", " ").replace("]", " ").split()
