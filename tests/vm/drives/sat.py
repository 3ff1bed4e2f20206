"""A SCSI to ATA translator, as in USB docks, with the faults of real translators."""

import struct
from collections import Counter

from .store import SECTOR
from .taskfile import DF, ERR, Result, Taskfile

GOOD, CHECK_CONDITION = 0, 2

RECOVERED, MEDIUM, HARDWARE, ILLEGAL, ATTENTION, ABORTED = 1, 3, 4, 5, 6, 0xb
REGISTERS = (0x00, 0x1d)         # ATA pass-through information available
INVALID_OPCODE, INVALID_FIELD = (0x20, 0x00), (0x24, 0x00)
POWER_ON, BECAME_READY = (0x29, 0x00), (0x28, 0x00)


class CheckCondition(Exception):
    """A SCSI command that ends with sense data, possibly after transferring data."""

    def __init__(self, sense, data=b""):
        super().__init__(sense.hex(" "))
        self.sense, self.data = sense, data


def fixed_sense(key, code, information=bytes(4), specific=bytes(4)):
    return bytes([0x70, 0, key]) + information + bytes([10]) + specific + \
        bytes(code) + bytes(4)


def descriptor_sense(key, code, descriptor=b""):
    return bytes([0x72, key, *code, 0, 0, 0, len(descriptor)]) + descriptor


class Reset(Exception):
    """Raised when the bridge crashes."""


class SatBridge:
    """The translator between the host and a drive.

    sense            format of returned registers: 'descriptor' or 'fixed' sense, or 'none',
                     which ignores CK_COND and returns only GOOD on success
    cache_identify   True: the bridge reads IDENTIFY DEVICE once and then returns its copy
    passthrough      lengths of the supported ATA PASS-THROUGH commands; () for none
    refusal          ASC and ASCQ for unsupported commands: invalid opcode, or invalid field, which
                     the kernel returns for bridges that it does not trust with ATA PASS-THROUGH
    unknown          reaction to an unknown opcode: "sense", or "reset": the bridge disconnects
                     from its bus and connects again
    ata_information  True: the bridge has the vital product data page 89h

    `opcodes` counts the SCSI commands received.
    """

    def __init__(self, drive, sense="descriptor", cache_identify=False,
                 passthrough=(16, 12), refusal=INVALID_OPCODE, unknown="sense",
                 ata_information=False, vendor="DOCK", product="SATA Bridge",
                 revision="0100", serial="DOCK0001"):
        if sense not in ("descriptor", "fixed", "none"):
            raise ValueError(f"no such sense format: {sense!r}")
        self.drive, self.sense_format = drive, sense
        if unknown not in ("sense", "reset"):
            raise ValueError(f"no such end of an unknown command: {unknown!r}")
        self.cache_identify, self.passthrough = cache_identify, passthrough
        self.refusal, self.unknown, self.ata_information = refusal, unknown, ata_information
        self.opcodes = Counter()
        self.attended = 0              # number of unit attentions reported
        self.vendor, self.product, self.revision = vendor, product, revision
        self.serial = serial
        self.power_on()

    def power_on(self):
        """Resets the bridge's state at power-on."""
        self._identify = None
        self._sense = bytes(18)
        self._attentions = [POWER_ON, BECAME_READY]
        self._seen_power_cycles = self.drive.power_cycles

    def attention(self, *code):
        """Queues a unit attention with this ASC and ASCQ for the next command."""
        self._attentions.append(code)

    def execute(self, cdb, data, length):
        """Executes a SCSI command. `data` is sent to the drive. Returns (status, data), with at most
        `length` bytes of data, or None if there is no answer. Raises Reset."""
        self.opcodes[cdb[0]] += 1
        if cdb[0] == 0x03:
            return GOOD, self._sense[:length]
        if self._seen_power_cycles != self.drive.power_cycles:
            self._seen_power_cycles = self.drive.power_cycles
            self._attentions = [POWER_ON]
        try:
            self._sense = bytes(18)
            if self._attentions and cdb[0] not in (0x12, 0xa0):
                self.attended += 1
                raise CheckCondition(self._plain_sense(ATTENTION, self._attentions.pop(0)))
            command = COMMANDS.get(cdb[0])
            if command is None:
                raise self._unknown(INVALID_OPCODE)
            answer = command(self, cdb, data)
        except CheckCondition as check:
            self._sense = check.sense
            return CHECK_CONDITION, check.data[:length]
        return None if answer is None else (GOOD, answer[:length])

    # Sense data

    def _plain_sense(self, key, code):
        make = descriptor_sense if self.sense_format == "descriptor" else fixed_sense
        return make(key, code)

    def _illegal(self, code):
        return CheckCondition(self._plain_sense(ILLEGAL, code))

    def _unknown(self, code):
        return Reset() if self.unknown == "reset" else self._illegal(code)

    def _register_sense(self, key, code, tf, result):
        """Returns sense data with the drive's registers, in this bridge's format."""
        lba, count = result.lba, result.count
        if self.sense_format == "descriptor":
            low, high = lba.to_bytes(6, "little")[:3], lba.to_bytes(6, "little")[3:]
            return descriptor_sense(key, code, bytes([
                0x09, 0x0c, tf.ext, result.error, count >> 8, count & 0xff, high[0], low[0],
                high[1], low[1], high[2], low[2], result.device, result.status]))
        upper = tf.ext << 7 | (count > 0xff) << 6 | (lba > 0xffffff) << 5
        return fixed_sense(key, code,
                           bytes([result.error, result.status, result.device, count & 0xff]),
                           bytes([upper]) + lba.to_bytes(6, "little")[:3])

    # Commands to the drive

    def _ata(self, tf):
        """Sends an ATA command that the bridge creates. The sense data of a failure has no ATA registers."""
        return self._send(tf, b"")

    def _send(self, tf, data):
        result = self.drive.execute(tf, data)
        if result is not None and result.status & (ERR | DF):
            key = HARDWARE if result.status & DF else MEDIUM
            raise CheckCondition(self._plain_sense(key, (0x11 if key == MEDIUM else 0x44, 0)))
        return result

    def ata_pass_through(self, cdb, data):
        long = cdb[0] == 0x85
        if (16 if long else 12) not in self.passthrough:
            raise self._unknown(self.refusal)
        tf = _taskfile16(cdb) if long else _taskfile12(cdb)
        if tf.command == 0xec and self._identify is not None:
            result = Result(data=self._identify)
        else:
            result = self.drive.execute(tf, data)
        if result is None:
            return None
        fault = result.fault
        if fault and fault.kind == "sense":
            key, *code = fault.sense
            raise CheckCondition(self._plain_sense(key, code))
        if fault and fault.kind == "empty":
            raise CheckCondition(bytes(18), result.data)
        if result.status & (ERR | DF):
            key = HARDWARE if result.status & DF else ABORTED
            if self.sense_format == "none":
                raise CheckCondition(fixed_sense(key, (0, 0)))
            raise CheckCondition(self._register_sense(key, (0, 0), tf, result))
        if tf.command == 0xec and self.cache_identify:
            self._identify = result.data
        if cdb[2] & 0x20 and self.sense_format != "none":
            raise CheckCondition(self._register_sense(RECOVERED, REGISTERS, tf, result),
                                 result.data)
        return result.data

    # SCSI commands: each function(cdb, data) returns data, or None for no answer

    def nothing(self, cdb, data):
        return b""

    def inquiry(self, cdb, data):
        if not cdb[1] & 1:
            name = f"{self.vendor:8.8}{self.product:16.16}{self.revision:4.4}"
            return bytes([0, 0, 6, 2, 91, 0, 0, 2]) + name.encode() + bytes(60)
        pages = {0x00: bytes([0x00, 0x80, 0x83]), 0x80: self.serial.encode(),
                 0x83: self._identification()}
        if self.ata_information:
            pages[0x00] += b"\x89"
            pages[0x89] = self._ata_information
        if cdb[2] not in pages:
            raise self._illegal(INVALID_FIELD)
        page = pages[cdb[2]]() if callable(pages[cdb[2]]) else pages[cdb[2]]
        return struct.pack(">BBH", 0, cdb[2], len(page)) + page

    def _ata_information(self):
        result = self._ata(Taskfile(0xec))
        name = f"{self.vendor:8.8}{self.product:16.16}{self.revision:4.4}".encode()
        signature = bytes([0x34, 0, 0x50, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1]).ljust(20, b"\0")
        return bytes(4) + name + signature + bytes([0xec, 0, 0, 0]) + result.data

    def _identification(self):
        text = f"{self.vendor:8.8}{self.product:16.16}{self.serial}".encode()
        return bytes([2, 1, 0, len(text)]) + text

    def mode_sense(self, cdb, data):
        page, long = cdb[2] & 0x3f, cdb[0] == 0x5a
        if page not in (0x08, 0x3f):
            raise self._illegal(INVALID_FIELD)
        wce = self.drive.state().get("write_cache", False)
        caching = bytes([0x08, 0x12, wce << 2]) + bytes(17)
        if cdb[2] >> 6 == 1:               # changeable values
            caching = bytes([0x08, 0x12, 0x04]) + bytes(17)
        if long:
            return struct.pack(">HBBBBH", 6 + len(caching), 0, 0, 0, 0, 0) + caching
        return bytes([3 + len(caching), 0, 0, 0]) + caching

    def mode_select(self, cdb, data):
        long = cdb[0] == 0x55
        descriptors = struct.unpack_from(">H", data, 6)[0] if long else data[3]
        page = data[(8 if long else 4) + descriptors:]
        if len(page) < 3 or page[0] & 0x3f != 0x08:
            raise self._illegal(INVALID_FIELD)
        return self._done(self._ata(Taskfile(0xef, 0x02 if page[2] & 4 else 0x82)))

    def start_stop(self, cdb, data):
        spin_up = cdb[4] & 1
        return self._done(self._ata(Taskfile(0x40, count=1) if spin_up else Taskfile(0xe0)))

    def synchronize(self, cdb, data):
        return self._done(self._ata(Taskfile(0xea, ext=True)))

    def read_capacity_10(self, cdb, data):
        return struct.pack(">II", min(self.drive.sectors - 1, 0xffffffff), SECTOR)

    def read_capacity_16(self, cdb, data):
        if cdb[1] & 0x1f != 0x10:
            raise self._illegal(INVALID_FIELD)
        return struct.pack(">QI", self.drive.sectors - 1, SECTOR) + bytes(20)

    def report_luns(self, cdb, data):
        return struct.pack(">II", 8, 0) + bytes(8)

    def read(self, cdb, data):
        result = self._ata(_media(0x25, cdb))
        return None if result is None else result.data

    def write(self, cdb, data):
        return self._done(self._send(_media(0x35, cdb), data))

    @staticmethod
    def _done(result):
        return None if result is None else b""


COMMANDS = {
    0x00: SatBridge.nothing, 0x12: SatBridge.inquiry, 0x15: SatBridge.mode_select,
    0x1a: SatBridge.mode_sense, 0x1b: SatBridge.start_stop, 0x1e: SatBridge.nothing,
    0x25: SatBridge.read_capacity_10, 0x28: SatBridge.read, 0x2a: SatBridge.write,
    0x35: SatBridge.synchronize, 0x55: SatBridge.mode_select, 0x5a: SatBridge.mode_sense,
    0x85: SatBridge.ata_pass_through, 0x88: SatBridge.read, 0x8a: SatBridge.write,
    0x91: SatBridge.synchronize, 0x9e: SatBridge.read_capacity_16,
    0xa0: SatBridge.report_luns, 0xa1: SatBridge.ata_pass_through,
}


def _media(command, cdb):
    """Translates READ or WRITE (10) or (16) to a 48-bit DMA command."""
    if cdb[0] & 0xe0 == 0x80:
        lba, count = struct.unpack_from(">QI", cdb, 2)
    else:
        lba, count = struct.unpack_from(">IxH", cdb, 2)
    return Taskfile(command, lba=lba, count=count, ext=True, scsi_op=cdb[0])


def _taskfile16(cdb):
    ext = bool(cdb[1] & 1)
    lba = cdb[8] | cdb[10] << 8 | cdb[12] << 16
    lba |= cdb[7] << 24 | cdb[9] << 32 | cdb[11] << 40 if ext else (cdb[13] & 0x0f) << 24
    return Taskfile(cdb[14], cdb[4] | (cdb[3] << 8 if ext else 0),
                    cdb[6] | (cdb[5] << 8 if ext else 0), lba, cdb[13], ext,
                    "passthrough", scsi_op=0x85)


def _taskfile12(cdb):
    lba = cdb[5] | cdb[6] << 8 | cdb[7] << 16 | (cdb[8] & 0x0f) << 24
    return Taskfile(cdb[9], cdb[3], cdb[4], lba, cdb[8], False, "passthrough", scsi_op=0xa1)
