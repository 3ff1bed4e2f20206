# SPDX-License-Identifier: LGPL-2.1-or-later
"""`drivekeep show --plot` and `--svg`: states of drives in the last week, from `drivekeep wakes --json`."""
import contextlib
import io
import json
import locale
import os
import pathlib
import subprocess
import sys
import time
import xml.dom.minidom

from fake import Fake, Program
from measure import command, week
from measure.week import UNKNOWN, WOKEN

SOURCE = os.path.abspath(sys.argv[1])
HOUR, MINUTE = 3600, 60
MIDNIGHT = 1795132800   # 2026-11-20 00:00 UTC, a Friday
NOON = 1258804800       # 2009-11-21 12:00 UTC, a Saturday

# Rules of time zones, as the time zone database may not be installed.
BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
LORD_HOWE = "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"
SANTIAGO = "<-04>4<-03>,M9.1.6/24,M4.1.6/24"
KATHMANDU = "<+0545>-5:45"


def stamp(when):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))


def wake(when, slept=None, boot="a", drive="sda", serial=None, process=None, thread=None):
    return {"time": stamp(when), "standby_seconds": slept, "boot_id": boot, "drive": drive, "serial": serial, "process": process, "thread": thread}


def drive(name, serial=None, power=None, since=None, until=None):
    return {"name": name, "serial": serial, "power": power, "power_since": since and stamp(since), "power_until": until and stamp(until)}


def set_zone(zone):
    os.environ["TZ"] = zone
    time.tzset()


def hours(day):
    """Returns the state of each hour: ? not known, # active, _ standby, or the number of wakes."""
    cells = [week.add(day.cells[at:at + 4]) for at in range(0, 96, 4)]
    return "".join(str(c[WOKEN]) if c[WOKEN] else " " if week.state_of(c) is None else "?#_"[week.state_of(c)] for c in cells)


STANDBY, ACTIVE = "standby", "active/idle"
# Each case: a title, the wakes, the drive's state (None: not known), the present hour, and the day to show, as a number of days before today.
# Then the expected state of each hour of that day, and the expected time in standby.
# A wake: its hour, the hours in standby before the wake (None: not known), and the boot.
# A state: the power mode, the hour at which the power mode began, and the hour at which it was last reported.
CASES = (
    ("nothing is known", [], None, 24, 0, "????????????????????????", None),
    ("what is still to come is nothing", [], None, 20 + 1 / HOUR, 0, "?????????????????????   ", None),
    ("one record: before and behind it nothing is known", [(10, 4, "a")], None, 24, 0, "??????____1?????????????", "4.0 h"),
    ("awake between two", [(10, 4, "a"), (20, 2, "a")], None, 24, 0, "??????____1#######__1???", "6.0 h"),
    ("another boot between: nobody knows", [(10, 4, "a"), (20, 2, "b")], None, 24, 0, "??????____1???????__1???", "6.0 h"),
    ("how long it slept is not known: nor when it fell asleep", [(10, 4, "a"), (20, None, "a")], None, 24, 0, "??????____1?????????1???", "4.0 h"),
    ("it began before the day", [(10, 40, "a")], None, 24, 0, "__________1?????????????", "10.0 h"),
    ("the same, the day before", [(10, 40, "a")], None, 24, 1, "________________________", "24.0 h"),
    ("it began before the week", [(10, 400, "a")], None, 24, 6, "________________________", "24.0 h"),
    ("longer than there is time", [(10, 2 ** 63, "a")], None, 24, 0, "__________1?????????????", "10.0 h"),
    ("longer than since the wake before: cut off there", [(10, 4, "a"), (15, 9, "a")], None, 24, 0, "??????____1____1????????", "9.0 h"),
    ("the clock was set back: what was told first stays", [(10, 4, "a"), (7, 1, "a"), (12, 1, "a")], None, 24, 0, "??????_1__1_1???????????",
     "5.0 h"),
    ("twice at once", [(10, 4, "a"), (10, 4, "a")], None, 24, 0, "??????____2?????????????", "4.0 h"),
    ("several in an hour", [(10, 4, "a"), (10 + 1 / 3, 1 / 60, "a"), (10 + 59 / 60, 1 / 60, "a")], None, 24, 0, "??????____3?????????????", "4.0 h"),
    ("of the future: of a clock that was wrong", [(10, 4, "a"), (23, 2, "a")], None, 12, 0, "??????____1#            ", "4.0 h"),
    ("asleep now", [(10, 4, "a")], (STANDBY, 15, 18), 18, 0, "??????____1####___      ", "7.0 h"),
    ("suspended now", [(10, 4, "a")], ("suspended", 15, 18), 18, 0, "??????____1####___      ", "7.0 h"),
    ("in Sleep mode now", [(10, 4, "a")], ("sleep", 15, 18), 18, 0, "??????____1####___      ", "7.0 h"),
    ("asleep now, and no record", [], (STANDBY, 15, 18), 18, 0, "???????????????___      ", "3.0 h"),
    ("asleep now, and the record is of another boot", [(10, 4, "b")], (STANDBY, 15, 18), 18, 0, "??????____1????___      ", "7.0 h"),
    ("asleep since before it was woken: that is older", [(10, 4, "a")], (STANDBY, 6, 18), 18, 0, "??????____1???????      ", "4.0 h"),
    ("the service has ended: what it knew holds until then", [(10, 4, "a")], (STANDBY, 15, 17), 18, 0, "??????____1####__?      ", "6.0 h"),
    ("awake now", [(10, 4, "a")], (ACTIVE, 10 + 1 / HOUR, 18), 18, 0, "??????____1#######      ", "4.0 h"),
    ("awake now, noted before the journal had the record", [(10, 4, "a")], (ACTIVE, 10 - 1 / HOUR, 18), 18, 0, "??????____1#######      ", "4.0 h"),
    ("awake now, by a wake that is in no record", [(10, 4, "a")], (ACTIVE, 15, 18), 18, 0, "??????____1????###      ", "4.0 h"),
    ("awake now, and no record", [], (ACTIVE, 15, 18), 18, 0, "???????????????###      ", "0.0 h"),
    ("awake now, and the record is of another boot", [(10, 4, "b")], (ACTIVE, 10 + 1 / HOUR, 18), 18, 0, "??????____1#######      ", "4.0 h"),
    ("what the service does not know", [(10, 4, "a")], None, 18, 0, "??????____1???????      ", "4.0 h"),
    ("most of the hour counts, the sum is rounded down", [(10 + 29 / 60, 4, "a"), (13 + 31 / 60, 81 / 60, "a")], (ACTIVE, 13 + 31 / 60, 18), 18, 0,
     "???????___1#_1####      ", "5.3 h"),
    ("not known for a part of the hour: not known", [(10, 4 - 1 / 60, "a")], (ACTIVE, 10, 11), 11, 0, "???????___1             ", "3.9 h"))

# The drive is always in standby: a skipped hour is empty, and a repeated hour counts twice. Each case: a time zone, the present time
# (at noon), and the day to show, as a number of days before today. Then the expected label, hours and time in standby of that day.
DAYS = (
    ("UTC", 1792929600, 1, "Sat 24 Oct", "________________________", "24.0 h"),
    (BERLIN, 1793012400, 1, "Sun 25 Oct", "________________________", "25.0 h"),
    (BERLIN, 1793012400, 2, "Sat 24 Oct", "________________________", "24.0 h"),
    (BERLIN, 1793012400, 0, "Mon 26 Oct", "____________            ", "12.0 h"),
    (BERLIN, 1774864800, 1, "Sun 29 Mar", "__ _____________________", "23.0 h"),
    (BERLIN, 1774864800, 2, "Sat 28 Mar", "________________________", "24.0 h"),
    (LORD_HOWE, 1791162000, 1, "Sun  4 Oct", "________________________", "23.5 h"),
    # In Chile summer time begins and ends at midnight.
    (SANTIAGO, 1788793200, 1, "Sun  6 Sep", " _______________________", "23.0 h"),
    (SANTIAGO, 1788793200, 2, "Sat  5 Sep", "________________________", "24.0 h"),
    (SANTIAGO, 1775404800, 1, "Sat  4 Apr", "________________________", "25.0 h"),
    (KATHMANDU, 1767248100, 1, "Wed 31 Dec", "________________________", "24.0 h"))

# ---- two drives: sda, which is in standby, and a drive that is absent ----

NOW = NOON + 26 * HOUR + 10 * MINUTE    # Sunday
WAKES = [wake(NOON + 5 * HOUR, 10 * HOUR, serial="5YD1", process="cat"),        # 17:00, since 07:00
         wake(NOON + 10 * HOUR, HOUR, serial="5YD1", process="dd"),             # 22:00, since 21:00
         wake(NOON + 15 * HOUR, 3 * HOUR, serial="5YD1", process="<&\uffff>\\x1b]\\xff\"'"),     # 03:00, since 00:00
         wake(NOON + 20 * HOUR, drive="sdb", serial="W1\\x1b<", thread="md0_resync"),            # 08:00
         wake(NOON + 25 * HOUR, 2 * HOUR, serial="5YD1", process="ls")]         # 13:00, since 11:00

HOURS = "            0     3     6     9     12    15    18    21      WAKES STANDBY\n"
BEFORE = "".join(f"{label} Nov  {'?' * 48}      -       -\n" for label in ("Mon 16", "Tue 17", "Wed 18", "Thu 19", "Fri 20"))
SDA = BEFORE + ("Sat 21 Nov  ??????????????____________________|#######__|###      2  11.0 h\n"
                "Sun 22 Nov  ______|###############____|#_                         2   5.3 h\n")
SDB = BEFORE + ("Sat 21 Nov  ????????????????????????????????????????????????      -       -\n"
                "Sun 22 Nov  ????????????????|????????????                         1       -\n")
LEGEND = "_ standby  # active  | woken  ? not known\n"
UTF8 = ("Sun 22 Nov  ▁▁▁▁▁▁↑███████████████▁▁▁▁↑█▁                         2   5.3 h\n"
        "▁ standby  █ active  ↑ woken  ░ not known\n")


class Week(Program):
    def setUp(self):
        super().setUp()
        self.addCleanup(time.tzset)
        self.addCleanup(set_zone, "UTC")
        set_zone("UTC")
        self.patch(time, "time", lambda: NOW)
        self.known = {"sda": drive("sda", "5YD1", STANDBY, NOW - 20 * MINUTE, NOW), "sdb": drive("sdb", "W1\\x1b<"), "nvme0n1": drive("nvme0n1", "N1")}
        os.environ.update({"LC_ALL": "C", "COLUMNS": "80"})
        self.addCleanup(locale.setlocale, locale.LC_CTYPE, "C.UTF-8")

    def print_wakes(self, names, words):
        self.assertIn("--state-dir=state", words)
        if "sdq" in names:
            command.warn("'sdq' is no drive that drivekeep knows")
            raise command.Trouble(status=1)
        drives = [self.known[name] for name in names or self.known]
        return {"boot_id": "a", "wakes": [w for w in WAKES if w["drive"] in [d["name"] for d in drives]], "drives": drives}

    def show(self, status, *words):
        self.assertEqual(self.run_program("show", "--state-dir=state", *words), status)
        return self.out

    def test_day(self):
        for title, wakes, power, now, ago, expected, standby in CASES:
            with self.subTest(title):
                document = [wake(MIDNIGHT + round(at * HOUR), slept and round(slept * HOUR), boot) for at, slept, boot in wakes]
                mode, since, until = power or (None, 0, 0)
                shown = drive("sda", None, mode, MIDNIGHT + round(since * HOUR), MIDNIGHT + round(until * HOUR))
                now = MIDNIGHT + round(now * HOUR) - (now == 24)
                days = week.make_weeks({"boot_id": "a", "wakes": document, "drives": [shown]}, now, True)["sda"]
                day = days[-1 - ago]
                self.assertEqual((hours(day), week.standby_hours(week.add(day.cells))), (expected, standby))

    def test_zone(self):
        for zone, now, ago, label, expected, standby in DAYS:
            with self.subTest(f"{zone} {label}"):
                set_zone(zone)
                days = week.make_weeks({"boot_id": "a", "wakes": [wake(1900000000, 1900000000)], "drives": [drive("sda")]}, now, True)["sda"]
                day = days[-1 - ago]
                self.assertEqual((day.label, hours(day), week.standby_hours(week.add(day.cells))), (label, expected, standby))

    def test_twice(self):
        """If an hour is repeated when summer time ends, wakes in both hours are in the same cells. Wakes in the future are ignored."""
        set_zone(BERLIN)
        wakes = [wake(1792888200), wake(1792891800)]    # 02:30 CEST and CET
        document = {"boot_id": "a", "wakes": wakes, "drives": [drive("sda")]}
        day = week.make_weeks(document, 1793012400, True)["sda"][-2]
        self.assertEqual((day.cells[10][WOKEN], [second for second, _ in day.wakes]), (2, [9000, 9000]))
        self.assertEqual(len(week.make_weeks(document, 1792888200, True)["sda"][-1].wakes), 1)

    def test_drive(self):
        """Wakes are assigned by serial number, or by name if the serial number is not known."""
        wakes = [wake(NOW - 4 * HOUR, serial="1"), wake(NOW - 3 * HOUR, drive="sdb", serial="1"), wake(NOW - 2 * HOUR, serial="2"), wake(NOW - HOUR)]
        day = week.make_weeks({"boot_id": "a", "wakes": wakes, "drives": [drive("sda", "1")]}, NOW, True)["sda  1"][-1]
        self.assertEqual([w for _, w in day.wakes], [wakes[0], wakes[1], wakes[3]])

    def test_states(self):
        """A cell with an unknown part is unknown; a cell that covers no time has no state."""
        self.assertEqual([week.state_of(cell) for cell in ([1, 500, 0, 0], [0, 450, 450, 0], [0, 0, 0, 0])], [UNKNOWN, week.ACTIVE, None])

    # ---- in the terminal ----

    def test_text(self):
        """The plot fits the width of the terminal. If the locale is not UTF-8, the plot is in ASCII. If no drive is named, all known drives are shown."""
        all_of_sda = "sda  5YD1\n" + HOURS + SDA + LEGEND
        for words, columns, zone, text in (
                (["sda"], 80, "C", all_of_sda), (["sda"], 75, "C", all_of_sda), (["sda"], 122, "C", all_of_sda),
                (["sda", "--no-legend"], 80, "C", "sda  5YD1\n" + SDA),
                (["sda", "sdb"], 80, "C", "sda  5YD1\n" + HOURS + SDA + "\nsdb  W1\\x1b<\n" + HOURS + SDB + LEGEND),
                ([], 80, "C", "sda  5YD1\n" + HOURS + SDA + "\nsdb  W1\\x1b<\n" + HOURS + SDB + LEGEND),
                (["nvme0n1", "--no-legend"], 80, "C", "nvme0n1  N1\n" + BEFORE + SDB.replace("|", "?").replace("1       -\n", "-       -\n")[len(BEFORE):])):
            with self.subTest(f"{words} {columns}"):
                os.environ.update({"COLUMNS": str(columns), "LC_ALL": zone})
                self.assertEqual((self.show(0, "--plot", *words), self.err), (text, ""))
        for columns, zone, part in (
                (123, "C", "            0           3           6           9           12          15          18          21            WAKES STANDBY\n"),
                (123, "C", "Sun 22 Nov  ____________|###############################________|##__                                             2   5.3 h\n"),
                (74, "C", "            0  3  6  9  12 15 18 21   WAKES STANDBY\n"), (74, "C", "Sun 22 Nov  ___|#######__|_               2   5.3 h\n"),
                (50, "C", "            0  6  12 18   WAKES STANDBY\n"), (1, "C", "Sun 22 Nov  _|####|_          2   5.3 h\n"),
                (80, "C.UTF-8", UTF8), (80, "C.UTF-8", "\nFri 20 Nov  ░░░░░░░░"), (80, "xx_XX.UTF-8", LEGEND)):
            with self.subTest(f"{columns} {zone}"):
                locale.setlocale(locale.LC_CTYPE, "C")
                os.environ.update({"COLUMNS": str(columns), "LC_ALL": zone})
                self.assertIn(part, self.show(0, "--plot", "sda"))

    # ---- the picture ----

    def test_svg(self):
        self.put("x.svg", "old")
        self.assertEqual((self.show(0, "--svg=x.svg", "sda", "sdb"), self.err), ("", ""))
        text = pathlib.Path("x.svg").read_text()
        xml.dom.minidom.parseString(text)
        self.assertEqual((text.count("<g>"), text.count("<title>"), text.count(">Sun 22 Nov</text>")), (2, 6, 2))
        for part in ("<title>When drives were in standby and active</title>\n", ' font-weight="bold">sda  5YD1</text>', ' font-weight="bold">sdb  W1\\x1b&lt;</text>',
                     "><title>2009-11-21 17:00:00: cat</title></path>",
                     "><title>2009-11-22 03:00:00: &lt;&amp;\\xef\\xbf\\xbf&gt;\\x1b]\\xff\"'</title></path>",
                     "><title>2009-11-22 08:00:00: kernel: md0_resync</title></path>", ">2 wakes, 11.0 h in standby</text>", ">1 wake</text>",
                     # The sixth day: not known, 07:00 to 17:00 standby, then active. Woken at 17:00.
                     '<rect x="100" y="156" width="210" height="14" fill="url(#unknown)"/>\n'
                     '<rect x="310" y="166" width="300" height="4" fill="#3b6fb6"/>\n'
                     '<rect x="610" y="156" width="120" height="14" fill="#e08a1e"/>\n',
                     '<path d="M610 153v17" ', ">standby<", ">active<", ">not known<"):
            self.assertIn(part, text)
        # The picture has no script and no link, and does not mention days without wakes.
        for part in ">0 wakes", "script", "href":
            self.assertNotIn(part, text)
        out = io.TextIOWrapper(io.BytesIO())
        with contextlib.redirect_stdout(out):
            week.files.save_picture("-", text.encode())
        self.assertEqual(out.buffer.getvalue().decode(), text)

    def test_fails(self):
        os.symlink("state/sda", "link")
        os.mkdir("theirs")
        os.chmod("theirs", 0o777)
        os.symlink("..", "theirs/planted")
        for words, message in ((["--plot", "sdq"], "'sdq' is no drive that drivekeep knows"),
                            (["--svg=missing/x.svg"], "missing/x.svg cannot be written: No such file or directory"),
                            (["--svg=/dev/null"], "/dev/null is not a regular file and is not replaced"),
                            (["--svg=link"], "link is not a regular file and is not replaced"),
                            (["--svg=x\x1b/y"], "x\\x1b/y cannot be written: No such file or directory"),
                            (["--svg=theirs/planted/x.svg"], "the path has a symbolic link that another user may have made")):
            with self.subTest(words):
                self.assertEqual(self.show(1, *words), "")
                self.assertIn(message, self.err)
                self.assertEqual(self.err.count("\n"), 1)
                self.assertFalse(os.path.lexists("x.svg"))

    def test_nothing(self):
        """Without known drives nothing is drawn."""
        self.known = {}
        self.assertEqual(self.show(0, "--plot"), "")
        self.show(0, "--svg=x.svg")
        xml.dom.minidom.parse("x.svg")


class Aloud(Fake):
    """Tests with a command that prints messages."""

    def test_command(self):
        """Messages of the command reach the user; if the command fails, its exit status is used."""
        code = "import sys; from measure import command, main; command.COMMAND = './command'; sys.exit(main.run(['--plot', '--', 'show', 'sda']))"
        document = json.dumps({"boot_id": "a", "wakes": [], "drives": [drive("sda")]})
        for script, status, line in ((f"echo '{document}'", 0, "sda"), ("exit 3", 3, "")):
            with self.subTest(script):
                self.put("command", f'#!/bin/sh\necho "$*" >&2\n{script}')
                os.chmod("command", 0o755)
                done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={"PYTHONPATH": SOURCE})
                self.assertEqual((done.returncode, done.stderr), (status, "wakes --json --state-dir=/run/drivekeep/drives -- sda\n"))
                self.assertEqual(done.stdout.partition("\n")[0], line)
