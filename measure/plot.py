# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the measurements of `drivekeep tune`: a panel for each setting. It shows for each value the figure to improve (the goal),
with its interval."""
from __future__ import annotations

import importlib.util
import io
import logging
import os

from measure import samples
from measure.command import Trouble, escape
from measure.figures import LATENCY, caption, format_value
from measure.subject import Subject
from measure.tuning import Tuning

KINDS = "svg", "png", "pdf"
PICKED, OTHERS = "#1a7f37", "#3b6fb6"
INCHES = 7.5, 2.8   # width and height of a panel


def kind_of(path: str) -> str:
    return os.path.splitext(path)[1].lstrip(".").lower()


def check(path: str, kind: str) -> None:
    """Raises Trouble if the picture cannot be drawn. Called before the measurement."""
    if kind not in KINDS:
        raise Trouble(f"'{path}' is not a picture file: --plot needs a name that ends with .svg, .png or .pdf")
    if importlib.util.find_spec("matplotlib") is None:
        raise Trouble("pictures need matplotlib: install the package 'python3-matplotlib'")


def draw(s: Subject, tunings: list[Tuning], kind: str) -> bytes:
    logging.getLogger("matplotlib").setLevel(logging.ERROR)     # without a home directory, matplotlib warns about its cache
    import matplotlib
    matplotlib.use("Agg")
    # Stores text as text, so that the picture can be searched. With the constant salt, equal measurements give equal files.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "drivekeep", "font.size": 9})
    from matplotlib import pyplot
    shown = [t for t in tunings if t.is_measured]
    figure, panels = pyplot.subplots(max(len(shown), 1), squeeze=False, figsize=(INCHES[0], INCHES[1] * max(len(shown), 1)), layout="constrained")
    figure.suptitle(escape(f"{s.name}: values of settings, measured"))
    for axes, t in zip(panels[:, 0], shown):
        less = " (less is better)" if t.goal.kind is LATENCY else ""
        axes.set_title(f"{t.setting}: {t.goal.title}{less}", loc="left", fontweight="bold", fontsize="medium")
        axes.yaxis.set_major_formatter(lambda y, _, kind=t.goal.kind: format_value(kind, y) if y > 0 else "0")
        (_draw_curves if t.tunable.saves_power else _draw_values)(axes, t)
        axes.set_ylim(bottom=0)
    if not shown:
        panels[0, 0].set_axis_off()
    text = io.BytesIO()
    figure.savefig(text, format=kind, metadata={"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind))
    pyplot.close(figure)
    return text.getvalue()


def _draw_values(axes, t: Tuning) -> None:
    labels = [escape(trial.value) for trial in t.tune.trials]
    for i in range(len(labels)):
        e, mark = t.goal_of(i), t.mark(i)
        color, size = (PICKED, 7) if mark == "best" else (OTHERS, 5)
        if e.bounded:
            axes.vlines(i, e.low, e.high, color=color)
        if e.n:
            axes.plot(i, e.median, "o", color=color, markersize=size, gid=escape(caption(t.goal.kind, e)))
        if mark:
            axes.text(i, 0.02, mark, transform=axes.get_xaxis_transform(), ha="center", color=color, fontweight="bold")
    axes.set_xticks(range(len(labels)), labels)
    axes.set_xlim(-0.5, len(labels) - 0.5)


def _draw_curves(axes, t: Tuning) -> None:
    """Draws a line for each value over the idle times. A value with samples for one idle time only is drawn as a point."""
    times = t.tune.idle_times
    for i, trial in enumerate(t.tune.trials):
        points = [(k, samples.median(kept)) for k, kept in enumerate(trial.after) if kept]
        line, = axes.plot([k for k, _ in points], [level for _, level in points], "o-", markersize=4)
        label = escape(trial.value) + (" (now)" if i == t.tune.current else "")
        # Labels are stacked in the order of the values, as curves may end at the same point.
        axes.text(1.02, 0.95 - 0.1 * i, label, transform=axes.transAxes, color=line.get_color(), va="top")
    axes.set_xticks(range(len(times)), [f"{time} s" for time in times])
    axes.set_xlim(-0.5, len(times) - 0.5)
