"""Faults that a test injects into a drive."""

import threading
from dataclasses import dataclass

from .taskfile import UNCORRECTABLE, NoAnswer, abort, device_fault

KINDS = {
    "abort": "ends with ERR and ABRT, nothing done",
    "df": "ends with a device fault, nothing done",
    "unc": "ends with an uncorrectable error, nothing done",
    "ignore": "says OK, changes nothing",
    "hang": "waits `seconds`, then obeys",
    "never": "is never answered",
    "corrupt": "obeys, but the last byte of the answer's data is inverted",
    "lie": "obeys, but `words` of the IDENTIFY data are others, with a right checksum",
    "sense": "behind a USB bridge: ends with `sense` (key, ASC, ASCQ); SATA: aborts",
    "empty": "behind a USB bridge: obeys, then CHECK CONDITION with all-zero sense; "
             "SATA: obeys",
}


@dataclass
class Fault:
    """A fault for commands with matching opcode, FEATURE, COUNT and origin (None: any).
    It skips the first `skip` commands, then affects `times` commands (None: all)."""

    kind: str
    command: int = None
    feature: int = None
    count: int = None
    origin: str = None
    times: int = 1
    skip: int = 0
    seconds: float = 0
    sense: tuple = (5, 0x24, 0)
    words: dict = None
    struck: int = 0

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f'unknown fault {self.kind!r}, not one of {", ".join(KINDS)}')

    def matches(self, tf):
        return all(wanted is None or wanted == actual for wanted, actual in (
            (self.command, tf.command), (self.feature, tf.feature),
            (self.count, tf.count), (self.origin, tf.origin)))


class FaultList:
    """The faults of one drive. The first matching fault takes effect."""

    def __init__(self):
        self._faults = []
        self._lock = threading.Lock()

    def add(self, fault):
        with self._lock:
            self._faults.append(fault)
        return fault

    def clear(self):
        with self._lock:
            self._faults.clear()

    def strike(self, tf):
        """Returns the fault that affects this command, or None, and counts the command."""
        with self._lock:
            for fault in self._faults:
                if not fault.matches(tf):
                    continue
                if fault.skip > 0:
                    fault.skip -= 1
                    continue
                if fault.times is None or fault.struck < fault.times:
                    fault.struck += 1
                    return fault
        return None


def refuse(fault):
    """Raises the exception of a fault that fails the command; returns for other faults."""
    if fault.kind in ("abort", "sense"):
        raise abort()
    if fault.kind == "df":
        raise device_fault()
    if fault.kind == "unc":
        raise abort(UNCORRECTABLE)
    if fault.kind == "never":
        raise NoAnswer
