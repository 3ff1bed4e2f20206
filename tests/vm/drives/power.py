"""Power modes of a drive, and the standby timer."""

import time

from .feature import Feature
from .taskfile import NoAnswer, Result

MODES = {"standby": 0x00, "idle": 0x80, "active": 0xff}

# Asking a drive what it is and whether it sleeps does not restart its timer.
QUIET = {0xe5, 0x98, 0xec}


def standby_seconds(value):
    """Seconds that a standby timer value stands for; 0: never."""
    if value <= 240:
        return value * 5
    if value <= 251:
        return (value - 240) * 1800
    return {252: 1260, 253: 8 * 3600, 254: 1270, 255: 1275}[value]


class Power(Feature):
    """Power management. `value` is the standby timer's value; it cannot be read from
    the drive, only here. The timer runs lazily: whether it has expired is found out
    when someone looks. `time_scale` makes its time pass faster."""

    name = "standby_timer"

    def __init__(self, drive, time_scale, spin_up_seconds):
        super().__init__(drive, 0)
        self.time_scale = time_scale
        self.spin_up_seconds = spin_up_seconds
        self.spin_ups = 0
        self.mode = "active"
        self._last_used = time.monotonic()

    def power_on(self):
        super().power_on()
        self.mode = "active"
        self._last_used = time.monotonic()

    def comreset(self, preserve):
        if not preserve:
            self.value = self.default
        if self.mode == "sleep":   # a reset is the only way out of it
            self.mode = "standby"

    def state(self):
        return {"standby_timer": self.value, "standby_seconds": standby_seconds(self.value),
                "mode": self.mode, "spin_ups": self.spin_ups}

    def words(self, words):
        words[49] |= 1 << 13       # standard standby timer values
        words[82] |= 1 << 3
        words[84] |= 1 << 13       # IDLE IMMEDIATE with UNLOAD

    def tick(self):
        """Notice that the standby timer has expired."""
        limit = standby_seconds(self.value) / self.time_scale
        if limit and self.mode in ("active", "idle") and \
                time.monotonic() - self._last_used >= limit:
            self.mode = "standby"

    def used(self, tf):
        """A command has been obeyed: the timer starts again."""
        if tf.command not in QUIET:
            self._last_used = time.monotonic()

    def spin_up(self):
        """Make the drive ready for its medium."""
        if self.mode == "standby":
            self.spin_ups += 1
            self.drive.pause(self.spin_up_seconds)
        self.mode = "active"

    def commands(self):
        table = {0xe0: self.standby_immediate, 0xe1: self.idle_immediate, 0xe2: self.standby,
                 0xe3: self.idle, 0xe5: self.check, 0xe6: self.sleep}
        old = {0xe0: 0x94, 0xe1: 0x95, 0xe2: 0x96, 0xe3: 0x97, 0xe5: 0x98, 0xe6: 0x99}
        return table | {old[opcode]: function for opcode, function in table.items()}

    def standby_immediate(self, tf, data):
        self.mode = "standby"
        return Result()

    def idle_immediate(self, tf, data):
        self.spin_up()
        self.mode = "idle"
        return Result(lba=0xc4 if tf.feature == 0x44 else 0)   # C4h: heads are unloaded

    def standby(self, tf, data):
        self.value = tf.count & 0xff
        return self.standby_immediate(tf, data)

    def idle(self, tf, data):
        self.value = tf.count & 0xff
        self.spin_up()
        self.mode = "idle"
        return Result()

    def check(self, tf, data):
        return Result(count=MODES[self.mode])

    def sleep(self, tf, data):
        self.mode = "sleep"
        return Result()

    def require_awake(self):
        """A sleeping drive hears nothing but a reset."""
        if self.mode == "sleep":
            raise NoAnswer
