# SPDX-License-Identifier: LGPL-2.1-or-later
"""fio(1), which does the reading and the timing. It is asked for JSON."""
from __future__ import annotations

import json
import math
import os
import select
import shutil
import subprocess

STOP_SECONDS = 3    # for an end once it was asked for


class Stopped(Exception):
    """The user wants an end."""


class Failed(Exception):
    """fio or the drive has failed: in fio's own words, or the kernel's."""


def is_installed() -> bool:
    return shutil.which("fio") is not None


def wait_for_stop(stop_fd: int, seconds: float) -> bool:
    """Waits for so long, or until the user wants an end: then this descriptor is readable, and stays so."""
    return bool(stop_fd >= 0 and select.select([stop_fd], [], [], seconds)[0])


def run(arguments: list[str], stop_fd: int) -> dict:
    """What fio tells of these jobs. When the user wants an end fio is told to end, and what it tells is not used; one that has not
    ended then, for want of an answer of the drive's, is left behind."""
    # Nothing is written to a drive. In a process group of its own: the terminal's Ctrl-C is for us alone, and we tell it.
    with open(os.memfd_create("fio"), "w+b", 0) as out:
        child = subprocess.Popen(["fio", *arguments], stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        with open(os.pidfd_open(child.pid), "rb", 0) as ends:
            if stop_fd in select.select([ends, stop_fd], [], [])[0]:
                child.terminate()
                if not select.select([ends], [], [], STOP_SECONDS)[0]:
                    child.kill()
                child.poll()    # one that waits for the drive dies once that has answered
                raise Stopped
        status = child.wait()
        out.seek(0)
        text = out.read().decode(errors="replace")
    output = _parse(text)
    error = number(output, "error") if output else math.nan
    if error == 0 and status == 0:
        return output
    raise Failed(os.strerror(int(error)) if error > 0 else _first_line(text, status))


def _parse(text: str) -> dict | None:
    """Before the JSON it may say other things."""
    at = 0 if text.startswith("{") else text.find("\n{") + 1
    try:
        output = json.JSONDecoder().raw_decode(text, at)[0]
    except ValueError:
        return None
    return output if isinstance(output, dict) else None


def _first_line(text: str, status: int) -> str:
    """What it says beside JSON, which is no sentence."""
    line = text.partition("\n")[0]
    if line and not line.startswith("{"):
        return line
    return f"fio ended with exit status {status}" if status >= 0 else f"fio ended with signal {-status}"


def number(output: dict, path: str) -> float:
    """Of its first job. NaN: there is none."""
    found = output
    try:
        for key in ("jobs", 0, *path.split("/")):
            found = found[key]
    except (KeyError, IndexError, TypeError):
        return math.nan
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else math.nan
