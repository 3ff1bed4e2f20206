"""A log of a drive's commands with their sender, time and answer."""

import threading
import time
from dataclasses import dataclass, field

from patience import PATIENCE

COMMANDS = {
    0x00: "NOP", 0x06: "DATA SET MANAGEMENT", 0x20: "READ", 0x24: "READ EXT",
    0x25: "READ DMA EXT", 0x29: "READ MULTIPLE EXT", 0x2f: "READ LOG EXT",
    0x30: "WRITE", 0x34: "WRITE EXT", 0x35: "WRITE DMA EXT", 0x39: "WRITE MULTIPLE EXT",
    0x3d: "WRITE DMA FUA EXT", 0x3f: "WRITE LOG EXT", 0x40: "READ VERIFY",
    0x42: "READ VERIFY EXT", 0xa1: "IDENTIFY PACKET", 0xb0: "SMART", 0xb1: "DCO",
    0xb4: "SANITIZE", 0xc4: "READ MULTIPLE", 0xc5: "WRITE MULTIPLE", 0xc6: "SET MULTIPLE",
    0xc8: "READ DMA", 0xca: "WRITE DMA", 0xe0: "STANDBY IMMEDIATE", 0xe1: "IDLE IMMEDIATE",
    0xe2: "STANDBY", 0xe3: "IDLE", 0xe5: "CHECK POWER MODE", 0xe6: "SLEEP",
    0xe7: "FLUSH CACHE", 0xea: "FLUSH CACHE EXT", 0xec: "IDENTIFY DEVICE",
    0xef: "SET FEATURES", 0xf5: "SECURITY FREEZE LOCK",
}

SCSI_COMMANDS = {
    0x00: "TEST UNIT READY", 0x03: "REQUEST SENSE", 0x12: "INQUIRY", 0x15: "MODE SELECT(6)", 0x1a: "MODE SENSE(6)",
    0x1b: "START STOP UNIT", 0x25: "READ CAPACITY", 0x28: "READ", 0x2a: "WRITE", 0x35: "SYNCHRONIZE CACHE",
    0x4d: "LOG SENSE", 0x55: "MODE SELECT(10)", 0x5a: "MODE SENSE(10)", 0x85: "ATA PASS-THROUGH(16)", 0x88: "READ(16)", 0x8a: "WRITE(16)",
    0x9e: "READ CAPACITY(16)", 0xa0: "REPORT LUNS", 0xa1: "ATA PASS-THROUGH(12)",
}
SCSI_SETTING = {0x15, 0x1b, 0x55}

# Commands that change the drive's behaviour.
SETTING = {0xb1, 0xb4, 0xc6, 0xe0, 0xe1, 0xe2, 0xe3, 0xe6, 0xef, 0xf5}
READING = {(0xb1, 0xc2), (0xb4, 0x0000)}       # exceptions that only read: DCO IDENTIFY, SANITIZE STATUS


@dataclass
class Entry:
    """One command, or an event such as a power cycle (command None)."""

    index: int
    time: float                    # seconds of time.monotonic() on the host
    command: int = None
    feature: int = 0
    count: int = 0
    lba: int = 0
    device: int = 0
    status: int = None             # None: the drive has not answered, or never will
    error: int = 0
    mode: str = ""                 # the drive's power mode when the command arrived
    fault: str = ""                # kind of the injected fault that affected the command
    origin: str = "event"          # 'passthrough', 'kernel' or 'event'
    comm: str = ""
    pid: int = 0
    scsi_op: int = 0
    cdb: bytes = b""               # CDB of a command to a SCSI disk, which has no registers
    data: bytes = field(default=b"", repr=False)   # first sector sent to the drive
    text: str = ""                 # text of an event, or name of an NVMe command
    seconds: float = None          # seconds until the answer

    @property
    def name(self):
        if self.command is None:
            return self.text
        if self.cdb:
            return SCSI_COMMANDS.get(self.command, f"{self.command:02X}h")
        return COMMANDS.get(self.command, f"{self.command:02X}h")

    @property
    def sets(self):
        """Returns true if the command changes a setting (SCT writes included)."""
        if self.cdb:
            return self.command in SCSI_SETTING
        if self.command == 0x3f or (self.command, self.feature) == (0xb0, 0xd6):
            action, function = self.data[0:2], self.data[2:4]
            return function == b"\x01\x00" or action == b"\x03\x00" and function in (b"\x03\x00", b"\x05\x00")
        return self.command in SETTING and (self.command, self.feature) not in READING

    def registers(self):
        """Returns the registers as hex: command/feature, count, LBA."""
        if self.command is None:
            return ""
        if self.cdb:
            return self.cdb.hex()
        return f"{self.command:02X}/{self.feature:02X} {self.count:02X} {self.lba:06X}"


class Log:
    """Entries in the order of arrival. May be read while the drive executes commands."""

    def __init__(self):
        self._entries = []
        self._changed = threading.Condition()

    def add(self, **fields):
        """Appends an entry. `answer` later adds the drive's answer to the entry."""
        with self._changed:
            entry = Entry(len(self._entries), time.monotonic(), **fields)
            self._entries.append(entry)
            self._changed.notify_all()
        return entry

    def event(self, text):
        return self.add(text=text)

    def answer(self, entry, result):
        with self._changed:
            entry.status, entry.error = result.status, result.error
            entry.seconds = time.monotonic() - entry.time
            self._changed.notify_all()

    def mark(self):
        """Returns the current position in the log, for `since` and `wait`."""
        return len(self._entries)

    def since(self, mark=0, **wanted):
        """Returns entries from a mark on, filtered by attributes, for example
        `since(m, command=0xef, feature=5, origin='passthrough')`. A value may be a set of
        accepted values."""
        with self._changed:
            return [e for e in self._entries[mark:] if _matches(e, wanted)]

    def wait(self, mark=0, timeout=30, number=1, **wanted):
        """Like `since`, but waits for at least `number` entries. Commands without an answer count
        only if `status` is given. Raises TimeoutError."""
        def found():
            return [e for e in self._entries[mark:] if _matches(e, wanted)
                    and ("status" in wanted or e.command is None or e.status is not None)]
        with self._changed:
            if not self._changed.wait_for(lambda: len(found()) >= number, timeout * PATIENCE):
                raise TimeoutError(f"{len(found())} of {number} commands like {wanted} "
                                   f"in {timeout * PATIENCE} s:\n{table(self._entries[mark:])}")
            return found()

    def last(self):
        """Returns the time of the newest command, or None if the drive has got no command."""
        with self._changed:
            times = [e.time for e in self._entries if e.command is not None]
        return times[-1] if times else None

    def __str__(self):
        return table(self.since())


def _matches(entry, wanted):
    for name, value in wanted.items():
        actual = getattr(entry, name)
        if actual not in value if isinstance(value, (set, frozenset)) else actual != value:
            return False
    return True


def table(entries):
    """Formats entries as text: seconds since the first entry, sender, registers, status."""
    if not entries:
        return "(no commands)"
    start = entries[0].time
    lines = [f'{"s":>9}  {"origin":11} {"comm":15} {"cmd/ft ct lba":16} {"st/er":6} '
             f'{"took":>7} {"mode":8} {"fault":7} name']
    for e in entries:
        status = "--" if e.status is None else f"{e.status:02X}/{e.error:02X}"
        took = "" if e.seconds is None else f"{e.seconds * 1000:.1f}ms"
        lines.append(f"{e.time - start:9.3f}  {e.origin:11} {e.comm:15} "
                     f'{e.registers():16} {status if e.command is not None else "":6} '
                     f"{took:>7} {e.mode:8} {e.fault:7} {e.name}")
    return "\n".join(lines)
