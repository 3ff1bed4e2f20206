"""The registers of an ATA command and of its answer."""

from dataclasses import dataclass

ERR, DF, DRDY, SEEK_DONE = 0x01, 0x20, 0x40, 0x10
READY = DRDY | SEEK_DONE

ABORTED = 0x04
UNCORRECTABLE = 0x40
ID_NOT_FOUND = 0x10


@dataclass
class Taskfile:
    """The registers that the host sends. In a 28-bit command, `lba` includes the low four bits of DEVICE."""

    command: int
    feature: int = 0
    count: int = 0
    lba: int = 0
    device: int = 0x40
    ext: bool = False        # a 48-bit command
    origin: str = "kernel"   # "passthrough": a program sent the command through SG_IO
    comm: str = ""           # name of the task that issued the command, if known
    pid: int = 0
    scsi_op: int = 0

    @classmethod
    def from_fis(cls, fis, ext, **issuer):
        """Unpacks a register FIS, host to device."""
        lba = int.from_bytes(fis[4:7], "little")
        feature, count, device = fis[3], fis[12], fis[7]
        if ext:
            lba |= int.from_bytes(fis[8:11], "little") << 24
            feature |= fis[11] << 8
            count |= fis[13] << 8
        else:
            lba |= (device & 0x0f) << 24
        return cls(fis[2], feature, count, lba, device, ext, **issuer)

    @property
    def sectors(self):
        """Returns the number of sectors of a media command. A COUNT of 0 means the largest number."""
        return self.count or (0x10000 if self.ext else 0x100)


@dataclass
class Result:
    """The drive's answer."""

    status: int = READY
    error: int = 0
    count: int = 0
    lba: int = 0
    device: int = 0x40
    data: bytes = b""
    fault: object = None      # the injected fault that affected the command

    def to_fis(self):
        """Packs the answer as a register FIS, device to host."""
        lba = self.lba.to_bytes(6, "little")
        return bytes([0x34, 0x40, self.status, self.error, *lba[:3], self.device,
                      *lba[3:], 0, self.count & 0xff, self.count >> 8 & 0xff,
                      0, 0, 0, 0, 0, 0])


class CommandFailed(Exception):
    """Raised when a command ends with an error status."""

    def __init__(self, status, error=0):
        super().__init__(f"status {status:02X}h, error {error:02X}h")
        self.status = status
        self.error = error


def abort(error=ABORTED):
    """Returns the exception for a rejected command. By default, the error register has ABRT."""
    return CommandFailed(READY | ERR, error)


def device_fault():
    return CommandFailed(DRDY | DF | ERR, ABORTED)


class NoAnswer(Exception):
    """Raised when the drive never answers: only a reset ends the command."""
