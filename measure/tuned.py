# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results of `drivekeep tune`: stores the measurement of each setting as a file, and lists the last one of each drive and setting."""
from __future__ import annotations

import calendar
import contextlib
import json
import math
import time
import typing

from measure import command, files, report, result
from measure.command import Table
from measure.subject import Subject
from measure.tuning import Tuning

TIME = "%Y-%m-%dT%H:%M:%SZ"

# The type of each part of a stored file. A list has any number of items of its first type.
NULL = type(None)
TEXT, COUNT, NUMBER = (str,), (int,), (int, float)
SAMPLES = {"unit": TEXT, "median": (*NUMBER, NULL), "low": (*NUMBER, NULL), "high": (*NUMBER, NULL), "samples": [(*NUMBER, NULL)]}
VALUE = {"value": TEXT, "goal": SAMPLES, "cost": SAMPLES, "idle": [{"seconds": COUNT, "median": (*NUMBER, NULL), "samples": [NUMBER]}],
         "slow_after": (int, NULL), "load_cycles": (int, NULL), "waits": (int, NULL)}
RESULT = {"setting": TEXT, "lacking": (NULL,), "present": TEXT, "picked": TEXT, "reason": TEXT, "caution": (str, NULL), "goal": TEXT,
          "cost": (str, NULL), **{count: COUNT for count in result.COUNTS}, "left_out": (str, NULL), "values": [VALUE]}
MEASUREMENT = {"host": TEXT, "boot_id": (str, NULL), "drive": TEXT, "key": TEXT, "model": (str, NULL), "serial": (str, NULL), "when": TEXT,
               "result": RESULT}
OPTIONAL = "cost",      # without this key: the setting has no cost figure


def save(directory: str, s: Subject, tunings: list[Tuning]) -> None:
    """Stores the result of each setting that has one. An interrupted measurement may have a result."""
    head, day = command.document(), time.strftime("%Y%m%d-%H%M%S", time.localtime(s.when))
    shared = {"host": head["host"], "boot_id": head["boot_id"], "drive": s.name, **{key: s.drive[key] for key in ("key", "model", "serial")},
              "when": time.strftime(TIME, time.gmtime(s.when))}
    for t in tunings:
        if t.has_result:
            document = {**head, "measurements": [{**shared, "result": report.to_json(t)}]}
            files.store(directory, f"{s.name}-{t.setting}-{day}", json.dumps(document, indent=2) + "\n")


# ---- reading ----

def _shaped(value: typing.Any, shape: typing.Any) -> typing.Any:
    """Returns the parts of a value that the shape has. Raises ValueError or KeyError if the value does not have the shape."""
    if isinstance(shape, dict) and isinstance(value, dict):
        return {key: _shaped(value[key], part) for key, part in shape.items() if key in value or shape is not VALUE or key not in OPTIONAL}
    if isinstance(shape, list) and isinstance(value, list):
        return [_shaped(item, shape[0]) for item in value]
    if type(value) not in shape or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError
    return value


def _from_json(text: str) -> dict:
    """Raises an exception if the text is not a measurement of `drivekeep tune`."""
    document = _shaped(json.loads(text), {"version": COUNT, "measurements": [MEASUREMENT]})
    if document["version"] != command.VERSION:
        raise ValueError
    measurement, = document["measurements"]
    return {**measurement, "when": time.strftime(TIME, time.gmtime(when_of(measurement)))}


def when_of(measurement: dict) -> int:
    """Returns the time in seconds since 1970."""
    return calendar.timegm(time.strptime(measurement["when"], TIME))


def load_last(directory: str) -> list[dict]:
    """Returns the last measurement of each drive and setting, sorted by drive and setting. Ignores files that are not a measurement."""
    found = []
    for _, text in files.read_all(directory):
        with contextlib.suppress(KeyError, RecursionError, ValueError):
            found.append(_from_json(text))
    last = {(m["key"], m["result"]["setting"]): m for m in sorted(found, key=when_of)}
    return sorted(last.values(), key=lambda m: (m["drive"], m["key"], m["result"]["setting"]))


def show(measurements: list[dict], legend: bool, format_time: typing.Callable[[int], str | None]) -> None:
    table = Table(["DRIVE", "MODEL", "SERIAL", "SETTING", "VALUE", "BEST", "WHEN"], "<<<<<<<", legend)
    for m in measurements:
        r = m["result"]
        best = r["picked"] if r["reason"] != report.CURVE else None
        table.row(m["drive"], m["model"], m["serial"], r["setting"], r["present"], best, format_time(when_of(m) * 10 ** 6))
    table.print()
