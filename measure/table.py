# SPDX-License-Identifier: LGPL-2.1-or-later
"""A table for people, with sentences below it."""
from __future__ import annotations

import dataclasses

from measure.command import escape


@dataclasses.dataclass
class Table:
    heads: list[str]
    right: list[bool]       # of each column: its cells stand on the right
    legend: bool = True     # heads and notes are printed
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
            cells = [cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(line, widths, self.right)]
            print(" ".join(cells).rstrip())
        for note in self.notes if self.legend else []:
            print(escape(note))
