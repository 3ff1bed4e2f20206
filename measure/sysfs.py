# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the kernel's information about block devices from sysfs: attributes, counters of I/O, and relations between devices."""
from __future__ import annotations

import glob
import os
import typing

BLOCK = "/sys/class/block"
DEVICES = "/sys/dev/block"
SECTOR = 512        # bytes; unit of `stat`, independent of the drive's sectors
PAGE = 4096


def attribute(name: str, path: str) -> str:
    """Returns the text of an attribute, or "" if there is none."""
    try:
        with open(f"{BLOCK}/{name}/{path}", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def number(name: str, path: str) -> int:
    """Returns an attribute as a number, or 0 if there is none."""
    text = attribute(name, path)
    return int(text) if text.isdigit() else 0


# ---- counters of I/O ----

class Traffic(typing.NamedTuple):
    read_bytes: int
    changes: int    # writes, discards and flushes


def traffic(name: str) -> Traffic | None:
    """Returns the I/O counters of a device, or None if the kernel does not count its I/O. A request that begins while iostats is 0 changes
    no counter, even when it ends (blk_do_io_stat() in block/blk-mq.h)."""
    # Fields: requests, merges, sectors and milliseconds of reads, the same four of writes, requests in flight, two times, the same four of
    # discards, and two of flushes (Documentation/block/stat.rst).
    fields = [int(field) for field in attribute(name, "stat").split()]
    if len(fields) < 11 or attribute(name, "queue/iostats") == "0":
        return None
    return Traffic(fields[2] * SECTOR, fields[4] + sum(fields[11:12]) + sum(fields[15:16]))


def is_in_flight(name: str) -> bool:
    return any(map(int, attribute(name, "inflight").split()))


# ---- relations between devices ----

def device_name(number: int) -> str | None:
    """Returns the name of a device by its number, as in stat(2), or None if there is no such device."""
    link = f"{DEVICES}/{os.major(number)}:{os.minor(number)}"
    return os.path.basename(os.path.realpath(link)) if os.path.exists(link) else None


def _find(name: str, pattern: str) -> list[str]:
    return sorted(os.path.basename(os.path.dirname(path)) for path in glob.glob(f"{BLOCK}/{name}/{pattern}"))


def above(name: str) -> list[str]:
    """Returns all devices on top of this one: partitions, arrays and volumes, also indirectly."""
    found = [name]
    for each in found:
        found += [other for other in _find(each, "*[0-9]/partition") + _find(each, "holders/*/.") if other not in found]
    return found[1:]


def disks_below(name: str) -> list[str]:
    """Returns the disks below a device; for a disk, the disk itself."""
    seen, disks = [name], []
    for each in seen:
        # The directory of a partition, or of an eMMC boot partition, is inside its disk's directory. The directory of a disk is not inside
        # the directory of another block device.
        parent = os.path.dirname(os.path.realpath(f"{BLOCK}/{each}"))
        below = [os.path.basename(parent)] * os.path.exists(f"{parent}/holders") + _find(each, "slaves/*/.")
        disks += [] if below else [each]
        seen += [other for other in below if other not in seen]
    return disks


def stripe(name: str) -> int:
    """Returns the stripe size of an array in bytes, or 0 if it has no stripes. The two attributes describe stripes only for arrays."""
    chunk, row = number(name, "queue/minimum_io_size"), number(name, "queue/optimal_io_size")
    return row if row > chunk > 0 and row % chunk == 0 and row % PAGE == 0 else 0
