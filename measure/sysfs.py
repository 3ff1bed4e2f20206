# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the kernel tells of block devices: attributes, what was read and written, and what lies on what."""
from __future__ import annotations

import glob
import os
import typing

BLOCK = "/sys/class/block"
DEVICES = "/sys/dev/block"
SECTOR = 512        # in stat, whatever the drive's are
PAGE = 4096


def attribute(name: str, path: str) -> str:
    """The text of a file; "" where there is none."""
    try:
        with open(f"{BLOCK}/{name}/{path}", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def number(name: str, path: str) -> int:
    """0 where there is none."""
    text = attribute(name, path)
    return int(text) if text.isdigit() else 0


# ---- what was done ----

class Traffic(typing.NamedTuple):
    read_bytes: int
    changes: int    # writes, discards and flushes


def traffic(name: str) -> Traffic | None:
    """None: the kernel does not count it. A request that begins while iostats holds 0 changes no counter, also when it ends
    (blk_do_io_stat() in block/blk-mq.h)."""
    # Requests, merges, sectors and milliseconds of reading, then the same of writing; what is under way and for how long; then the same
    # four of discards, and two of flushes (Documentation/block/stat.rst).
    fields = [int(field) for field in attribute(name, "stat").split()]
    if len(fields) < 11 or attribute(name, "queue/iostats") == "0":
        return None
    return Traffic(fields[2] * SECTOR, fields[4] + sum(fields[11:12]) + sum(fields[15:16]))


def is_in_flight(name: str) -> bool:
    return any(map(int, attribute(name, "inflight").split()))


# ---- what lies on what ----

def device_name(number: int) -> str | None:
    """Of a device by its number, as stat(2) has it."""
    link = f"{DEVICES}/{os.major(number)}:{os.minor(number)}"
    return os.path.basename(os.path.realpath(link)) if os.path.exists(link) else None


def _find(name: str, pattern: str) -> list[str]:
    return sorted(os.path.basename(os.path.dirname(path)) for path in glob.glob(f"{BLOCK}/{name}/{pattern}"))


def above(name: str) -> list[str]:
    """Partitions, arrays, volumes: what lies on the device, however indirectly."""
    found = [name]
    for each in found:
        found += [other for other in _find(each, "*[0-9]/partition") + _find(each, "holders/*/.") if other not in found]
    return found[1:]


def disks_below(name: str) -> list[str]:
    """The disks that the device lies on; of a disk itself."""
    seen, disks = [name], []
    for each in seen:
        # A partition's directory is in its disk's, as is that of an eMMC's boot partition. No other disk's is in that of a block device.
        parent = os.path.dirname(os.path.realpath(f"{BLOCK}/{each}"))
        below = [os.path.basename(parent)] * os.path.exists(f"{parent}/holders") + _find(each, "slaves/*/.")
        disks += [] if below else [each]
        seen += [other for other in below if other not in seen]
    return disks


def stripe(name: str) -> int:
    """Of an array that has stripes, in bytes; 0: it has none. What disks tell in these files is something else."""
    chunk, row = number(name, "queue/minimum_io_size"), number(name, "queue/optimal_io_size")
    return row if row > chunk > 0 and row % chunk == 0 and row % PAGE == 0 else 0
