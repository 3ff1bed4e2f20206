# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the results of `drivekeep tune`: a table for each setting with a sentence about the picked value; or JSON with every sample."""
from __future__ import annotations

import math

from measure import block, command, compare, pick, samples, tune
from measure.command import Table, escape
from measure.figures import Figure, format_estimate, format_value
from measure.result import COUNTS, bounded
from measure.subject import Subject
from measure.tuning import Tuning

PLOT_WIDTH = 20
CURVE = "curve"     # reason of a setting that saves power: no value is picked


# ---- table ----

def _note_pick(table: Table, t: Tuning) -> None:
    picked, name, used = t.tune.pick, t.setting, t.tune.used
    stays = f"{name}: not changed ({t.present}):"
    cost = f"{t.cost.title}, {compare.describe(t.cost.kind, picked.cost, used)}" if t.cost else ""
    if picked.reason == pick.UNKNOWN and len(t.tune.trials) < 2:
        table.note(f"{stays} no other value is available")
    elif picked.reason == pick.UNKNOWN:
        table.note(f"{stays} too few samples; set a longer --budget")
    elif picked.reason == pick.PRESENT:
        table.note(f"{stays} {used} samples show no better value")
    elif picked.reason == pick.CHEAPER:
        table.note(f"{name}: {t.picked} is as good as {t.present}, and costs less: {cost}")
    else:
        table.note(f"{name}: {t.picked} is better than {t.present}: {t.goal.title}, {compare.describe(t.goal.kind, picked.goal, used)}")
        if t.cost and picked.cost.differs:
            table.note(f"in addition: {cost}")
    if t.caution:
        table.note(f"{name}: {t.caution}")


def _print(table: Table, s: Subject, t: Tuning) -> None:
    """Prints the table with notes about samples and values that were left out."""
    m = t.tune.seen
    if m.others + m.cached + m.errors > 0:
        table.note(f"samples left out: {m.others} because other programs used the drive, {m.cached} from the page cache, {m.errors} because of errors"
                   f"{': ' + m.complaint if m.complaint else ''}")
    if t.left_out:
        table.note(f"unavailable values: {t.left_out}")
    if not t.tune.meter.counted:
        table.note(uncounted(s.name))
    table.print()
    print()


def uncounted(drive: str) -> str:
    return f"the kernel does not count I/O of {drive}, so I/O of other programs was not noticed"


def _show_table(s: Subject, t: Tuning) -> None:
    heads = [t.setting, "", t.goal.title, "95 % INTERVAL", "", t.cost.title if t.cost else "", "SAMPLES"]
    table = Table(heads, "><>><>>", not s.options.no_legend)
    goals = [t.goal_of(i) for i in range(len(t.tune.trials))]
    most = max((e.median for e in goals), default=0)
    for i, (trial, goal) in enumerate(zip(t.tune.trials, goals)):
        table.row(trial.value, t.mark(i), *format_estimate(t.goal.kind, goal), "#" * round(goal.median / most * PLOT_WIDTH) if most else "",
                  format_estimate(t.cost.kind, t.cost_of(i))[0] if t.cost else None, str(goal.n))
    _note_pick(table, t)
    _print(table, s, t)


# ---- a setting that saves power ----

def _note_slow(table: Table, t: Tuning, i: int) -> None:
    trial, times, kind = t.tune.trials[i], t.tune.idle_times, t.goal.kind
    slow, last = t.tune.find_slow(trial), len(times) - 1
    first, at_end = trial.after[min(slow, last)], trial.after[last]
    takes = format_value(kind, samples.median(first))
    if len(first) < 2:
        says = "too few samples"
    elif slow < last:
        says = (f"the first read after idle times of {times[slow]} s or more is slow ({takes} after {times[slow]} s, "
                f"{format_value(kind, samples.median(at_end))} after {times[last]} s)")
    elif slow == last:
        says = f"the first read after {times[slow]} s of idle time is slow ({takes})"
    elif any(sample >= t.tune.slow_limit for kept in trial.after for sample in kept):
        says = "some first reads are slow, without a clear link to the idle time"
    else:
        says = f"up to {times[last]} s of idle time, no first read is slow"
    table.note(f"{t.setting} = {trial.value}: {says}")


def _show_curves(s: Subject, t: Tuning) -> None:
    times = t.tune.idle_times
    table = Table([t.setting, "", *(f"{time} s" for time in times), "LOAD CYCLES"], "><>" + len(times) * ">", not s.options.no_legend)
    print(f"{t.setting}: {t.goal.title}, for each idle time")
    for i, trial in enumerate(t.tune.trials):
        table.row(trial.value, t.mark(i),
                  *(format_value(t.goal.kind, samples.median(kept)) if kept else None for kept in trial.after),
                  f"{trial.cycles} in {trial.waits} idle times" if trial.cycles is not None and trial.waits else None)
    for i in range(len(t.tune.trials)):
        _note_slow(table, t, i)
    table.note(f"{t.setting} is not changed ({t.present}): no value is best, because a value that saves more power makes the first read slower")
    # If the budget was too short for all idle times, a note gives a budget that is enough.
    if len(times) < len(tune.IDLE_TIMES):
        hours = next(h for h in range(1, 1000) if tune.fit_idle_times(h * 3600, len(t.values), t.wake_seconds) == tune.IDLE_TIMES)
        table.note(f"--budget={hours}h is enough to measure {t.setting} alone with idle times up to {tune.IDLE_TIMES[-1]} s")
    _print(table, s, t)


# ---- JSON ----

def _json_samples(kept: list[float], figure: Figure) -> dict:
    return {"unit": figure.kind.unit, **bounded(samples.estimate(kept, figure.error)),
            "samples": [None if math.isnan(sample) else sample for sample in kept]}


def _json_value(t: Tuning, trial: tune.Trial) -> dict:
    times, slow = t.tune.idle_times, t.tune.find_slow(trial)
    cost = {"cost": _json_samples(trial.cost, t.cost)} if t.cost else {}
    idle = [{"seconds": time, "median": samples.median(kept) if kept else None, "samples": kept} for time, kept in zip(times, trial.after)]
    return {"value": trial.value, "goal": _json_samples(trial.goal, t.goal), **cost, "idle": idle,
            "slow_after": times[slow] if slow < len(trial.after) else None, "load_cycles": trial.cycles if trial.waits else None,
            "waits": trial.waits if trial.after else None}


def to_json(t: Tuning) -> dict:
    if t.lacking:
        return {"setting": t.setting, "lacking": t.lacking}
    x = t.tune
    return {"setting": t.setting, "lacking": None, "present": t.present, "picked": t.picked,
            "reason": CURVE if t.tunable.saves_power else x.pick.reason if x else pick.UNKNOWN, "caution": t.caution, "goal": t.goal.key,
            "cost": t.cost.key if t.cost else None, **{count: getattr(x.seen, count) if x else 0 for count in COUNTS}, "left_out": t.left_out,
            "values": [_json_value(t, trial) for trial in x.trials] if x and x.rounds else []}


def show(s: Subject, tunings: list[Tuning]) -> None:
    text = block.format_block(s, tunings)
    if s.options.json:
        command.print_document(drive=s.name, model=s.drive["model"], serial=s.drive["serial"], settings=[to_json(t) for t in tunings],
                               block=list(filter(None, (text or "").split("\n"))))
        return
    for t in tunings:
        if not t.is_measured:
            print(f"{t.setting}: not measured: {escape(t.lacking or 'the measurement ended before its turn')}\n")
        elif t.tunable.saves_power:
            _show_curves(s, t)
        else:
            _show_table(s, t)
    if text and not s.options.write:
        print(f"To keep the better values, run 'drivekeep tune --write', or add this to the configuration:\n\n{text}", end="")
    elif not text:
        print("No setting changes.")
