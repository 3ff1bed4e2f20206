"""A SCSI disk without ATA, with mode pages and power conditions. Unsaved values are lost at power loss."""

import struct
import threading
import time
from dataclasses import dataclass

from . import logpage, modepage
from .fault import Fault, FaultList
from .log import Log
from .modepage import CACHING, CONTROL, ERROR_RECOVERY, POWER_CONDITION, POWER_TIMERS
from .power import Heads
from .sat import (ATTENTION, CHECK_CONDITION, GOOD, HARDWARE, ILLEGAL, INVALID_FIELD, INVALID_OPCODE, MEDIUM, RECOVERED,
                  CheckCondition, descriptor_sense, fixed_sense)
from .store import SECTOR, Store
from .taskfile import NoAnswer

NO_SENSE, NOT_READY, ABORTED = 0x0, 0x2, 0xb
POWER_ON_OCCURRED, BUS_RESET, PARAMETERS_CHANGED = (0x29, 0x01), (0x29, 0x02), (0x2a, 0x01)
INVALID_PARAMETER, LENGTH_ERROR, ROUNDED = (0x26, 0x00), (0x1a, 0x00), (0x37, 0x00)
START_NEEDED, SELF_TEST, OUT_OF_RANGE, SAVING_UNSUPPORTED = (0x04, 0x02), (0x04, 0x09), (0x21, 0x00), (0x39, 0x00)
LOW_POWER = 0x5e

# ASCQ for ASC 5Eh: QUALIFIER if a timer caused the condition, BY_COMMAND if a command caused it
QUALIFIER = {"idle_a": 0x01, "standby_z": 0x02, "idle_b": 0x05, "idle_c": 0x07, "standby_y": 0x09}
BY_COMMAND = {"idle_a": 0x03, "standby_z": 0x04, "idle_b": 0x06, "idle_c": 0x08, "standby_y": 0x0a}
DEPTH = ("active", "idle_a", "idle_b", "idle_c", "standby_y", "standby_z", "stopped")
SPUN_DOWN = {"standby_y", "standby_z", "stopped"}
# Commands that do not restart the timers
QUIET = {0x00, 0x03, 0x12, 0xa0, 0x1a, 0x5a}

@dataclass
class Request:
    """A SCSI command from a host. Fault.matches() reads the attributes by the names that Taskfile also uses."""

    cdb: bytes
    length: int = 0             # maximum number of bytes that may be returned
    origin: str = "kernel"
    comm: str = ""
    pid: int = 0

    @property
    def command(self):
        return self.cdb[0]

    @property
    def feature(self):
        """The page code of MODE SENSE, LOG SENSE or INQUIRY."""
        return self.cdb[2] & 0x3f if self.command in (0x1a, 0x4d, 0x5a) else self.cdb[2]

    @property
    def count(self):
        return self.cdb[4]


@dataclass
class Answer:
    """The answer to a command: status, data and sense data."""

    status: int = GOOD
    data: bytes = b""
    sense: bytes = b""
    error: int = 0              # sense key, for the log


class ScsiDisk(Heads):
    """One disk. Its arguments are the factory values.

    write_cache          WCE of the caching page; with `saveable_cache=False` WCE cannot be saved
    recovery_limit       limit of the error recovery page in ms, 0 for the vendor's default;
                         limits are rounded to `recovery_granularity` and raised to
                         `recovery_minimum`
    timers               timers of the power condition page: a dict of idle_a, idle_b, idle_c,
                         standby_y and standby_z in units of 100 ms, None for disabled
    power_conditions     False: START STOP UNIT supports only START, as in older disks
    descriptor_sense     D_SENSE of the control page
    rated                specified start and load cycles, in a log page
    wwn                  16 hex digits
    lanes, seconds       number of simultaneous reads and writes, and the seconds that each
                         takes; further commands wait in the order of their arrival
    path, size_mb, rpm, spin_up_seconds and time_scale mean the same as in AtaDrive.

    Changes by MODE SELECT last until power loss or reset, unless they were saved.
    """

    def __init__(self, vendor="DRIVEKEE", product="SCSI TESTDISK", revision="0001", serial="SCSI0001",
                 wwn="5000c50012345678", size_mb=64, path=None, *, rpm=7200, write_cache=False, saveable_cache=True,
                 recovery_limit=0, recovery_minimum=40, recovery_granularity=50, timers=None,
                 power_conditions=True, descriptor_sense=False, rated=(50000, 600000), spin_up_seconds=0, time_scale=1,
                 lanes=1, seconds=0):
        self.vendor, self.product, self.revision, self.serial = vendor, product, revision, serial
        self.rated = rated
        self.lanes, self.seconds, self._queue = lanes, seconds, []
        self.wwn, self.rpm, self.power_conditions = wwn, rpm, power_conditions
        self.self_test = False                       # True while a self-test runs in the background
        self.recovery_minimum, self.recovery_granularity = recovery_minimum, recovery_granularity
        self.spin_up_seconds, self.time_scale = spin_up_seconds, time_scale
        self.store = Store(path, size_mb)
        self.sectors = self.store.sectors
        self.log, self.faults = Log(), FaultList()
        self.power_cycles = 1
        self._lock = threading.Condition()
        self._resets = 0
        pages = (modepage.error_recovery(recovery_limit), modepage.caching(write_cache, saveable_cache),
                 modepage.control(descriptor_sense), modepage.power_condition(timers or {}), modepage.exceptions())
        self.pages = {page.code: page for page in pages}
        self.spin_ups = 0
        self._start(POWER_ON_OCCURRED)

    def _start(self, attention, mode="active"):
        for page in self.pages.values():
            page.power_on()
        self.mode, self._by_command = mode, False
        self._last_used = time.monotonic()
        self._attentions = [attention]

    # Functions for tests

    def power_cycle(self):
        with self._lock:
            self.log.event("power cycle")
            self.power_cycles += 1
            self._start(POWER_ON_OCCURRED)
            self._interrupt()

    def comreset(self):
        """Resets the logical unit or the link. The reset restores the saved values."""
        with self._lock:
            self.log.event("reset")
            self._start(BUS_RESET, self.mode)
            self._interrupt()

    def change_by_other(self, code, place, value):
        """Changes bytes of a page as another host would; this host gets a unit attention."""
        with self._lock:
            page, place = self.pages[code], place - 2
            page.current = page.current[:place] + value + page.current[place + len(value):]
            self._attentions.append(PARAMETERS_CHANGED)
            self.log.event("mode parameters changed")

    def inject(self, kind, **match):
        return self.faults.add(Fault(kind, **match))

    def state(self):
        with self._lock:
            self._tick()
            power = self.pages[POWER_CONDITION]
            timers = {name: power.field(place, 4) if power.bit(byte, bit) else None
                      for name, (byte, bit, place) in POWER_TIMERS.items()}
            return {"write_cache": self.pages[CACHING].bit(2, 2), "read_cache": not self.pages[CACHING].bit(2, 0),
                    "recovery_limit": self.pages[ERROR_RECOVERY].field(10, 2), "mode": self.mode,
                    "spin_ups": self.spin_ups, "load_cycles": self.load_cycles} | timers

    def __getitem__(self, name):
        return self.state()[name]

    # Functions for the host

    def execute(self, request, data=b""):
        """Executes a command. Returns an Answer, or None if the disk never answers."""
        with self._lock:
            self._tick()
            fault = self.faults.strike(request)
            entry = self.log.add(command=request.command, feature=request.feature, count=request.count,
                                 cdb=bytes(request.cdb), data=bytes(data[:SECTOR]), mode=self.mode,
                                 fault=fault.kind if fault else "", origin=request.origin, comm=request.comm,
                                 pid=request.pid, scsi_op=request.command)
            try:
                answer = self._obey(request, data, fault)
            except CheckCondition as check:
                key = check.sense[1] if check.sense[0] >= 0x72 else check.sense[2]
                answer = Answer(CHECK_CONDITION, check.data[:request.length], check.sense, key & 0x0f)
            except NoAnswer:
                return None
            if request.command not in QUIET:
                self._last_used = time.monotonic()
            self.log.answer(entry, answer)
            return answer

    def _obey(self, request, data, fault):
        if self._attentions and request.command not in (0x03, 0x12, 0xa0):
            raise self._check(ATTENTION, self._attentions.pop(0))
        if fault:
            if fault.kind == "never":
                raise NoAnswer
            if fault.kind == "hang":
                self._pause(fault.seconds)
            elif fault.kind in REFUSALS or fault.kind == "sense":
                key, *code = fault.sense if fault.kind == "sense" else REFUSALS[fault.kind]
                raise self._check(key, code)
            elif fault.kind == "ignore":
                return Answer()
        command = COMMANDS.get(request.command)
        if command is None:
            raise self._check(ILLEGAL, INVALID_OPCODE)
        return Answer(data=command(self, request.cdb, data)[:request.length])

    def _pause(self, seconds):
        resets = self._resets
        if seconds and self._lock.wait_for(lambda: self._resets != resets, seconds):
            raise NoAnswer

    def _take_turn(self):
        """Waits until fewer than `lanes` earlier accesses to the medium remain, then for the duration of an access.
        Other commands proceed meanwhile."""
        if not self.seconds:
            return
        resets, turn = self._resets, object()
        self._queue.append(turn)
        try:
            self._lock.wait_for(lambda: self._resets != resets or turn in self._queue[:self.lanes])
            if self._resets != resets:
                raise NoAnswer
            self._pause(self.seconds)
        finally:
            self._queue.remove(turn)
            self._lock.notify_all()

    def _interrupt(self):
        self._resets += 1
        self._lock.notify_all()

    def _sense(self, key, code):
        return (descriptor_sense if self.pages[CONTROL].bit(2, 2) else fixed_sense)(key, code)

    def _check(self, key, code, data=b""):
        return CheckCondition(self._sense(key, code), data)

    # Power

    def _tick(self):
        """Enters the power condition of the expired timers, if that condition is deeper than the present one."""
        if self._by_command:
            return
        idle = (time.monotonic() - self._last_used) * self.time_scale
        page = self.pages[POWER_CONDITION]
        for name in DEPTH[1:-1]:
            byte, bit, place = POWER_TIMERS[name]
            if page.bit(byte, bit) and idle * 10 >= page.field(place, 4) and DEPTH.index(name) > DEPTH.index(self.mode):
                self.mode = name

    def _medium(self):
        """Makes the disk active for an access to the medium. Raises CheckCondition if the disk is stopped."""
        if self.mode == "stopped":
            raise self._check(NOT_READY, START_NEEDED)
        self._activate()

    def _activate(self):
        if self.mode in SPUN_DOWN:
            self.spin_ups += 1
            self._pause(self.spin_up_seconds)
        self.mode, self._by_command = "active", False

    def start_stop(self, cdb, data):
        condition, modifier = cdb[4] >> 4, cdb[3] & 0x0f
        if condition and not self.power_conditions:
            raise self._check(ILLEGAL, INVALID_FIELD)
        names = {2: ("idle_a", "idle_b", "idle_c"), 3: ("standby_z", "standby_y")}
        if condition in (0, 1, 7):
            if condition == 0 and not cdb[4] & 1:
                self.mode, self._by_command, self.self_test = "stopped", True, False
            else:
                self._activate()
        elif condition in names and modifier < len(names[condition]):
            if names[condition][modifier] not in SPUN_DOWN and self.mode in SPUN_DOWN:
                self._activate()
            self.mode, self._by_command, self.self_test = names[condition][modifier], True, False
        else:
            raise self._check(ILLEGAL, INVALID_FIELD)
        return b""

    def test_unit_ready(self, cdb, data):
        if self.mode == "stopped":
            raise self._check(NOT_READY, START_NEEDED)
        return b""

    def request_sense(self, cdb, data):
        table = BY_COMMAND if self._by_command else QUALIFIER
        make = descriptor_sense if cdb[1] & 1 else fixed_sense
        if self._attentions:
            return make(ATTENTION, self._attentions.pop(0))
        if self.mode == "stopped":
            return make(NOT_READY, START_NEEDED)
        if self.self_test:
            return make(NO_SENSE, SELF_TEST)
        return make(NO_SENSE, (LOW_POWER, table[self.mode]) if self.mode in table else (0, 0))

    # Identity

    def inquiry(self, cdb, data):
        if not cdb[1] & 1:
            name = f"{self.vendor:8.8}{self.product:16.16}{self.revision:4.4}"
            return bytes([0, 0, 6, 0x12, 91, 0, 0, 2]) + name.encode() + bytes(60)
        pages = {0x80: self.serial.encode(), 0x83: self._identification(), 0x8a: self._power_page(),
                 0xb0: bytes([0, 0]) + bytes(58), 0xb1: struct.pack(">HBB", self.rpm, 0, 2) + bytes(56)}
        pages[0x00] = bytes(sorted([0x00, *pages]))
        if cdb[2] not in pages:
            raise self._check(ILLEGAL, INVALID_FIELD)
        return struct.pack(">BBH", 0, cdb[2], len(pages[cdb[2]])) + pages[cdb[2]]

    def _identification(self):
        naa = bytes.fromhex(self.wwn)
        port = (int(self.wwn, 16) + 1).to_bytes(8, "big")
        return bytes([0x01, 0x03, 0, 8]) + naa + bytes([0x61, 0x93, 0, 8]) + port

    def _power_page(self):
        """Returns VPD page 8Ah, which reports all power conditions as supported."""
        return bytes([0x03, 0x07]) + bytes(12)

    # Mode pages

    def mode_sense(self, cdb, data):
        control, code, long = cdb[2] >> 6, cdb[2] & 0x3f, cdb[0] == 0x5a
        if cdb[3] not in (0, 0xff) or code != 0x3f and code not in self.pages:
            raise self._check(ILLEGAL, INVALID_FIELD)
        chosen = self.pages.values() if code == 0x3f else [self.pages[code]]
        if control == modepage.SAVED and not all(page.saveable for page in chosen):
            raise self._check(ILLEGAL, SAVING_UNSUPPORTED)
        body = b"" if cdb[1] & 0x08 else struct.pack(">II", min(self.sectors, 0xffffffff), SECTOR)
        descriptors = len(body)
        body += b"".join(page.image(control) for page in chosen)
        if long:
            return struct.pack(">HBBBBH", 6 + len(body), 0, 0x10, 0, 0, descriptors) + body
        return bytes([3 + len(body), 0, 0x10, descriptors]) + body

    def mode_select(self, cdb, data):
        long, save = cdb[0] == 0x55, cdb[1] & 1
        header = 8 if long else 4
        if not cdb[1] & 0x10:
            raise self._check(ILLEGAL, INVALID_FIELD)          # PF is 0: the pages do not conform to the standard
        if not data:
            return b""
        if len(data) < header:
            raise self._check(ILLEGAL, LENGTH_ERROR)
        if (data[0] or data[1]) if long else data[0]:
            raise self._check(ILLEGAL, INVALID_PARAMETER)      # the mode data length is reserved and must be zero
        rest = data[header + (struct.unpack_from(">H", data, 6)[0] if long else data[3]):]
        wanted = []
        while rest:
            page = self.pages.get(rest[0])                     # None if PS is set: in MODE SELECT, PS is reserved
            if page is None or len(rest) < 2 or len(rest) < 2 + rest[1] or not page.allows(rest[2:2 + rest[1]]):
                raise self._check(ILLEGAL, INVALID_PARAMETER)
            if save and not page.saveable:
                raise self._check(ILLEGAL, INVALID_FIELD)
            wanted.append((page, bytes(rest[2:2 + rest[1]])))
            rest = rest[2 + rest[1]:]
        rounded = False
        for page, values in wanted:
            page.current = self._round(page, values)
            rounded |= page.current != values
            if save:
                page.saved = page.current
        if rounded:
            raise self._check(RECOVERED, ROUNDED)
        return b""

    def _round(self, page, values):
        limit = int.from_bytes(values[-2:], "big")
        if page.code != ERROR_RECOVERY or not limit:
            return values
        step = self.recovery_granularity
        limit = max(self.recovery_minimum, min((limit + step - 1) // step * step, 0xffff // step * step))
        return values[:-2] + limit.to_bytes(2, "big")

    # Log pages

    def log_sense(self, cdb, data):
        if cdb[3] or cdb[2] & 0x3f not in logpage.CODES:
            raise self._check(ILLEGAL, INVALID_FIELD)
        length = int.from_bytes(cdb[7:9], "big")
        return logpage.image(cdb[2] & 0x3f, self.spin_ups, self.load_cycles, self.rated, 29)[:length]

    # Access to the medium

    def nothing(self, cdb, data):
        return b""

    def synchronize(self, cdb, data):
        if self.mode == "stopped":
            raise self._check(NOT_READY, START_NEEDED)
        return b""

    def read_capacity_10(self, cdb, data):
        return struct.pack(">II", min(self.sectors - 1, 0xffffffff), SECTOR)

    def read_capacity_16(self, cdb, data):
        if cdb[1] & 0x1f != 0x10:
            raise self._check(ILLEGAL, INVALID_FIELD)
        return struct.pack(">QI", self.sectors - 1, SECTOR) + bytes(20)

    def report_luns(self, cdb, data):
        return struct.pack(">II", 8, 0) + bytes(8)

    def _range(self, cdb):
        lba, count = struct.unpack_from(">QI" if cdb[0] & 0xe0 == 0x80 else ">IxH", cdb, 2)
        if lba + count > self.sectors:
            raise self._check(ILLEGAL, OUT_OF_RANGE)
        self._medium()
        self._take_turn()
        return lba, count

    def read(self, cdb, data):
        return self.store.read(*self._range(cdb))

    def write(self, cdb, data):
        lba, count = self._range(cdb)
        self.store.write(lba, data[:count * SECTOR])
        return b""

    def verify(self, cdb, data):
        self._range(cdb)
        return b""


REFUSALS = {"abort": (ABORTED, 0, 0), "df": (HARDWARE, 0x44, 0), "unc": (MEDIUM, 0x11, 0)}

COMMANDS = {
    0x00: ScsiDisk.test_unit_ready, 0x03: ScsiDisk.request_sense, 0x12: ScsiDisk.inquiry, 0x15: ScsiDisk.mode_select,
    0x1a: ScsiDisk.mode_sense, 0x1b: ScsiDisk.start_stop, 0x1d: ScsiDisk.nothing, 0x1e: ScsiDisk.nothing,
    0x25: ScsiDisk.read_capacity_10, 0x28: ScsiDisk.read, 0x2a: ScsiDisk.write, 0x2f: ScsiDisk.verify,
    0x35: ScsiDisk.synchronize, 0x4d: ScsiDisk.log_sense, 0x55: ScsiDisk.mode_select, 0x5a: ScsiDisk.mode_sense,
    0x88: ScsiDisk.read, 0x8a: ScsiDisk.write, 0x8f: ScsiDisk.verify, 0x91: ScsiDisk.synchronize, 0x9e: ScsiDisk.read_capacity_16,
    0xa0: ScsiDisk.report_luns,
}
