# SPDX-License-Identifier: LGPL-2.1-or-later
"""Settings that have a value which is best: what each is for, what it may cost, and which values are tried. And settings that save
power: none of their values is best, but what each costs who reads first after a time without use can be measured.

Values are texts, as the command shows them: "512 KiB".
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
    cost: str | None = None     # the same; None: nothing that is measured
    ordered: bool = False       # more of it is no better than enough
    ladder: tuple[str, ...] = ()    # values that are tried; none: the names that the kernel lists …
    attribute: str | None = None    # … in this file of the queue's. With a ladder: the greatest value, in KiB
    stripes: bool = False       # of an array that has stripes also so many of these
    resets: tuple[str, ...] = ()    # other settings that its change may reset
    saves_power: bool = False   # measured after times without use
    spins_down: bool = False    # the first read behind one may have to spin the drive up
    caution: str | None = None  # of its being on, where that is picked

    @property
    def writes(self) -> bool:
        """It is measured in a file of its own, and not by reads alone."""
        return JOB_OF[self.goal].writes


SWITCH = "off", "on"
TIMER = "off", "1 s", "5 s", "10 s"


def _saves_power(setting: str, ladder: tuple[str, ...], spins_down: bool = False) -> Tunable:
    return Tunable(setting, "first_read", ordered=True, ladder=ladder, saves_power=True, spins_down=spins_down)


# What they reset: elevator_switch(), scsi_change_queue_depth() and queue_limits_commit_update().
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
            caution="the kernel throttles writes for it, and their slowdown is not measured"),
    _saves_power("apm", ("64", "127", "128", "192", "254")),
    _saves_power("idle_a", TIMER), _saves_power("idle_b", TIMER), _saves_power("idle_c", TIMER),
    _saves_power("standby_y", TIMER, spins_down=True), _saves_power("standby_z", TIMER, spins_down=True),
    _saves_power("apst_latency", ("off", "5 ms", "25 ms", "100 ms")),
    _saves_power("power_state", ("0", "1", "2", "3", "4")))}

UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "us": 1, "ms": 1000, "s": 10 ** 6, "min": 60 * 10 ** 6,
         "h": 3600 * 10 ** 6}


def format_size(size: int) -> str:
    """In the largest unit that divides it, as the command shows it."""
    return next(f"{size // UNITS[unit]} {unit}" for unit in ("TiB", "GiB", "MiB", "KiB", "B") if size % UNITS[unit] == 0 and (size or unit == "B"))


def rank(setting: str, value: str) -> float:
    """By which values of the same setting rise. "1 min 30 s" is a sum; a word that is no number comes first."""
    if value in SWITCH:
        return math.inf if setting == "apm" else SWITCH.index(value)
    words = value.split()
    try:
        return sum(float(n) * UNITS[unit] for n, unit in zip(words[::2], words[1::2] + [""] * (len(words) % 2)))
    except (KeyError, ValueError):
        return -1


def values(t: Tunable, name: str, present: str, is_array: bool) -> list[str]:
    """All that are to be tried on this drive, the present one among them; those of an ordered setting rise."""
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
    """The words of "none [mq-deadline] bfq"."""
    return sysfs.attribute(name, "queue/scheduler").replace("[", " ").replace("]", " ").split()
