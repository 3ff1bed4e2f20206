"""The feature sets of a drive, each with its power-on value, reports and commands.

A feature set is a class, here or in a separate file, or a row of SWITCHES. The class
or the row defines IDENTIFY words, commands, SET FEATURES subcommands and log pages; AtaDrive
uses only these.
"""

from collections import namedtuple

from .taskfile import Result, abort

# Effects of a COMRESET on a setting
PRESERVED = "preserved"     # kept while software settings preservation is on
KEPT = "kept"               # always kept
LOST = "lost"               # always reset to the power-on value


class Feature:
    """One feature set. `drive` is the AtaDrive with the feature set."""

    name = ""
    volatile = True
    over_reset = PRESERVED

    def __init__(self, drive, default):
        self.drive = drive
        self.default = default
        self.value = default

    def power_on(self):
        """Resets the value after power loss."""
        if self.volatile:
            self.value = self.default

    def comreset(self, preserve):
        """Handles a link reset. `preserve` is true if settings survive the reset."""
        if self.over_reset == LOST or self.over_reset == PRESERVED and not preserve:
            self.power_on()

    def state(self):
        """Returns the values that tests may read, by name."""
        return {self.name: self.value}

    def words(self, words):
        """Fills in this feature's part of IDENTIFY DEVICE."""

    def commands(self):
        """Returns a dict: opcode -> function(tf, data), which returns a Result."""
        return {}

    def subcommands(self):
        """Returns a dict: (FEATURE, COUNT or None for any) of SET FEATURES -> function(tf)."""
        return {}

    def smart_logs(self):
        """Returns a dict: SMART log address -> log page functions, see smart.LogPage."""
        return {}

    def gpl_logs(self):
        """Returns a dict: general purpose log address -> log page functions."""
        return {}


Row = namedtuple("Row", "on off supported enabled volatile", defaults=(True,))

# Features that SET FEATURES turns on and off. Their bits in IDENTIFY are (word, bit).
SWITCHES = {
    "write_cache": Row((0x02, None), (0x82, None), (82, 5), (85, 5)),
    "lookahead": Row((0xaa, None), (0x55, None), (82, 6), (85, 6)),
    "ssp": Row((0x10, 6), (0x90, 6), (78, 6), (79, 6)),
    "dipm": Row((0x10, 3), (0x90, 3), (78, 3), (79, 3)),
    "dsn": Row((0x63, 1), (0x63, 2), (119, 9), (120, 9)),
    "keep_features": Row((0x66, None), (0xcc, None), None, None),
}


class Switch(Feature):
    """A feature of SWITCHES. The value is True or False."""

    def __init__(self, drive, name, default):
        super().__init__(drive, default)
        self.name = name
        self.row = SWITCHES[name]
        self.volatile = self.row.volatile

    def words(self, words):
        for place, shown in ((self.row.supported, True), (self.row.enabled, self.value)):
            if place and shown:
                words[place[0]] |= 1 << place[1]

    def subcommands(self):
        return {self.row.on: lambda tf: self.turn(True),
                self.row.off: lambda tf: self.turn(False)}

    def turn(self, on):
        self.value = on


class Apm(Feature):
    """Advanced power management. 255 means disabled. With `quantum`, a list of levels, the drive
    rounds to the nearest of them, like many drives. APM cannot be enabled while extended
    power conditions are enabled."""

    name = "apm"
    DISABLED = 255

    def __init__(self, drive, default, quantum=None, can_disable=True):
        super().__init__(drive, default)
        self.quantum = quantum
        self.can_disable = can_disable

    def words(self, words):
        words[83] |= 1 << 3
        if self.value != self.DISABLED:
            words[86] |= 1 << 3
            words[91] = self.value

    def subcommands(self):
        return {(0x05, None): self.set_level, (0x85, None): self.disable}

    def set_level(self, tf):
        level = tf.count & 0xff
        if level in (0, 0xff) or self.drive.epc and self.drive.epc.value:
            raise abort()
        if self.quantum:
            level = min(self.quantum, key=lambda known: abs(known - level))
        self.value = level

    def disable(self, tf):
        if not self.can_disable:
            raise abort()
        self.value = self.DISABLED

    def disable_for_epc(self):
        self.value = self.DISABLED

    def power_on(self):
        super().power_on()
        if self.drive.epc and self.drive.epc.value:
            self.value = self.DISABLED


class Acoustic(Feature):
    """Automatic acoustic management. 0 means disabled. Every COMRESET keeps the value, with and
    without software settings preservation."""

    name = "acoustic"
    over_reset = KEPT
    RECOMMENDED = 128

    def words(self, words):
        words[83] |= 1 << 9
        words[94] = self.RECOMMENDED << 8 | self.value
        if self.value:
            words[86] |= 1 << 9

    def subcommands(self):
        return {(0x42, None): self.set_level, (0xc2, None): self.disable}

    def set_level(self, tf):
        if not 0x80 <= tf.count & 0xff <= 0xfe:
            raise abort()
        self.value = tf.count & 0xff

    def disable(self, tf):
        self.value = 0


class WriteReadVerify(Feature):
    """Write-read-verify. The value is None (off) or the mode, which ACS defines in LBA 7:0.
    Mode 3 verifies the first COUNT * 1024 sectors."""

    name = "wrv"
    over_reset = KEPT

    def __init__(self, drive, default):
        super().__init__(drive, None if default is False else default)
        self.count = 1

    def words(self, words):
        words[119] |= 1 << 1
        words[210] = self.count * 1024 & 0xffff
        words[211] = self.count * 1024 >> 16
        words[212] = 0x8000   # the number of sectors that mode 2 verifies; chosen by the vendor
        if self.value is not None:
            words[120] |= 1 << 1
            words[220] = self.value

    def subcommands(self):
        return {(0x0b, None): self.enable, (0x8b, None): self.disable}

    def enable(self, tf):
        if tf.lba & 0xff > 3:
            raise abort()
        self.value = tf.lba & 0xff
        if self.value == 3:
            self.count = tf.count & 0xff

    def disable(self, tf):
        self.value = None


class WriteCache(Switch):
    """The write cache. SCT feature control can force it on or off. The drive then accepts SET
    FEATURES without effect, and IDENTIFY word 85 shows the forced state."""

    def __init__(self, drive, default):
        super().__init__(drive, "write_cache", default)
        self.forced = None      # None: SET FEATURES turns the cache on and off; else the state that SCT forces
        self._asked = default

    def power_on(self):
        self._asked = self.default
        self.drive.forget_cached()
        self.force(self.forced)

    def turn(self, on):
        if self.forced is None:
            self.value = self._asked = on
        self._empty()

    def force(self, forced):
        self.forced = forced
        self.value = self._asked if forced is None else forced
        self._empty()

    def _empty(self):
        if not self.value:
            self.drive.write_cached()


class FreeFall(Feature):
    """Free-fall control. The value is None (off) or the sensitivity, 0 for the vendor's default."""

    name = "free_fall"

    def __init__(self, drive, default):
        super().__init__(drive, {False: None, True: 0}[default])

    def words(self, words):
        words[119] |= 1 << 5
        if self.value is not None:
            words[120] |= 1 << 5
            words[53] |= self.value << 8

    def subcommands(self):
        return {(0x41, None): self.enable, (0xc1, None): self.disable}

    def enable(self, tf):
        self.value = tf.count & 0xff

    def disable(self, tf):
        self.value = None


class PowerUpInStandby(Feature):
    """Power-up in standby, which survives power loss. With `needs_spin_up` the drive stays in
    standby and rejects media commands until SET FEATURES 07h."""

    name = "puis"
    volatile = False

    def __init__(self, drive, default, needs_spin_up):
        super().__init__(drive, default)
        self.needs_spin_up = needs_spin_up
        self.waiting = False

    def power_on(self):
        super().power_on()
        self.waiting = self.value and self.needs_spin_up
        if self.value:
            self.drive.power.power_on_in_standby()

    def words(self, words):
        words[83] |= 1 << 5 | self.needs_spin_up << 6
        words[86] |= self.value << 5
        if self.waiting:
            words[2] = 0x738c

    def subcommands(self):
        return {(0x06, None): lambda tf: self.turn(True), (0x86, None): lambda tf: self.turn(False),
                (0x07, None): self.spin_up}

    def turn(self, on):
        self.value = on

    def spin_up(self, tf):
        if not self.needs_spin_up:
            raise abort()
        self.waiting = False
        self.drive.power.spin_up()


class Transfer(Feature):
    """The transfer mode, which the kernel sets at each probe."""

    name = "transfer_mode"

    def words(self, words):
        words[63] = 0x0007
        words[88] = 0x007f
        word = {0x20: 63, 0x40: 88}.get(self.value & 0xf8)
        if word:
            words[word] |= 0x100 << (self.value & 7)

    def subcommands(self):
        return {(0x03, None): self.set_mode}

    def set_mode(self, tf):
        self.value = tf.count & 0xff


class Multiple(Feature):
    """SET MULTIPLE MODE. The value is the number of sectors, 0 for none."""

    name = "multiple"
    MOST = 16

    def words(self, words):
        words[47] = 0x8000 | self.MOST
        if self.value:
            words[59] |= 0x100 | self.value

    def commands(self):
        return {0xc6: self.set_multiple}

    def set_multiple(self, tf, data):
        if tf.count not in (0, 1, 2, 4, 8, self.MOST):
            raise abort()
        self.value = tf.count
        return Result()
