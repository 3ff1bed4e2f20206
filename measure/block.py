# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the picked values as configuration: a block for a drive, and the file with the blocks of all measured drives. Each line of the
file has a fixed form. So this module recognizes lines about other drives and settings, and keeps them with their comments.

In each comment, `drivekeep check` reads the text between "measured DATE, " and the colon (daemon/cli/tune-evidence.c).
"""
from __future__ import annotations

import os
import pathlib
import re
import stat
import tempfile
import time

from measure import command, files, pick, tunables
from measure.command import Trouble, escape, warn
from measure.figures import caption
from measure.subject import Subject
from measure.tuning import Tuning

NAME = "drivekeep/drivekeep.conf.d/60-tuned.conf"
FIRST_LINE = "// Written by drivekeep tune"
BEGIN = FIRST_LINE + " --write, which updates this file after later measurements.\n\ndrives = (\n"
END = ");\n"
HEAD = "    { match = "
BLOCK_END = "    },\n"
EVIDENCE = "      // "
UNSAFE = "others can write to a directory in its path; chown root and chmod go-w make the directory safe"
DRAFT_DIR = "/run"      # only root can replace files there


# ---- the block of one drive ----

def head(drive: dict) -> str:
    """Returns the beginning of the block, up to the settings."""
    return f"{HEAD}{drive['match']};\n"


def assignment(setting: str, value: str) -> str:
    if value in tunables.SWITCH and tunables.TUNABLES[setting].ladder == tunables.SWITCH:
        text = "true" if value == "on" else "false"
    else:
        text = value if value.isdigit() else f'"{value}"'
    return f"      {setting} = {text};\n"


def evidence(drive: dict, setting: str) -> str:
    """Returns the conditions of a measurement. The firmware's name is cut at the first comma or colon, which are delimiters of the comment.
    Schedulers are sorted, as the kernel's order depends on the active one (elv_iosched_show())."""
    firmware = escape(drive["firmware"] or "not known").partition(",")[0].partition(":")[0]
    names = f", schedulers {' '.join(sorted(tunables.schedulers(drive['name'])))}" if setting == "scheduler" else ""
    return f"firmware {firmware}{names}"


def _estimates(t: Tuning, goal: bool) -> str:
    """Returns the estimates of the picked value and, if different, of the current value."""
    figure = t.goal if goal else t.cost
    parts = [figure.title]
    for i in dict.fromkeys([t.tune.pick.index, t.tune.current]):
        parts.append(f"{t.tune.trials[i].value} {caption(figure.kind, t.goal_of(i) if goal else t.cost_of(i))}")
    return ", ".join(parts) + "; "


def _lines(s: Subject, t: Tuning) -> str:
    costs = _estimates(t, False) if t.tune.pick.reason == pick.CHEAPER else ""
    comment = f"measured {time.strftime('%Y-%m-%d')}, {evidence(s.drive, t.setting)}: {_estimates(t, True)}{costs}{t.tune.used} samples"
    return f"{EVIDENCE}{comment}\n{assignment(t.setting, t.picked)}"


def _block(s: Subject, tunings: list[Tuning], kept: str = "") -> str:
    """Returns the block; `kept`: lines about other settings from an earlier block of the drive."""
    return head(s.drive) + kept + "".join(_lines(s, t) for t in tunings if t.changes) + BLOCK_END


def format_block(s: Subject, tunings: list[Tuning]) -> str | None:
    """Returns the configuration for the changed settings, or None if no setting changes."""
    return f"drives = (\n{_block(s, tunings)}{END}" if any(t.changes for t in tunings) else None


# ---- the file ----

def _keep(lines: list[str], s: Subject, tunings: list[Tuning]) -> tuple[str, bool]:
    """Returns the lines that are kept from an earlier block: the settings that do not change, each with the comment above it. If this
    measurement confirmed the value of a setting, the setting gets a new comment, and the second result is true."""
    known = {t.setting: t for t in tunings if not t.lacking and t.tune.pick.reason != pick.UNKNOWN}
    kept, comment, renewed = "", "", False
    for line in lines:
        if line.startswith(EVIDENCE):
            comment = line + "\n"
            continue
        t = known.get(line.lstrip(" ").replace("=", " ").partition(" ")[0])
        if t and not t.changes and line + "\n" == assignment(t.setting, t.picked):
            kept, renewed = kept + _lines(s, t), True
        elif line.strip(" ") and not (t and t.changes):
            kept += comment + line + "\n"
        comment = ""
    return kept, renewed


def format_file(s: Subject, tunings: list[Tuning], old: str | None) -> tuple[str, bool] | None:
    """Returns the text of the file with the drive's block rewritten and moved to the end, and whether an unchanged setting got a new
    comment. Returns None if the file has lines that this program did not write: they would be lost."""
    blocks, mine = re.findall(f"{re.escape(HEAD)}.*?\n{BLOCK_END}", old or "", re.DOTALL), head(s.drive)
    own = [block for block in blocks if block.startswith(mine)]
    if len(own) > 1 or old not in (None, BEGIN + "".join(blocks) + END):
        return None
    kept, renewed = _keep("".join(own)[len(mine):-len(BLOCK_END)].splitlines(), s, tunings)
    return BEGIN + "".join(block for block in blocks if block not in own) + _block(s, tunings, kept) + END, renewed


def _path(s: Subject) -> str:
    return f"{s.options.config_root[0]}/{NAME}"


def _read(path: str) -> str | None:
    """Returns the text of the file, or None if there is none. Raises Trouble if other users than root could have written the file."""
    try:
        return "" if os.path.realpath(path) == os.devnull else files.read(path, mode=0o022)
    except FileNotFoundError:
        return None
    except ValueError:
        why = "it is not a regular file, is larger than 1 MiB, belongs to another user, or others can write to it"
    except OSError as error:
        why = error.strerror
    raise Trouble(f"{path} cannot be read: {why}")


def check_file(s: Subject) -> str | None:
    """Returns the text of the file. Raises Trouble if rewriting it would lose lines."""
    path = _path(s)
    old = _read(path)
    if old is not None and format_file(s, [], old) is None:
        why = "was changed by hand" if old.startswith(FIRST_LINE) else "is not a file of 'drivekeep tune'"
        raise Trouble(f"{path} {why}, so --write does not change this file; without --write, the better values are printed")
    return old


def _check_draft(s: Subject, tunings: list[Tuning], text: str) -> None:
    """Raises Trouble if the new file or another file has an error, or if another file overrides the new values. For this check the new file
    is in a temporary configuration root, where it masks the installed file."""
    path = _path(s)
    with tempfile.TemporaryDirectory(prefix="drivekeep-", dir=DRAFT_DIR) as root:
        os.makedirs(os.path.dirname(f"{root}/{NAME}"))
        os.chmod(root, 0o755)   # the service's user must be able to read it
        with open(f"{root}/{NAME}", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        roots = [f"--config-root={each}" for each in [root, *s.options.config_root]]
        complaints = command.read("check", *roots)["complaints"]
        explained = command.read("explain", *roots, *s.state(), "--", s.name)["settings"]
    draft, faults = f"{root}/{NAME}", 0
    for c in complaints:
        if c["level"] == "error" or c["file"] == draft:
            faults += c["level"] == "error"
            warn(f"{c['file'].replace(draft, path)}:{c['line']}:{c['column']}: {c['level']}: {c['sentence']}")
    changed = {t.setting for t in tunings if t.changes}
    for row in explained:
        if row["name"] in changed and not row["rule"].startswith(f"{draft}:"):
            faults += 1
            warn(f"change {row['name']} in {row['rule']}, which overrides {path}")
    if faults:
        raise Trouble


def _is_safe(path: str) -> bool:
    """Returns true if only root and the current user can replace a directory of the path."""
    found = [os.stat(above) for above in pathlib.Path(os.path.abspath(path)).parents if above.exists()]
    return not any(status.st_uid not in (0, os.geteuid()) or (status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX) for status in found)


def write(s: Subject, tunings: list[Tuning]) -> None:
    """Writes the block to its file, preserving the blocks of other drives, and makes the service reload."""
    path, old = _path(s), check_file(s)
    text, renewed = format_file(s, tunings, old) or ("", False)
    if not renewed and not any(t.changes for t in tunings):
        warn("nothing is written: no value is better than the current one")
        return
    _check_draft(s, tunings, text)
    if not _is_safe(path):
        raise Trouble(f"{path} cannot be written: {UNSAFE}")
    try:
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        files.replace(path, text.encode(errors="surrogateescape"))
    except OSError as error:
        raise Trouble(f"{path} cannot be written: {error.strerror}") from None
    s.service.request("Reload")
    if not s.options.json:
        print(f"Written to {path}.")
