# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a measurement has left behind: of which drive, with which settings, and every sample. Kept as JSON, a file each."""
from __future__ import annotations

import dataclasses
import errno
import json
import os
import stat
import time

from measure import command, samples
from measure.bench import Bench
from measure.figures import FIGURES

VERSION = 1
SUFFIX = ".json"
SIZE_MAX = 1 << 20

TEXTS = "host", "boot_id", "drive", "key", "model", "serial", "firmware", "kernel"
NEEDED = "drive", "key"
COUNTS = "others", "cached", "errors"


@dataclasses.dataclass
class Result:
    name: str               # of its file, without ".json"
    texts: dict[str, str | None]    # TEXTS: of the drive, and of the machine where it was measured
    when: int               # µs since 1970
    settings: list[dict[str, str]] = dataclasses.field(default_factory=list)    # drive, key, name, value; of an array also its disks'
    bench: Bench = dataclasses.field(default_factory=Bench)

    @property
    def key(self) -> str:
        """By which the same drive, or an array of the same drives, is known again."""
        return self.texts["key"]


def make(drive: dict, shown: list[dict], when: float) -> Result:
    """Of what the command shows of the drive, and of it and its disks."""
    system = os.uname()
    texts = {"host": system.nodename, "boot_id": command.boot_id(), "drive": drive["name"], "key": drive["key"], "model": drive["model"],
             "serial": drive["serial"], "firmware": drive["firmware"], "kernel": system.release}
    settings = [{"drive": each["name"], "key": each["key"], "name": row["name"], "value": row["value"]}
                for each in shown for row in each["settings"] if row["supported"] and row["value"] is not None]
    return Result(f"{drive['name']}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(when))}", texts, int(when * 1e6), settings)


# ---- as JSON ----

def bounded(e: samples.Estimate) -> dict:
    return {"median": e.median if e.n else None, "low": e.low if e.bounded else None, "high": e.high if e.bounded else None}


def to_json(r: Result) -> str:
    figures = [{"name": m.figure.key, "unit": m.figure.kind.unit, **bounded(m.estimate()), "samples": m.samples, "complaint": m.complaint,
                **{count: getattr(m, count) for count in COUNTS}} for m in r.bench.figures.values()]
    told = {"version": VERSION, **r.texts, "when_usec": r.when, "counted": r.bench.counted, "settings": r.settings, "figures": figures}
    return json.dumps(told, indent=2) + "\n"


def _items(told: dict, key: str) -> list[dict]:
    found = told.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def from_json(text: str, name: str) -> Result:
    """Figures that this version does not know are left out. ValueError: this is no measurement."""
    try:
        told = json.loads(text)
    except RecursionError as error:
        raise ValueError from error
    if not isinstance(told, dict) or told.get("version") != VERSION:
        raise ValueError
    texts = {key: told[key] if isinstance(told.get(key), str) else None for key in TEXTS}
    if None in [texts[key] for key in NEEDED]:
        raise ValueError
    keys = "drive", "key", "name", "value"
    settings = [{key: item[key] for key in keys} for item in _items(told, "settings") if all(isinstance(item.get(key), str) for key in keys)]
    when = told.get("when_usec")
    r = Result(name, texts, when if isinstance(when, int) else 0, settings)
    r.bench.counted = told.get("counted") is True
    for item in _items(told, "figures"):
        figure = FIGURES.get(item["name"]) if isinstance(item.get("name"), str) else None
        if figure is None or figure.key in r.bench.figures:
            continue
        m, kept = r.bench.add(figure), item.get("samples")
        numbers = [n for n in (kept if isinstance(kept, list) else [])[:samples.MAX] if isinstance(n, (int, float)) and not isinstance(n, bool)]
        m.samples = [float(n) for n in numbers if 0 < n < 1e18]
        for count in COUNTS:
            n = item.get(count)
            setattr(m, count, max(n, 0) if isinstance(n, int) else 0)
    return r


# ---- as files ----

def save(directory: str, r: Result) -> None:
    """As a new file in this directory, which is made if it is not there."""
    for path in os.path.dirname(os.path.abspath(directory)), directory:
        try:
            os.mkdir(path, 0o755)
        except FileExistsError:
            pass
    # The directory above is the service's user's, who is not to lead root elsewhere: neither is a link followed, nor a file opened that
    # is there.
    dir_fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        name, text = r.name + SUFFIX, to_json(r).encode()
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=dir_fd)
        try:
            if os.write(fd, text) != len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            os.unlink(name, dir_fd=dir_fd)
            raise
        finally:
            os.close(fd)
    finally:
        os.close(dir_fd)


def _load_at(dir_fd: int, name: str) -> Result:
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=dir_fd)
    with open(fd, encoding="utf-8", errors="surrogateescape") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > SIZE_MAX:
            raise ValueError
        # Others than root, oneself and who has the directory have no business here.
        if status.st_uid not in (0, os.geteuid(), os.fstat(dir_fd).st_uid):
            raise ValueError
        return from_json(file.read(SIZE_MAX + 1), name.removesuffix(SUFFIX))


def load(directory: str, name: str) -> Result:
    """By the name in the directory, or by a file's path, which has a slash. Raises OSError, or ValueError: it is no measurement."""
    above = os.path.dirname(name) if "/" in name else directory
    dir_fd = os.open(above or "/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return _load_at(dir_fd, os.path.basename(name).removesuffix(SUFFIX) + SUFFIX)
    finally:
        os.close(dir_fd)


def load_all(directory: str) -> list[Result]:
    """All that can be read, oldest first; without the directory there is none."""
    try:
        dir_fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return []
    found = []
    try:
        for name in sorted(os.listdir(dir_fd)):
            if name.endswith(SUFFIX):
                try:
                    found.append(_load_at(dir_fd, name))
                except (OSError, ValueError):
                    continue
    finally:
        os.close(dir_fd)
    return sorted(found, key=lambda r: (r.when, r.name))
