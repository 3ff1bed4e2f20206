"""Features that can be locked until power loss: security, overlay and sanitize."""

from .feature import KEPT, Feature
from .taskfile import Result, abort


class Security(Feature):
    """The security feature set, with freezing only. The value is True if the drive is frozen.
    No password can be set."""

    name = "frozen"

    def words(self, words):
        words[82] |= 1 << 1
        words[128] = 0x0001 | self.value << 3

    def commands(self):
        return {0xf5: self.freeze}

    def freeze(self, tf, data):
        self.value = True
        return Result()


class Overlay(Feature):
    """Device configuration overlay. The value is True if the overlay is frozen. No reset
    ends this state. A frozen overlay rejects all overlay commands, even the freeze command."""

    name = "dco_frozen"
    over_reset = KEPT

    def words(self, words):
        words[83] |= 1 << 11

    def commands(self):
        return {0xb1: self.command}

    def command(self, tf, data):
        if self.value or tf.feature not in (0xc1, 0xc2):
            raise abort()
        if tf.feature == 0xc1:
            self.value = True
            return Result()
        page = bytearray(512)
        page[0] = 2                                     # revision
        page[6:14] = (self.drive.sectors - 1).to_bytes(8, "little")
        page[510] = 0xa5
        page[511] = -sum(page) & 0xff
        return Result(data=bytes(page))


class Sanitize(Feature):
    """The sanitize feature set, with two locks and without erasing. The value is None, "frozen" or "antifrozen"."""

    name = "sanitize"
    FREEZE, ANTIFREEZE = 0x46724c6b, 0x416e7469         # "FrLk", "Anti"

    def __init__(self, drive):
        super().__init__(drive, None)

    def words(self, words):
        words[59] |= 1 << 12 | 1 << 10

    def commands(self):
        return {0xb4: self.command}

    def command(self, tf, data):
        if not tf.ext:
            raise abort()
        if tf.feature == 0x0020 and tf.lba == self.FREEZE and self.value != "antifrozen":
            self.value = "frozen"
        elif tf.feature == 0x0040 and tf.lba == self.ANTIFREEZE and self.value != "frozen":
            self.value = "antifrozen"
        elif tf.feature != 0x0000:
            raise abort()
        return Result(count={None: 0, "frozen": 1 << 13, "antifrozen": 1 << 12}[self.value], lba=0xffff)
