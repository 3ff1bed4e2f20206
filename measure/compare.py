# SPDX-License-Identifier: LGPL-2.1-or-later
"""`drivekeep bench --compare`: compares the samples of two measurements, and lists settings that differ."""
from __future__ import annotations

import argparse

from measure import command, result, samples
from measure.bench import Measured
from measure.command import Table, Trouble
from measure.figures import Kind, format_value
from measure.result import Result
from measure.samples import Difference


def describe(kind: Kind, d: Difference, n: int) -> str:
    """Returns a text such as "4.1 % faster (2.0 to 6.2 %)", or that `n` samples show no difference."""
    if not d.known:
        return f"not known: too few samples"
    if not d.differs:
        return f"{n} samples show no difference"
    more = d.factor > 1
    low, high = sorted((abs(d.low - 1) * 100, abs(d.high - 1) * 100))
    digits = 1 if high < 10 else 0
    return f"{abs(d.factor - 1) * 100:.{digits}f} % {kind.words[more]} ({low:.{digits}f} to {high:.{digits}f} %)"


def load_kept(options: argparse.Namespace) -> list[Result]:
    try:
        return result.load_all(options.results)
    except OSError as error:
        raise Trouble(f"{options.results} cannot be read: {error.strerror}") from None


def _find_key(options: argparse.Namespace, kept: list[Result], argument: str) -> str:
    """Returns the key of a drive. `argument`: a serial number or a key that is found in the results, or a name of an attached drive."""
    known = [r.key for r in kept if argument in (r.texts["serial"], r.key)]
    return known[-1] if known else command.read("show", f"--state-dir={options.state_dir}", "--", argument)["drives"][0]["key"]


def _find_last_two(options: argparse.Namespace) -> tuple[Result, Result]:
    """Returns the last two measurements of the named drive, or of the drive that was measured last."""
    kept, name = load_kept(options), options.names[0] if options.names else None
    key = _find_key(options, kept, name) if name else kept[-1].key if kept else None
    found = [r for r in kept if r.key == key][-2:]
    if len(found) < 2:
        drive = name or (found[0].texts["drive"] if found else "any drive")
        raise Trouble(f"{options.results} does not have two measurements of {drive}; 'drivekeep bench' lists all measurements")
    return found[0], found[1]


def _load_named(options: argparse.Namespace, name: str) -> Result:
    try:
        return result.load(options.results, name)
    except ValueError:
        raise Trouble(f"'{name}' is not a measurement of 'drivekeep bench'") from None
    except OSError as error:
        raise Trouble(f"the measurement '{name}' cannot be read: {error.strerror}; 'drivekeep bench' lists all measurements") from None


def _changes(before: Result, after: Result) -> list[dict]:
    """Returns the differences in settings, firmware, host and kernel."""
    texts = [(None, "drive" if key == "key" else key, before.texts[key], after.texts[key]) for key in ("key", "firmware", "host", "kernel")]
    old = {(s["key"], s["name"]): s for s in before.settings}
    new = {(s["key"], s["name"]): s for s in after.settings}
    settings = [(s["drive"], s["name"], old[k]["value"] if k in old else None, s["value"]) for k, s in new.items()]
    settings += [(s["drive"], s["name"], s["value"], None) for k, s in old.items() if k not in new]
    return [{"drive": drive, "name": name, "before": a, "after": b} for drive, name, a, b in texts + settings if a != b]


def _figure(x: Measured, y: Measured, n_compared: int) -> dict:
    d = samples.compare(x.samples, y.samples, x.figure.error, n_compared)
    fields = {"name": x.figure.key, "before": d.before if x.samples else None, "after": d.after if y.samples else None}
    fields.update({key: getattr(d, key) if d.known else None for key in ("factor", "low", "high", "differs")})
    return {**fields, "finding": describe(x.figure.kind, d, min(len(x.samples), len(y.samples)))}


def run(options: argparse.Namespace) -> None:
    if len(options.names) > 2:
        raise Trouble("too many names: write 'drivekeep bench --compare', '--compare DRIVE' or '--compare BEFORE AFTER'")
    if len(options.names) == 2:
        before, after = (_load_named(options, name) for name in options.names)
    else:
        before, after = _find_last_two(options)
    both = [(m, after.figures[key]) for key, m in before.figures.items() if key in after.figures]
    figures = [_figure(x, y, len(both)) for x, y in both]
    changes = _changes(before, after)
    if options.json:
        command.print_document(before=before.name, after=after.name, figures=figures, changes=changes)
        return
    table = Table(["MEASURED", "BEFORE", "AFTER", "DIFFERENCE"], "<>><", not options.no_legend)
    for (x, _), f in zip(both, figures):
        levels = [format_value(x.figure.kind, level) if level is not None else None for level in (f["before"], f["after"])]
        table.row(x.figure.title, *levels, f["finding"])
    table.note(f"before: {before.name}, after: {after.name}")
    for c in changes:
        of = f"{c['drive']}, " if c["drive"] else ""
        table.note(f"{of}{c['name']}: {c['before'] or 'not known'} before, {c['after'] or 'not known'} after")
    table.print()
