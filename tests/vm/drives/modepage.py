"""Mode pages of a SCSI disk: current, default and saved values, and changeable bits.

Layouts as in SPC-4 and SBC-3, and in sdparm's tables.
"""

import struct

CURRENT, CHANGEABLE, DEFAULT, SAVED = range(4)      # the page control field
ERROR_RECOVERY, CACHING, CONTROL, POWER_CONDITION, EXCEPTIONS = 0x01, 0x08, 0x0a, 0x1a, 0x1c

# Timers of the power condition page: (byte and bit that enable the timer, offset of the timer)
POWER_TIMERS = {"idle_a": (3, 1, 4), "standby_z": (3, 0, 8), "idle_b": (3, 2, 12), "idle_c": (3, 3, 16),
                "standby_y": (2, 0, 20)}


class Page:
    """One page. Its values exclude the page's header of two bytes. PS is set if the page can be saved."""

    def __init__(self, code, default, changeable, saveable=True):
        self.code, self.saveable = code, saveable
        self.default = self.saved = self.current = bytes(default)
        self.changeable = bytes(changeable)

    def power_on(self):
        self.current = self.saved

    def value(self, control):
        return {CURRENT: self.current, CHANGEABLE: self.changeable, DEFAULT: self.default,
                SAVED: self.saved}[control]

    def image(self, control):
        return bytes([self.code | self.saveable << 7, len(self.default)]) + self.value(control)

    def field(self, place, size=1):
        """Returns a number of the current values. `place` is the offset from the page's first byte."""
        return int.from_bytes(self.current[place - 2:place - 2 + size], "big")

    def bit(self, byte, bit):
        return bool(self.field(byte) >> bit & 1)

    def allows(self, wanted):
        """Returns true if the new values differ only in changeable bits."""
        return len(wanted) == len(self.current) and \
            all((old ^ new) & ~mask & 0xff == 0 for old, new, mask in zip(self.current, wanted, self.changeable))


def error_recovery(limit_ms):
    """The error recovery page: AWRE and ARRE on, retries, the recovery time limit in the last two bytes."""
    return Page(ERROR_RECOVERY, bytes([0xc0, 20, 0, 0, 0, 0, 20, 0]) + struct.pack(">H", limit_ms),
                bytes([0xff, 0xff, 0, 0, 0, 0, 0xff, 0, 0xff, 0xff]))


def caching(enabled, saveable):
    """The caching page: WCE, RCD, the pre-fetch limits and DRA."""
    return Page(CACHING, bytes([enabled << 2, 0]) + struct.pack(">4H", 0xffff, 0, 0xffff, 0xffff) + bytes(8),
                bytes([0x05, 0]) + b"\xff" * 8 + bytes([0x20]) + bytes(7), saveable)


def control(descriptor_sense):
    return Page(CONTROL, bytes([descriptor_sense << 2, 0x10]) + bytes(8), bytes([0x04, 0xf0]) + bytes(8))


def power_condition(timers):
    """The power condition page: timers by name in units of 100 ms. None: disabled, with a timer of 0."""
    values, mask = bytearray(38), bytearray(38)
    for name, (byte, bit, place) in POWER_TIMERS.items():
        mask[byte - 2] |= 1 << bit
        mask[place - 2:place + 2] = b"\xff" * 4
        if timers.get(name) is not None:
            values[byte - 2] |= 1 << bit
            values[place - 2:place + 2] = timers[name].to_bytes(4, "big")
    return Page(POWER_CONDITION, values, mask)


def exceptions():
    return Page(EXCEPTIONS, bytes(10), bytes([0x08, 0x0f]) + b"\xff" * 8)
