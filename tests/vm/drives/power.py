"""Power modes and the standby timer of a drive."""

import time

from .feature import Feature
from .taskfile import NoAnswer, Result

# Results of CHECK POWER MODE, deepest mode first.
MODES = {"standby": 0x00, "standby_z": 0x00, "standby_y": 0x01, "idle_c": 0x83, "idle_b": 0x82,
         "idle_a": 0x81, "idle": 0x80, "active": 0xff}
SPUN_DOWN = {"standby", "standby_z", "standby_y"}
UNLOADED = SPUN_DOWN | {"idle_b", "idle_c", "sleep", "stopped"}
DEPTH = {mode: depth for depth, mode in enumerate(reversed(MODES))}

# Commands that do not restart the standby timer: CHECK POWER MODE and IDENTIFY DEVICE.
QUIET = {0xe5, 0x98, 0xec}


def standby_seconds(value):
    """Returns the seconds of a standby timer value; 0: never."""
    if value <= 240:
        return value * 5
    if value <= 251:
        return (value - 240) * 1800
    return {252: 1260, 253: 8 * 3600, 254: 1270, 255: 1275}[value]


class Heads:
    """A power mode, and a counter of head unloads. A change of the mode may unload the heads. Power
    loss does not count as an unload."""

    _mode, load_cycles = "active", 0

    @property
    def mode(self):
        return self._mode

    @mode.setter
    def mode(self, mode):
        self.load_cycles += mode in UNLOADED and self._mode not in UNLOADED
        self._mode = mode


class Power(Heads, Feature):
    """Power management. `value` is the standby timer's value, which tests can read and hosts
    cannot. The timer is evaluated lazily, by tick(). `time_scale` makes its time pass faster.
    With `ignores_timer` the drive accepts timer values and ignores them. `apm_timers` has tuples
    (level, seconds, mode): if the APM level is at most `level`, the drive enters `mode` after
    `seconds` without I/O. `wake_seconds` has the seconds to leave each spinning mode."""

    name = "standby_timer"

    def __init__(self, drive, time_scale, spin_up_seconds, ignores_timer=False, apm_timers=(), wake_seconds=None):
        super().__init__(drive, 0)
        self.time_scale = time_scale
        self.spin_up_seconds = spin_up_seconds
        self.ignores_timer = ignores_timer
        self.apm_timers, self.wake_seconds = apm_timers, wake_seconds or {}
        self.spin_ups = 0
        self.mode = "active"
        self._last_used = time.monotonic()
        self._held = False         # True: a command set the mode, and the mode remains until the next command

    def power_on(self):
        super().power_on()
        self.mode = "active"
        self._held = False
        self._last_used = time.monotonic()

    def power_on_in_standby(self):
        """Powers the drive on in standby. This is not counted as an unload of the heads."""
        self._mode = "standby"

    def comreset(self, preserve):
        if not preserve:
            self.value = self.default
        self._held = False
        if self.mode == "sleep":   # only a reset ends Sleep mode
            self.mode = "standby"

    def state(self):
        return {"standby_timer": self.value, "standby_seconds": standby_seconds(self.value),
                "mode": self.mode, "spin_ups": self.spin_ups, "load_cycles": self.load_cycles}

    def words(self, words):
        words[49] |= 1 << 13       # standard standby timer values
        words[82] |= 1 << 3
        words[84] |= 1 << 13       # IDLE IMMEDIATE with UNLOAD

    def tick(self):
        """Enters the mode of the expired timers, if that mode is deeper than the present one."""
        if self.mode == "sleep" or self._held:
            return
        idle = (time.monotonic() - self._last_used) * self.time_scale
        limit = 0 if self.ignores_timer else standby_seconds(self.value)
        epc = self.drive.epc
        due = epc.due(idle) if epc and epc.value else "standby" if limit and idle >= limit else self._apm_mode(idle)
        if due and DEPTH[due] > DEPTH[self.mode]:
            self.mode = due

    def pass_time(self, seconds):
        self.tick()
        self._last_used -= seconds / self.time_scale
        self.tick()

    def _apm_mode(self, idle):
        apm = self.drive.feature("apm")
        due = [mode for level, seconds, mode in self.apm_timers if apm and apm.value <= level and idle >= seconds]
        return max(due, key=DEPTH.get, default=None)

    def used(self, tf):
        """Restarts the timers after a command that is not in QUIET."""
        if tf.command not in QUIET:
            self._last_used = time.monotonic()

    def enter(self, mode):
        """Enters a mode that a command requests. The drive's timers do not change this mode before the next command."""
        if mode not in SPUN_DOWN and self.mode in SPUN_DOWN:
            self.spin_up()
        self.mode, self._held = mode, True

    def begin(self):
        """Lets the timers change the mode again. Called when the next command arrives."""
        self._held = False

    def spin_up(self):
        """Makes the drive active, after the time that its present mode requires."""
        if self.mode in SPUN_DOWN:
            self.spin_ups += 1
            self.drive.pause(self.spin_up_seconds)
        else:
            self.drive.pause(self.wake_seconds.get(self.mode, 0))
        self.mode = "active"

    def commands(self):
        table = {0xe0: self.standby_immediate, 0xe1: self.idle_immediate, 0xe2: self.standby,
                 0xe3: self.idle, 0xe5: self.check, 0xe6: self.sleep}
        old = {0xe0: 0x94, 0xe1: 0x95, 0xe2: 0x96, 0xe3: 0x97, 0xe5: 0x98, 0xe6: 0x99}
        return table | {old[opcode]: function for opcode, function in table.items()}

    def standby_immediate(self, tf, data):
        if smart := self.drive.feature("smart"):
            smart.end_test(smart.INTERRUPTED)
        self.mode = "standby"
        return Result()

    def idle_immediate(self, tf, data):
        self.enter_idle()
        return Result(lba=0xc4 if tf.feature == 0x44 else 0)   # C4h: heads are unloaded

    def enter_idle(self):
        self.spin_up()
        self.mode = "idle_a" if self.drive.epc and self.drive.epc.value else "idle"

    def set_timer(self, tf):
        self.value = tf.count & 0xff
        if self.drive.epc and self.drive.epc.value:
            self.drive.epc.set_standby(standby_seconds(self.value) * 10)

    def standby(self, tf, data):
        self.set_timer(tf)
        return self.standby_immediate(tf, data)

    def idle(self, tf, data):
        self.set_timer(tf)
        self.enter_idle()
        return Result()

    def check(self, tf, data):
        return Result(count=MODES[self.mode])

    def sleep(self, tf, data):
        self.mode = "sleep"
        return Result()

    def require_awake(self):
        """Raises NoAnswer in Sleep mode, in which the drive reacts only to a reset."""
        if self.mode == "sleep":
            raise NoAnswer
