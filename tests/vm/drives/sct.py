"""SMART Command Transport (SCT): error recovery control and feature control."""

import struct

from .feature import KEPT, LOST, Feature
from .smart import KEY, LOG_SCT
from .taskfile import Result, abort

ERROR_RECOVERY, FEATURE_CONTROL = 3, 4
INVALID_FUNCTION, INVALID_STATE = 0x0004, 0x0005


class Sct(Feature):
    """The transport and error recovery control. The value is the pair (read, write) of time
    limits in units of 100 ms, 0 for none. Power loss replaces these limits with the limits at
    power-on. SCT functions 3, 4 and 5 set, read and reset the limits at power-on. With `kept` the
    present limits survive a COMRESET, with and without software settings preservation."""

    name = "erc"

    def __init__(self, drive, default, minimum, kept, control=None):
        super().__init__(drive, tuple(default))
        self.factory = self.default
        self.minimum = minimum
        self.over_reset = KEPT if kept else LOST
        self.control = control           # a FeatureControl, or None
        self._outcome = (0, 0, 0)        # extended status, action, function

    def power_on(self):
        super().power_on()
        self._outcome = (0, 0, 0)

    def state(self):
        return {"erc": self.value, "erc_at_power_on": self.default}

    def words(self, words):
        words[206] |= 1 << 0 | 1 << 3

    def smart_logs(self):
        return {LOG_SCT: self.status}

    def gpl_logs(self):
        return {LOG_SCT: self.status}

    def status(self):
        page = bytearray(512)
        struct.pack_into("<HHHI", page, 0, 3, 1, 1, 0)
        page[10] = 0 if self.drive.power.mode == "active" else 1
        struct.pack_into("<HHH", page, 14, *self._outcome)
        page[200:206] = bytes((35, 25, 40, 20, 45, 0))     # temperatures
        struct.pack_into("<HH", page, 214, 0xc24f, self.minimum)
        return bytes(page)

    def command(self, data):
        """Executes a command of 512 bytes. A value that the command reads is in COUNT and LBA of the result."""
        action, function, *words = struct.unpack_from("<5H", data)
        if action == ERROR_RECOVERY:
            outcome = self._check(function, *words[:2])
        elif action == FEATURE_CONTROL and self.control:
            outcome = self.control.check(function, *words)
        else:
            outcome = 0x0003                 # unknown action
        self._outcome = (outcome, action, function)
        if outcome:
            raise abort()
        obey = self._limit if action == ERROR_RECOVERY else self.control.obey
        value = obey(function, *words)
        return Result() if value is None else Result(count=value & 0xff, lba=KEY << 8 | value >> 8)

    def _check(self, function, selection, limit):
        """Returns the extended status code of a command; 0 for a valid command."""
        if function not in (1, 2, 3, 4, 5):
            return INVALID_FUNCTION
        if selection not in (1, 2):
            return INVALID_STATE
        if function in (1, 3) and 0 < limit < self.minimum:
            return 0x0005 + selection     # status 6 or 7: the limit for reading or for writing is below the minimum
        return 0

    def _limit(self, function, selection, limit, _):
        which = selection - 1
        if function in (2, 4):
            return (self.value if function == 2 else self.default)[which]
        if function in (3, 5):
            self.default = _with(self.default, which, limit if function == 3 else self.factory[which])
        if function in (1, 5):
            self.value = _with(self.value, which, limit if function == 1 else self.factory[which])
        return None


class FeatureControl(Feature):
    """SCT feature control. The value maps each feature code to a state. A state that was set with
    the persistent option survives power loss.

    code 1    the write cache; state 1: SET FEATURES turns the cache on and off; 2: on; 3: off
    code 2    reordering by the write cache; state 1: on; 2: off
    code 3    the temperature log; the state is the number of minutes between entries
    """

    name = "sct_features"
    over_reset = KEPT
    STATES = {1: {1, 2, 3}, 2: {1, 2}, 3: set(range(1, 0x10000))}
    FORCED = {1: None, 2: True, 3: False}

    def __init__(self, drive):
        super().__init__(drive, {1: 1, 2: 1, 3: 1})
        self.saved = {}
        self.value, self.options = dict(self.default), {}

    def power_on(self):
        self.value = {**self.default, **self.saved}
        self.options = dict.fromkeys(self.saved, 1)
        self._force()

    def state(self):
        return {"write_cache_forced": self.FORCED[self.value[1]],
                "write_cache_reordering": self.value[2] == 1, "temperature_interval": self.value[3],
                "write_cache_persistent": 1 in self.saved}

    def words(self, words):
        words[206] |= 1 << 4

    def check(self, function, code, state, options):
        if function not in (1, 2, 3):
            return INVALID_FUNCTION
        if code not in self.STATES or function == 1 and state not in self.STATES[code]:
            return INVALID_STATE
        return 0

    def obey(self, function, code, state, options):
        if function == 2:
            return self.value[code]
        if function == 3:
            return self.options.get(code, 0)
        self.value[code], self.options[code] = state, options & 1
        if options & 1:
            self.saved[code] = state
        self._force()
        return None

    def _force(self):
        if cache := self.drive.feature("write_cache"):
            cache.force(self.FORCED[self.value[1]])


def _with(pair, which, value):
    return (value, pair[1]) if which == 0 else (pair[0], value)
