# SPDX-License-Identifier: LGPL-2.1-or-later
"""The main program, started by `drivekeep bench`, `drivekeep tune` and `drivekeep show --plot`. These commands (daemon/cli/) validate the
options and have their help texts."""
from __future__ import annotations

import argparse
import os
import signal
import sys
import time

from measure import block, command, compare, files, plot, report, result, service, tuned, tuning, week
from measure.command import BAD_INPUT, WANTED, Table, Trouble, warn
from measure.figures import format_estimate
from measure.report import uncounted
from measure.subject import Subject

RESULTS = "/var/lib/drivekeep"     # has a directory for each verb
ROOTS = ["/etc", "/run", "/usr/lib"]


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="drivekeep-tune", allow_abbrev=False, description=__doc__)
    parser.add_argument("verb", choices=("bench", "show", "tune"))
    parser.add_argument("names", nargs="*")
    for flag in "json", "quiet", "no-legend", "no-pager", "compare", "force", "write":
        parser.add_argument(f"--{flag}", action="store_true")
    for option in "budget", "file", "svg":
        parser.add_argument(f"--{option}")
    parser.add_argument("--plot", nargs="?", const=True)    # `show` takes no value, `tune` takes the name of a picture file
    parser.add_argument("--results")
    parser.add_argument("--state-dir", default=command.STATE_DIR)
    parser.add_argument("--config-root", action="append")
    options = parser.parse_args(words)
    options.config_root = options.config_root or ROOTS
    options.results = options.results or f"{RESULTS}/{options.verb}"
    return options


# ---- bench ----

def _bench_list(options: argparse.Namespace) -> int:
    kept = compare.load_kept(options)
    if not kept:
        warn(f"{options.results} has no measurement; 'drivekeep bench DRIVE' measures a drive")
    if options.json:
        measurements = [{"name": r.name, **{key: r.texts[key] for key in ("host", "boot_id", "drive", "key", "model", "serial")},
                         "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(r.when / 1e6)) if r.when else None, "samples": r.n_samples,
                         "figures": result.estimates(r)} for r in kept]
        command.print_document(measurements=measurements)
        return WANTED
    table = Table(["NAME", "DRIVE", "MODEL", "SERIAL", "WHEN", "SAMPLES"], "<<<<<>", not options.no_legend)
    for r in kept:
        table.row(r.name, r.texts["drive"], r.texts["model"], r.texts["serial"], _short_time(r.when), str(r.n_samples))
    table.print()
    return WANTED


def _short_time(when: int) -> str | None:
    """Returns the time of day if `when` is today, the day if `when` is in this year, and otherwise the year."""
    then, now = time.localtime(when / 1e6), time.localtime()
    form = "%H:%M" if then[:3] == now[:3] else "%b %e" if then.tm_year == now.tm_year else "%Y"
    return time.strftime(form, then) if when else None


def _left_out(m) -> str | None:
    """Returns the numbers of samples that were left out: "2 (other programs used the drive), 1 (in the page cache)"."""
    reasons = [(m.others, "other programs used the drive"), (m.cached, "in the page cache"), (m.errors, m.complaint or "errors")]
    return ", ".join(f"{n} ({why})" for n, why in reasons if n) or None


def _bench_show(options: argparse.Namespace, r: result.Result) -> None:
    if options.json:
        print(result.to_json(r), end="")
        return
    table = Table(["MEASURED", "MEDIAN", "95 % INTERVAL", "SAMPLES", "LEFT OUT"], "<>>><", not options.no_legend)
    for m in r.figures.values():
        e = m.estimate()
        table.row(m.figure.title, *format_estimate(m.figure.kind, e), str(e.n), _left_out(m))
    if not r.counted:
        table.note(uncounted(r.texts["drive"]))
    table.print()


def _bench_drive(options: argparse.Namespace) -> int:
    if len(options.names) > 1:
        raise Trouble("only one drive can be measured at a time; usage: 'drivekeep bench DRIVE'")
    s = Subject(options, "bench", "3min")
    s.make_file()
    r = result.make(s.drive, s.shown, s.when)
    meter = s.meter(s.budget)
    try:
        meter.run(r.figures)
    except Trouble as trouble:      # the earlier samples are still shown and saved
        s.hide_progress()
        trouble.report()
    s.hide_progress()
    r.counted = meter.counted
    _bench_show(options, r)
    if r.n_samples == 0:
        raise Trouble(f"no result is saved: nothing was measured on {s.name}")
    try:
        result.save(options.results, r)
    except OSError as error:
        raise Trouble(f"the measurement cannot be saved in {options.results}: {error.strerror}") from None
    if not options.json and not options.no_legend:
        print(f"\nSaved as {r.name}. 'drivekeep bench --compare' compares the last two measurements of a drive.")
    return WANTED


def bench(options: argparse.Namespace) -> int:
    if (options.budget or options.file) and (options.compare or not options.names):
        raise Trouble("--budget and --file need a drive to measure: 'drivekeep bench DRIVE'")
    if options.compare:
        compare.run(options)
        return WANTED
    return _bench_drive(options) if options.names else _bench_list(options)


# ---- tune ----

def _tune_list(options: argparse.Namespace) -> int:
    if options.budget or options.file or options.force or options.write or options.svg or options.plot:
        raise Trouble("no drive given; usage: 'drivekeep tune DRIVE [SETTING...]'")
    try:
        kept = tuned.load_last(options.results)
    except OSError as error:
        raise Trouble(f"{options.results} cannot be read: {error.strerror}") from None
    if not kept:
        warn(f"{options.results} has no measurement; 'drivekeep tune DRIVE' measures a drive")
    if options.json:
        command.print_document(measurements=kept)
    else:
        tuned.show(kept, not options.no_legend, _short_time)
    return WANTED


def _tune_save(options: argparse.Namespace, s: Subject, tunings: list[tuning.Tuning]) -> int:
    try:
        tuned.save(options.results, s, tunings)
        return WANTED
    except OSError as error:
        return Trouble(f"the measurement cannot be saved in {options.results}: {error.strerror}").report()


def tune(options: argparse.Namespace) -> int:
    if not options.names:
        return _tune_list(options)
    pictures = [(path, kind) for path, kind in ((options.svg, "svg"), (options.plot, plot.kind_of(options.plot or ""))) if path]
    for path, kind in pictures:
        plot.check(path, kind)
    s = Subject(options, "tune", "10min")
    if s.service is None:
        raise service.missing()
    tunings = tuning.choose(options.names[1:], options.file is not None)
    # If the file cannot be written, the program ends here and not after the measurement.
    if options.write:
        block.check_file(s)
    tuning.prepare(s, tunings)
    status, unsaved = tuning.run(s, tunings), WANTED
    if status == WANTED or any(t.is_measured for t in tunings):
        report.show(s, tunings)
        unsaved = _tune_save(options, s, tunings)
    if status != WANTED:
        return status

    # The pictures are saved even if the configuration or the measurement cannot be written.
    try:
        if options.write and s.is_stopped():
            raise Trouble("nothing is written: the measurement was interrupted")
        if options.write:
            block.write(s, tunings)
    except Trouble as trouble:
        status = trouble.report()
    for path, kind in pictures:
        try:
            files.save_picture(path, plot.draw(s, tunings, kind))
        except Trouble as trouble:
            failure = trouble.report()
            status = status or failure
    return status or unsaved


def run(words: list[str]) -> int:
    # SIGINT ends the program, instead of raising KeyboardInterrupt, until open_stop() handles it.
    signal.signal(signal.SIGINT, signal.SIG_DFL if signal.getsignal(signal.SIGINT) != signal.SIG_IGN else signal.SIG_IGN)
    os.umask(0o022)     # all users may read the results
    options = parse(words)
    if options.quiet:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    try:
        status = {"bench": bench, "show": week.run, "tune": tune}[options.verb](options)
        sys.stdout.flush()
        return status
    except Trouble as trouble:
        return trouble.report()
    except OSError as error:
        warn(f"'drivekeep {options.verb}' failed: {error.strerror or error}")
        # Drops the rest of the output, which cannot be written either: Python would print another error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return BAD_INPUT
