# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the drivekeep command and reads its JSON output; prints messages and tables for the user."""
from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import typing

# Exit statuses of the command (drivekeep(1)).
WANTED, BAD_INPUT, NOT_WANTED, NO_SERVICE, LATER = 0, 1, 2, 3, 75

VERSION = 2     # of the JSON documents
STATE_DIR = "/run/drivekeep/drives"
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP

COMMAND = "drivekeep"


class Trouble(Exception):
    """Ends or prevents the measurement. If the sentence is empty, the cause was printed before."""

    def __init__(self, sentence: str = "", status: int = BAD_INPUT, of_service: bool = False):
        super().__init__(sentence)
        self.sentence, self.status, self.of_service = sentence, status, of_service

    def report(self) -> int:
        if self.sentence:
            warn(self.sentence)
        return self.status


def escape(text: str) -> str:
    """Escapes unprintable characters, so that the model name of a drive cannot control the terminal."""
    return "".join(c if c.isprintable() else "".join(f"\\x{b:02x}" for b in c.encode("utf-8", "surrogateescape")) for c in text)


def warn(sentence: str) -> None:
    print(f"drivekeep: {escape(sentence)}", file=sys.stderr)


@dataclasses.dataclass
class Table:
    heads: list[str]
    sides: str              # alignment of each column: "<" for left, ">" for right
    legend: bool = True     # print heads and notes
    rows: list[list[str | None]] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)

    def row(self, *cells: str | None) -> None:
        self.rows.append(list(cells))

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def print(self) -> None:
        lines = [[escape(cell) if cell is not None else "-" for cell in row] for row in self.rows]
        if lines and self.legend:
            lines.insert(0, [escape(head) for head in self.heads])
        widths = [max(map(len, column)) for column in zip(*lines)]
        for line in lines:
            print(" ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, self.sides, widths)).rstrip())
        for note in self.notes if self.legend else []:
            print(escape(note))


# ---- the command ----

def begin(verb: str, *words: str, stderr: int | None = subprocess.PIPE) -> subprocess.Popen:
    # The child inherits the signal mask: signals that end this program do not interrupt the command.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        return subprocess.Popen([COMMAND, verb, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end(child: subprocess.Popen) -> dict:
    """Returns the JSON document that the command printed, whatever its exit status. Without JSON, prints the command's messages and raises
    Trouble."""
    text, messages = child.communicate()
    try:
        return json.loads(text)
    except ValueError:
        sys.stderr.write((messages or b"").decode(errors="backslashreplace"))
        raise Trouble(status=child.returncode if child.returncode > 0 else BAD_INPUT) from None


def read(verb: str, *words: str, show_messages: bool = False) -> dict:
    """Runs the command and returns its JSON document. `show_messages`: pass the command's messages on to the user."""
    return end(begin(verb, "--json", *words, stderr=None if show_messages else subprocess.PIPE))


def document() -> dict:
    """Returns the members that each JSON document of the command begins with."""
    return {"version": VERSION, "host": os.uname().nodename, "boot_id": boot_id()}


def print_document(**fields: typing.Any) -> None:
    print(json.dumps({**document(), **fields}, indent=2))


def boot_id() -> str | None:
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip().replace("-", "")
    except OSError:
        return None
