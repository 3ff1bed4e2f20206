"""An NVMe controller with one namespace. Its features have current, default and saved values.

Layouts as in NVMe 1.4 and in the kernel's and nvme-cli's headers.
"""

import struct
import threading
import time
from dataclasses import dataclass

from .log import Log
from .store import SECTOR, Store

SUCCESS, INVALID_OPCODE, INVALID_FIELD, INVALID_NAMESPACE = 0x0000, 0x0001, 0x0002, 0x000b
INVALID_LOG, NOT_SAVEABLE, NOT_CHANGEABLE, NOT_NAMESPACE_SPECIFIC, LBA_RANGE = 0x0109, 0x010d, 0x010e, 0x010f, 0x0080

POWER, TEMPERATURE, ERROR_RECOVERY, WRITE_CACHE, COALESCING = 0x02, 0x04, 0x05, 0x06, 0x08
TRANSITIONS, THERMAL, PERMISSIVE, QUEUES, EVENTS, KEEP_ALIVE = 0x0c, 0x10, 0x11, 0x07, 0x0b, 0x0f
NAMES = {0x02: "GET LOG PAGE", 0x06: "IDENTIFY", 0x09: "SET FEATURES", 0x0a: "GET FEATURES", 0x0c: "ASYNC EVENT REQUEST",
         0x18: "KEEP ALIVE", 0x7f: "FABRICS"}
ALL_NAMESPACES = 0xffffffff


class Failed(Exception):
    def __init__(self, status):
        super().__init__(f"status {status:04x}h")
        self.status = status


@dataclass
class Command:
    """A submission queue entry with its data."""

    entry: bytes
    data: bytes = b""
    admin: bool = True

    @property
    def opcode(self):
        return self.entry[0]

    @property
    def nsid(self):
        return struct.unpack_from("<I", self.entry, 4)[0]

    def word(self, number):
        """Returns a command dword, such as word(10) for CDW10."""
        return struct.unpack_from("<I", self.entry, 4 * number)[0]


@dataclass
class Feature:
    """One feature. Its values are numbers. Exceptions: TEMPERATURE has dicts {selector: threshold}, and TRANSITIONS has
    pairs (number, table)."""

    default: object
    saveable: bool = True
    changeable: bool = True
    of_namespace: bool = False
    current: object = None
    saved: object = None

    def reset(self):
        self.current = self.default if self.saved is None else self.saved

    def capabilities(self):
        return self.saveable | self.of_namespace << 1 | self.changeable << 2


class NvmeController:
    """One controller. `power_states` are (milliwatts, operational, entry latency, exit latency), latencies in us. `thermal` has the limits
    of host controlled thermal management in Kelvin. A reset restores the saved values of features; with `saveable=False` no value can
    be saved. `write_cache` and `temperature` are values at the start. With `uses_apst` the controller enters power states by its APST
    table. Leaving a non-operational state takes the state's exit latency, or `wake_seconds`, if given. Each read and write takes
    `seconds`."""

    def __init__(self, model="DRIVEKEEP NVME", serial="NVME0001", firmware="1.0", eui64="0025385000000001", size_mb=64,
                 path=None, *, power_states=((8000, True, 0, 0), (4000, True, 0, 0), (2000, True, 0, 0),
                                             (50, False, 2000, 2000), (5, False, 5000, 10000)),
                 thermal=(273 + 30, 273 + 90), write_cache=1, temperature=273 + 80, saveable=True, uses_apst=False,
                 wake_seconds=None, seconds=0):
        self.uses_apst, self._last_io = uses_apst, time.monotonic()
        self.wake_seconds, self.seconds = wake_seconds, seconds
        self.model, self.serial, self.firmware, self.eui64 = model, serial, firmware, eui64
        self.power_states, self.thermal = power_states, thermal
        self.store = Store(path, size_mb)
        self.sectors = self.store.sectors
        self.log = Log()
        self._lock = threading.RLock()
        self._temperature = temperature
        self.celsius = 35       # current temperature; not a feature
        self.testing = 0        # running self-test; 0: none, 1: short
        self.features = {
            POWER: Feature(0, saveable), TEMPERATURE: Feature({}, saveable), ERROR_RECOVERY: Feature(0, saveable, of_namespace=True),
            WRITE_CACHE: Feature(write_cache, saveable), COALESCING: Feature(0, saveable),
            TRANSITIONS: Feature((0, bytes(256)), saveable), THERMAL: Feature(0, saveable), PERMISSIVE: Feature(0, saveable),
            QUEUES: Feature(0, False), EVENTS: Feature(0, False), KEEP_ALIVE: Feature(0, False),
        }
        self.resets = -1
        self.reset()

    # Functions for tests

    def reset(self):
        """Resets the controller, as power loss also does. Values that were not saved are lost."""
        with self._lock:
            self.log.event("reset")
            self.resets += 1
            for feature in self.features.values():
                feature.reset()
            self.configuration = self.status = 0
            self._working = self.features[POWER].current      # the operational power state that was set last

    def power_cycle(self):
        self.reset()

    def state(self):
        with self._lock:
            value = {number: feature.current for number, feature in self.features.items()}
            return {"power_state": value[POWER] & 0x1f, "write_cache": bool(value[WRITE_CACHE] & 1),
                    "error_recovery": value[ERROR_RECOVERY] & 0xffff, "coalescing_threshold": value[COALESCING] & 0xff,
                    "coalescing_time": value[COALESCING] >> 8 & 0xff, "thermal_light": value[THERMAL] >> 16,
                    "thermal_heavy": value[THERMAL] & 0xffff, "temperature": value[TEMPERATURE].get(0, self._temperature),
                    "apst": bool(value[TRANSITIONS][0] & 1), "apst_table": value[TRANSITIONS][1]}

    def __getitem__(self, name):
        return self.state()[name]

    # Registers

    def property_get(self, offset):
        with self._lock:
            return {0x00: 127 | 1 << 16 | 20 << 24 | 1 << 37, 0x08: 0x00010400, 0x14: self.configuration,
                    0x1c: self.status}.get(offset, 0)

    def property_set(self, offset, value):
        with self._lock:
            if offset != 0x14:
                return
            if self.configuration & 1 and not value & 1:
                self.reset()
            self.configuration = value
            self.status = (value & 1) | (2 << 2 if value >> 14 & 3 else 0)   # ready, shut down

    # Commands

    def execute(self, command):
        """Returns (status, result, data), or None if there is no answer yet."""
        with self._lock:
            table = ADMIN if command.admin else MEDIUM
            name = NAMES.get(command.opcode, "") if command.admin else "I/O"
            entry = self.log.add(command=command.opcode, feature=command.word(10) & 0xff, count=command.word(11),
                                 lba=command.nsid, cdb=command.entry, data=command.data[:SECTOR], origin="kernel",
                                 text=name) if command.admin else None
            try:
                function = table.get(command.opcode)
                if function is None:
                    raise Failed(INVALID_OPCODE)
                answer = function(self, command)
                if answer is None:
                    return None
                answer = (SUCCESS, *answer)
            except Failed as failed:
                answer = (failed.status, 0, b"")
            if entry:
                self.log.answer(entry, Status(answer[0]))
            return answer

    def identify(self, command):
        cns = command.word(10) & 0xff
        if cns == 0 and command.nsid != 1:
            raise Failed(INVALID_NAMESPACE)
        page = {0: self._namespace, 1: self._controller, 3: self._descriptors, 6: lambda: bytes(4096),
                2: lambda: struct.pack("<I", 1 if command.nsid == 0 else 0).ljust(4096, b"\0")}.get(cns)
        if page is None:
            raise Failed(INVALID_FIELD)
        return 0, page()

    def _namespace(self):
        page = bytearray(4096)
        struct.pack_into("<QQQ", page, 0, *[self.sectors] * 3)
        page[120:128] = bytes.fromhex(self.eui64)
        page[130] = 9                                        # sectors of 512 bytes
        return bytes(page)

    def _descriptors(self):
        return (bytes([1, 8, 0, 0]) + bytes.fromhex(self.eui64)).ljust(4096, b"\0")

    def _controller(self):
        page = bytearray(4096)
        page[4:72] = f"{self.serial:20.20}{self.model:40.40}{self.firmware:8.8}".encode()
        page[77] = 5                                         # MDTS: at most 128 KiB
        struct.pack_into("<HI", page, 78, 1, 0x00010400)
        page[96] = 1 << 1                                    # CTRATT: permissive mode
        page[111], page[259], page[263] = 1, 0, len(self.power_states) - 1
        page[265] = 1                                        # autonomous power state transitions
        page[256] = 1 << 4                                   # self-tests
        struct.pack_into("<HH", page, 266, 273 + 80, 273 + 90)
        struct.pack_into("<H", page, 320, 10)                # keep alive
        struct.pack_into("<HHH", page, 322, 1 if self.thermal else 0, *(self.thermal or (0, 0)))
        page[512], page[513] = 0x66, 0x44
        struct.pack_into("<HIH", page, 514, 64, 1, 1 << 4)   # commands, namespaces, save and select
        page[525] = 1                                        # volatile write cache
        struct.pack_into("<I", page, 536, 1)
        page[768:768 + len(NQN)] = NQN.encode()
        struct.pack_into("<II", page, 1792, (64 + (128 << 10)) // 16, 1)
        page[1803] = 1
        for number, (milliwatts, operational, enter, leave) in enumerate(self.power_states):
            struct.pack_into("<HBBII", page, 2048 + 32 * number, milliwatts // 10 or 1, 0, 0 if operational else 2,
                             enter, leave)
        return bytes(page)

    def log_page(self, command):
        length = ((command.word(11) & 0xffff) << 16 | command.word(10) >> 16) * 4 + 4
        page = bytearray(max(length, 512))
        if command.word(10) & 0xff == 2:
            struct.pack_into("<BHBBB", page, 0, 0, 273 + self.celsius, 100, 10, 0)
        elif command.word(10) & 0xff == 6:
            page[0] = self.testing
        elif command.word(10) & 0xff not in (1, 3):
            raise Failed(INVALID_LOG)
        return 0, bytes(page[:length])

    def _feature(self, command):
        number = command.word(10) & 0xff
        feature = self.features.get(number)
        if feature is None or number == THERMAL and not self.thermal:
            raise Failed(INVALID_FIELD)
        if command.nsid not in (0, ALL_NAMESPACES) and not feature.of_namespace:
            raise Failed(NOT_NAMESPACE_SPECIFIC)
        if feature.of_namespace and command.nsid not in (1, ALL_NAMESPACES):
            raise Failed(INVALID_NAMESPACE)
        return number, feature

    def _does_io(self, value):
        return self.power_states[value & 0x1f][1]

    def _power(self):
        """Returns the current value of the power management feature, after transitions by APST."""
        value, (enabled, table) = self.features[POWER].current, self.features[TRANSITIONS].current
        left = (time.monotonic() - self._last_io) * 1000
        while self.uses_apst and enabled & 1:
            [entry] = struct.unpack_from("<Q", table, 8 * (value & 0x1f))
            target, after = entry >> 3 & 0x1f, entry >> 8 & 0xffffff
            if not after or after > left:
                break
            value, left = value & ~0x1f | target, left - after
        return value

    def _begin_io(self):
        value = self._power()
        if self.uses_apst and not self._does_io(value):
            time.sleep(self.wake_seconds or self.power_states[value & 0x1f][3] / 1e6)
            self.features[POWER].current = self._working
        time.sleep(self.seconds)
        self._last_io = time.monotonic()

    def get_features(self, command):
        number, feature = self._feature(command)
        select = command.word(10) >> 8 & 7
        if select == 3:
            return feature.capabilities(), b""
        value = {0: feature.current, 1: feature.default, 2: feature.default if feature.saved is None else feature.saved}[select]
        if number == TEMPERATURE:
            place = command.word(11) >> 16 & 0x3f
            return value.get(place, self._temperature if place == 0 else 0), b""
        if number == TRANSITIONS:
            return value
        if number == POWER and select == 0:
            return self._power(), b""
        return value, b""

    def set_features(self, command):
        number, feature = self._feature(command)
        save, value = command.word(10) >> 31, command.word(11)
        if save and not feature.saveable:
            raise Failed(NOT_SAVEABLE)
        if not feature.changeable:
            raise Failed(NOT_CHANGEABLE)
        light, heavy = value >> 16, value & 0xffff
        if number == POWER and value & 0x1f >= len(self.power_states) or number == THERMAL and (
                any(limit and not self.thermal[0] <= limit <= self.thermal[1] for limit in (light, heavy)) or
                light and heavy and light >= heavy):
            raise Failed(INVALID_FIELD)
        if number == TEMPERATURE:
            value = {**feature.current, value >> 16 & 0x3f: value & 0xffff}
        elif number == TRANSITIONS:
            value = (value & 1, command.data.ljust(256, b"\0")[:256])
        elif number == QUEUES:
            value = 0                                        # one queue for each direction
        feature.current = value
        if number == POWER and self._does_io(value):
            self._working = value
        if save:
            feature.saved = value
        return (value if number == QUEUES else 0), b""

    def accept(self, command):
        return 0, b""

    def wait(self, command):
        return None

    def _range(self, command):
        lba = command.word(10) | command.word(11) << 32
        count = (command.word(12) & 0xffff) + 1
        if command.nsid != 1:
            raise Failed(INVALID_NAMESPACE)
        if lba + count > self.sectors:
            raise Failed(LBA_RANGE)
        return lba, count

    def read(self, command):
        self._begin_io()
        return 0, self.store.read(*self._range(command))

    def write(self, command):
        lba, count = self._range(command)
        self._begin_io()
        self.store.write(lba, command.data[:count * SECTOR])
        return 0, b""


@dataclass
class Status:
    """An answer in the form that Log requires."""

    status: int
    error: int = 0


NQN = "nqn.2000-01.org.drivekeep:test"
ADMIN = {0x02: NvmeController.log_page, 0x06: NvmeController.identify, 0x09: NvmeController.set_features,
         0x0a: NvmeController.get_features, 0x0c: NvmeController.wait, 0x18: NvmeController.accept}
MEDIUM = {0x00: NvmeController.accept, 0x01: NvmeController.write, 0x02: NvmeController.read}
