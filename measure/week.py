# SPDX-License-Identifier: LGPL-2.1-or-later
"""`drivekeep show --plot` and `--svg`: shows when drives were in standby or active in the last seven days, and when they were
woken, from the service's records of wakes. Days are those of the local time zone. Times are seconds since 1970."""
from __future__ import annotations

import argparse
import calendar
import contextlib
import itertools
import locale
import shutil
import time
import typing
from html import escape as xml

from measure import command, files
from measure.command import escape

DAYS = 7
KEPT = (DAYS + 2) * 24 * 3600   # s; two days more than are shown: a day may have 25 hours, and today is not over
CELLS = 96              # per day, each a quarter of an hour of local time
CELL = 24 * 3600 // CELLS
TOGETHER = 60           # s; within this time, a recorded wake and a change of the drive's state are the same event
UNKNOWN, ACTIVE, STANDBY, WOKEN = range(4)

Cell = list[int]        # the seconds in each state (up to now), followed by the number of wakes


class Day(typing.NamedTuple):
    label: str          # "Fri 20 Nov"
    cells: list[Cell]
    wakes: list[tuple[int, dict]]   # second of the day, and the record


def add(cells: list[Cell]) -> Cell:
    return [sum(numbers) for numbers in zip(*cells)]


def state_of(cell: Cell) -> int | None:
    """Returns UNKNOWN if the state is not known for any part of the cell, and otherwise the state for most of the cell. Returns None if the
    cell covers no time."""
    if cell[UNKNOWN] or not any(cell[:WOKEN]):
        return UNKNOWN if cell[UNKNOWN] else None
    return STANDBY if cell[STANDBY] > cell[ACTIVE] else ACTIVE


def standby_hours(cell: Cell) -> str | None:
    """Returns the time in standby, rounded down ("7.5 h"), or None if not known."""
    return f"{cell[STANDBY] // 3600}.{cell[STANDBY] % 3600 // 360} h" if cell[ACTIVE] or cell[STANDBY] else None


# ---- from records to days ----

def parse_time(text: str) -> int:
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def find_states(wakes: list[dict], drive: dict, boot: str | None, now: int) -> bytes:
    """Returns the state for each of the last KEPT seconds. `boot`: ID of the boot that the drive's current state belongs to."""
    states, last, end = bytearray(KEPT), None, 0

    def fill(begin: int, end: int, state: int) -> None:
        begin, end = (min(max(at - now + KEPT, 0), KEPT) for at in (begin, end))
        states[begin:max(begin, end)] = bytes([state]) * (end - begin)

    for w in wakes:
        woken, standby = parse_time(w["time"]), w["standby_seconds"]
        # If the clock was set, a record may say that standby began before the previous wake. Then standby begins at the previous wake.
        begin = max(woken - (standby or 0), end)
        # If the boot changed, the machine was off in between, and the drive's state is not known.
        if last and standby is not None and last["boot_id"] == w["boot_id"]:
            fill(end, begin, ACTIVE)
        fill(begin, woken, STANDBY)
        end, last = max(end, woken), w
    if drive["power_since"]:
        since, until, follows = parse_time(drive["power_since"]), parse_time(drive["power_until"]), last is not None and last["boot_id"] == boot
        if drive["power"] == "active/idle":
            # If the drive became active (`since`) much later than the last recorded wake, there was another standby, whose wake was not
            # recorded. Then only the time from `since` on is known to be active.
            fill(end if follows and since <= end + TOGETHER else max(since, end), until, ACTIVE)
        elif since >= end:
            fill(end if follows else since, since, ACTIVE)
            fill(since, until, STANDBY)
    return bytes(states)


def make_day(wakes: list[dict], states: bytes, now: int, ago: int) -> Day:
    """Returns the local day `ago` days before today."""
    year, month, today = time.localtime(now)[:3]
    # Takes the date from noon: a day on which summer time begins at midnight has no midnight.
    begin, noon = (int(time.mktime((year, month, today - ago, hour, 0, 0, 0, 0, -1))) for hour in (0, 12))

    def second(at: int) -> int | None:
        local = time.localtime(at)
        return (local[3] * 60 + local[4]) * 60 + min(local[5], 59) if local[:3] == time.localtime(noon)[:3] and at <= now else None

    cells = [[0, 0, 0, 0] for _ in range(CELLS)]
    # Each cell of a repeated hour gets the seconds of both hours, and the cells of a skipped hour stay empty. Days have up to 25 hours, and
    # mktime() may be off by an hour if there is no midnight.
    for quarter in range(begin - 3600, min(begin + 26 * 3600, now), CELL):
        at, part = second(quarter), states[quarter - now + KEPT:quarter + CELL - now + KEPT]
        for state in range(WOKEN) if at is not None else ():
            cells[at // CELL][state] += part.count(state)
    seen = [(at, w) for w in wakes for at in [second(parse_time(w["time"]))] if at is not None]
    for at, _ in seen:
        cells[at // CELL][WOKEN] += 1
    return Day(time.strftime("%a %e %b", time.localtime(noon)), cells, seen)


def make_weeks(document: dict, now: int, named: bool) -> dict[str, list[Day]]:
    """Returns the last DAYS days of each drive, today last. `named`: the document has only drives that the user named; otherwise drives
    without any known state are left out."""
    weeks = {}
    for d in document["drives"]:
        wakes = [w for w in document["wakes"] if (w["serial"] == d["serial"] if w["serial"] and d["serial"] else w["drive"] == d["name"])]
        states = find_states(wakes, d, document["boot_id"], now)
        if named or wakes or d["power"]:
            weeks["  ".join(filter(None, (d["name"], d["serial"])))] = [make_day(wakes, states, now, ago) for ago in reversed(range(DAYS))]
    return weeks


# ---- in the terminal ----

LABEL_WIDTH, SUMS_WIDTH = 12, 15


def show(weeks: dict[str, list[Day]], legend: bool) -> None:
    """Prints a line for each day, as wide as the terminal allows."""
    with contextlib.suppress(locale.Error):
        locale.setlocale(locale.LC_CTYPE, "")
    glyphs = "░█▁↑" if locale.nl_langinfo(locale.CODESET) == "UTF-8" else "?#_|"
    width = shutil.get_terminal_size().columns
    each = next((n for n in (1, 2, 4) if LABEL_WIDTH + CELLS // n + SUMS_WIDTH <= width), 8)
    step = 6 if each == 8 else 3    # hours between labels, leaving room for two digits and a blank
    for i, (title, days) in enumerate(weeks.items()):
        print(("\n" if i else "") + escape(title))
        if legend:
            print(" " * LABEL_WIDTH + "".join(f"{hour:<{step * 4 // each}}" for hour in range(0, 24, step)) + "  WAKES STANDBY")
        for day in days:
            cells = [add(day.cells[at:at + each]) for at in range(0, CELLS, each)]
            line = "".join(glyphs[WOKEN] if c[WOKEN] else " " if state_of(c) is None else glyphs[state_of(c)] for c in cells)
            standby, n = standby_hours(add(cells)), len(day.wakes)
            print(f"{day.label:{LABEL_WIDTH}}{line}  {n if standby or n else '-':>5} {standby or '-':>7}")
    if weeks and legend:
        print(f"{glyphs[STANDBY]} standby  {glyphs[ACTIVE]} active  {glyphs[WOKEN]} woken  {glyphs[UNKNOWN]} not known")


# ---- as a picture ----

LEFT, HOUR, BAR, ROW, HEAD, GAP, LEGEND = 100, 30, 14, 22, 46, 14, 34    # in pixels; HEAD: height of the drive's name and the hours
RIGHT = LEFT + 24 * HOUR
# States also differ by height and pattern, not only by color.
STYLES = ("not known", "url(#unknown)", BAR), ("active", "#e08a1e", BAR), ("standby", "#3b6fb6", 4)
BEGIN = """<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="sans-serif" font-size="12">
<title>When drives were in standby and active</title>
<rect width="{0}" height="{1}" fill="#fff"/>
<defs><pattern id="unknown" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 6L6 0" stroke="#aaa"/></pattern></defs>
"""


def _text(x: float, y: int, text: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y}"{more}>{xml(escape(text), quote=False)}</text>\n'


def _bar(state: int, x: float, y: int, width: float) -> str:
    _, fill, height = STYLES[state]
    return f'<rect x="{x:g}" y="{y + BAR - height}" width="{width:g}" height="{height}" fill="{fill}"/>\n'


def _wake(x: float, y: int, title: str = "") -> str:
    shown = f"<title>{xml(escape(title), quote=False)}</title>" if title else ""
    return f'<path d="M{x:g} {y - 3}v{BAR + 3}" stroke="#000" stroke-width="2">{shown}</path>\n'


def _draw_day(day: Day, y: int) -> str:
    drawn, at = _text(10, y + BAR - 2, day.label), 0
    for state, cells in itertools.groupby(map(state_of, day.cells)):
        n = len(list(cells))
        drawn += _bar(state, LEFT + at * HOUR / 4, y, n * HOUR / 4) if state is not None else ""
        at += n
    for second, w in day.wakes:
        waker = w["process"] or (f"kernel: {w['thread']}" if w["thread"] else "unknown")
        drawn += _wake(LEFT + second * HOUR / 3600, y, f"{time.strftime('%F %T', time.localtime(parse_time(w['time'])))}: {waker}")
    n, standby = len(day.wakes), standby_hours(add(day.cells))
    sums = [f"{n} wake{'s' * (n != 1)}" if n or standby else None, f"{standby} in standby" if standby else None]
    return drawn + _text(RIGHT + 10, y + BAR - 2, ", ".join(filter(None, sums)))


def draw(weeks: dict[str, list[Day]]) -> str:
    """Returns an SVG picture of the weeks of all drives."""
    drive_height = HEAD + DAYS * ROW + GAP
    bottom = len(weeks) * drive_height
    drawn = BEGIN.format(RIGHT + 190, bottom + LEGEND)
    for top, (title, days) in zip(itertools.count(0, drive_height), weeks.items()):
        drawn += "<g>\n" + _text(10, top + 14, title, ' font-weight="bold"')
        drawn += "".join(_text(LEFT + hour * HOUR, top + HEAD - 10, str(hour), ' text-anchor="middle"') for hour in range(0, 25, 3))
        drawn += "".join(_draw_day(day, top + HEAD + i * ROW) for i, day in enumerate(days)) + "</g>\n"
    for x, state in zip(itertools.count(LEFT, 120), (STANDBY, ACTIVE, UNKNOWN)):
        drawn += _bar(state, x, bottom + 6, 30) + _text(x + 36, bottom + 4 + BAR, STYLES[state][0])
    return drawn + _wake(LEFT + 360, bottom + 6) + _text(LEFT + 366, bottom + 4 + BAR, "woken") + "</svg>\n"


def run(options: argparse.Namespace) -> int:
    now = int(time.time())
    document = command.read("wakes", f"--state-dir={options.state_dir}", "--", *options.names, show_messages=True)
    weeks = make_weeks(document, now, bool(options.names))
    if options.svg:
        files.save_picture(options.svg, draw(weeks).encode())
    else:
        show(weeks, not options.no_legend)
    return command.WANTED
