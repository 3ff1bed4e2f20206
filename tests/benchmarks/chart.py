"""The main figures as an SVG picture: a panel per figure with a bar per contender, drivekeep's in colour."""
import math
from xml.sax.saxutils import escape

import report

WIDTH, PANEL, LEFT, BAR, GAP, ROW = 920, 440, 92, 16, 40, 22
OURS, OTHERS, FLOOR = "#2364aa", "#b8bec5", "#7d858c"


def panels(results):
    """Yields (title, {contender: figure}) for each panel. Coldplug was measured with several numbers of
    drives: the panels show the number for which the most contenders were measured."""
    coldplug = results.get("coldplug", {})
    if coldplug:
        number = max(coldplug, key=lambda n: (len(coldplug[n]), int(n)))
        by_contender = {name: figures for name, figures in coldplug[number].items() if name != "none"}
        yield f"Coldplug of {number} drives: CPU seconds", medians(by_contender, "cpu", "all", scale=1e6)
        yield f"Coldplug of {number} drives: processes started", medians(by_contender, "processes")
        yield f"Coldplug of {number} drives: commands to each drive", {
            name: report.commands_of(by_contender, name) for name in by_contender}
    if results.get("hotplug"):
        yield "Hotplug of one: commands to the other drives", {
            name: max(report.others(f) for f in figures) for name, figures in results["hotplug"].items() if name != "none"}
    if results.get("idle"):
        by_contender = {name: r for name, r in results["idle"].items() if name != report.NO_LOG}
        minutes = next(iter(by_contender.values()))["seconds"] / 60
        yield f"Idle for {minutes:.0f} minutes: wake-ups", {name: r["wakeups"] for name, r in by_contender.items()}
        yield "Resident: memory, PSS in MB", {name: r["pss"] / 1e6 for name, r in by_contender.items()}


def medians(by_contender, *path, scale=1):
    found = {name: report.median_of(by_contender, name, *path) for name in by_contender}
    return {name: value / scale for name, value in found.items() if value is not None}


def text(x, y, what, anchor="start", weight="normal"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{escape(what)}</text>'


def number(value):
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def panel(left, top, title, figures):
    figures = {name: value for name, value in figures.items() if value is not None}
    positive = [value for value in figures.values() if value > 0]
    logarithmic = bool(positive) and max(positive) / min(positive) > 30
    room = PANEL - LEFT - 80
    lowest = min(positive, default=1) / 2

    def length(value):
        if value <= 0:
            return 0
        if logarithmic:
            return room * math.log(value / lowest) / math.log(max(positive) / lowest)
        return room * value / max(positive)

    lines = [text(left, top, title + (" (log)" if logarithmic else ""), weight="bold")]
    for row, name in enumerate(report.in_order(figures)):
        y = top + 12 + row * ROW
        colour = OURS if name == "drivekeep" else FLOOR if name == "floor" else OTHERS
        lines += [text(left + LEFT - 8, y + BAR - 4, name, "end"),
                  f'<rect x="{left + LEFT}" y="{y}" width="{max(length(figures[name]), 1):.1f}" height="{BAR}" fill="{colour}"/>',
                  text(left + LEFT + max(length(figures[name]), 1) + 6, y + BAR - 4, number(figures[name]))]
    return lines, 12 + len(figures) * ROW


def svg(results):
    drawn, lines, top = list(panels(results)), [], 30
    for first in range(0, len(drawn), 2):
        heights = []
        for column, (title, figures) in enumerate(drawn[first:first + 2]):
            some, height = panel(20 + column * (PANEL + 20), top, title, figures)
            lines += some
            heights.append(height)
        top += max(heights) + GAP
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" '
            'font-family="sans-serif" font-size="12">')
    return "\n".join([head, f'<rect width="{WIDTH}" height="{top}" fill="white"/>', *lines, "</svg>"]) + "\n"
