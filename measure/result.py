# SPDX-License-Identifier: LGPL-2.1-or-later
"""The result of a measurement: the drive, its settings, and every sample. Each result is saved as a JSON file."""
from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
import typing

from measure import command, files, samples
from measure.bench import Measured, measured
from measure.figures import FIGURES

VERSION = 1

TEXTS = "host", "boot_id", "drive", "key", "model", "serial", "firmware", "kernel"
NEEDED = "drive", "key"
COUNTS = "others", "cached", "errors"


@dataclasses.dataclass
class Result:
    name: str               # name of the file, without ".json"
    texts: dict[str, str | None]    # facts about the drive and the machine; TEXTS lists their names
    when: int               # µs since 1970
    # Each setting has its drive, the drive's key, a name and a value. The result of an array also has the settings of its disks.
    settings: list[dict[str, str]] = dataclasses.field(default_factory=list)
    figures: dict[str, Measured] = dataclasses.field(default_factory=dict)
    counted: bool = False   # see bench.Meter

    @property
    def key(self) -> str:
        """Returns the key of the drive or array, such as a WWN or the UUID of an array. All measurements of a drive have the same key."""
        return self.texts["key"]

    @property
    def n_samples(self) -> int:
        return sum(len(m.samples) for m in self.figures.values())


def make(drive: dict, shown: list[dict], when: float) -> Result:
    """Makes a result. `drive`: the command's JSON about the drive. `shown`: the command's JSON about the drive and its disks."""
    system = os.uname()
    texts = {"host": system.nodename, "boot_id": command.boot_id(), "drive": drive["name"], "key": drive["key"], "model": drive["model"],
             "serial": drive["serial"], "firmware": drive["firmware"], "kernel": system.release}
    settings = [{"drive": each["name"], "key": each["key"], "name": row["name"], "value": row["value"]}
                for each in shown for row in each["settings"] if row["supported"] and row["value"] is not None]
    return Result(f"{drive['name']}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(when))}", texts, int(when * 1e6), settings)


# ---- as JSON ----

def bounded(e: samples.Estimate) -> dict:
    return {"median": e.median if e.n else None, "low": e.low if e.bounded else None, "high": e.high if e.bounded else None}


def _estimated(m: Measured) -> dict:
    return {"name": m.figure.key, "unit": m.figure.kind.unit, **bounded(m.estimate())}


def estimates(r: Result) -> list[dict]:
    """Returns the figures without their samples."""
    return [{**_estimated(m), "samples": len(m.samples)} for m in r.figures.values()]


def to_json(r: Result) -> str:
    figures = [{**_estimated(m), "samples": m.samples, "complaint": m.complaint, **{count: getattr(m, count) for count in COUNTS}}
               for m in r.figures.values()]
    document = {"version": VERSION, **r.texts, "when_usec": r.when, "counted": r.counted, "settings": r.settings, "figures": figures}
    return json.dumps(document, indent=2) + "\n"


def _take(document: dict, key: str, kind: type, otherwise: typing.Any) -> typing.Any:
    return document[key] if isinstance(document.get(key), kind) else otherwise


def _items(document: dict, key: str) -> list[dict]:
    return [item for item in _take(document, key, list, []) if isinstance(item, dict)]


def from_json(text: str, name: str) -> Result:
    """Reads a result from JSON, ignoring unknown figures. Raises ValueError if the text is not a measurement."""
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise ValueError from error
    if not isinstance(document, dict) or document.get("version") != VERSION or not all(isinstance(document.get(key), str) for key in NEEDED):
        raise ValueError
    texts, when, keys = {key: _take(document, key, str, None) for key in TEXTS}, _take(document, "when_usec", int, 0), ("drive", "key", "name", "value")
    settings = [{key: item[key] for key in keys} for item in _items(document, "settings") if all(isinstance(item.get(key), str) for key in keys)]
    r = Result(name, texts, when, settings)
    r.counted = document.get("counted") is True
    for item in _items(document, "figures"):
        figure = FIGURES.get(_take(item, "name", str, ""))
        if figure and figure.key not in r.figures:
            m = measured(r.figures, figure)
            m.samples = [float(n) for n in _take(item, "samples", list, [])[:samples.MAX] if type(n) in (int, float) and 0 < n < 1e18]
            for count in COUNTS:
                setattr(m, count, max(_take(item, count, int, 0), 0))
    return r


# ---- as files ----

def save(directory: str, r: Result) -> None:
    files.store(directory, r.name, to_json(r))


def load(directory: str, name: str) -> Result:
    """Loads a result by its name in the directory, or by a path with a slash. Raises OSError if the file cannot
    be read, and ValueError if the file is not a measurement."""
    name = name.removesuffix(files.SUFFIX)
    text = files.read_stored((os.path.dirname(name) or "/") if "/" in name else directory, os.path.basename(name))
    return from_json(text, os.path.basename(name))


def load_all(directory: str) -> list[Result]:
    """Loads all readable results, oldest first. Returns an empty list if there is no directory."""
    found = []
    for name, text in files.read_all(directory):
        with contextlib.suppress(ValueError):
            found.append(from_json(text, name))
    return sorted(found, key=lambda r: (r.when, r.name))
