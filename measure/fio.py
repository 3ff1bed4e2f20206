# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs fio(1), which does the I/O and measures the times, and reads its JSON output."""
from __future__ import annotations

import json
import math
import os
import select
import shutil
import subprocess

STOP_SECONDS = 3    # how long fio may take to end after SIGTERM


class Stopped(Exception):
    """The user interrupted the program."""


class Failed(Exception):
    """fio or the drive failed; the message comes from fio or from the kernel."""


def is_installed() -> bool:
    return shutil.which("fio") is not None


def wait_for_stop(stop_fd: int, seconds: float) -> bool:
    """Waits for `seconds`, or until the user interrupts: then `stop_fd` becomes readable, and stays readable. Returns true if
    interrupted."""
    return bool(stop_fd >= 0 and select.select([stop_fd], [], [], seconds)[0])


def run(arguments: list[str], stop_fd: int) -> dict:
    """Runs fio with these arguments and returns its results. Terminates fio when the user interrupts, and raises Stopped. If fio does not
    end because the drive does not answer, kills fio and does not wait for it."""
    # The output goes to memory, not to a drive. In a separate session, fio does not get Ctrl-C from the terminal: this program terminates
    # fio instead.
    with open(os.memfd_create("fio"), "w+b", 0) as out:
        child = subprocess.Popen(["fio", *arguments], stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        with open(os.pidfd_open(child.pid), "rb", 0) as ends:
            if stop_fd in select.select([ends, stop_fd], [], [])[0]:
                child.terminate()
                if not select.select([ends], [], [], STOP_SECONDS)[0]:
                    child.kill()
                child.poll()    # not wait(): a process that waits for the drive ends only when the drive answers
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
    """Returns the JSON object in fio's output, which may have messages before it."""
    at = 0 if text.startswith("{") else text.find("\n{") + 1
    try:
        output = json.JSONDecoder().raw_decode(text, at)[0]
    except ValueError:
        return None
    return output if isinstance(output, dict) else None


def _first_line(text: str, status: int) -> str:
    """Returns the first line of fio's messages, or a sentence with fio's exit status if there is no message."""
    line = text.partition("\n")[0]
    if line and not line.startswith("{"):
        return line
    return f"fio ended with exit status {status}" if status >= 0 else f"fio ended with signal {-status}"


def number(output: dict, path: str) -> float:
    """Returns a number from fio's first job, or NaN if there is no such number."""
    found = output
    try:
        for key in ("jobs", 0, *path.split("/")):
            found = found[key]
    except (KeyError, IndexError, TypeError):
        return math.nan
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else math.nan
