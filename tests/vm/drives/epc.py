"""Extended power conditions: timers that put a drive into ever deeper idle and standby conditions.

SET FEATURES 4Ah as in ACS-3 and the OEM specification of WD's Ultrastar DC HC310 (9.19,
11.46.6). The log page has the layout that openSeaChest and smartmontools read.
"""

import struct
from dataclasses import dataclass

from .feature import KEPT, Feature
from .taskfile import abort

ALL = 0xff
MINUTE = 600                # in units of 100 ms


@dataclass
class Condition:
    """One power condition; timers are in units of 100 ms."""

    ident: int
    place: int              # offset of the condition's descriptor in the log page
    default: int
    default_enabled: bool
    minimum: int = 10
    maximum: int = 0xffff * MINUTE
    recovery: int = 10
    saveable: bool = True
    changeable: bool = True
    current: int = 0
    enabled: bool = False
    saved: int = 0          # 0: no saved value
    saved_enabled: bool = None

    def __post_init__(self):
        if self.saved_enabled is None:
            self.saved_enabled = self.default_enabled
        self.load()

    def load(self):
        """Loads the saved or default timer, at power-on and when the feature set is enabled."""
        self.current = self.saved or self.default
        self.enabled = self.saved_enabled

    def save(self):
        self.saved, self.saved_enabled = self.current, self.enabled

    def descriptor(self):
        flags = 1 << 7 | self.saveable << 6 | self.changeable << 5 | self.default_enabled << 4 | \
            self.saved_enabled << 3 | self.enabled << 2
        return struct.pack("<BBHIIIIII", 0, flags, 0, self.default, self.saved, self.current,
                           self.recovery, self.minimum, self.maximum)


def conditions():
    """Returns all five conditions by name, shallow ones first."""
    return {
        "idle_a": Condition(0x81, 0, 20, True, minimum=1, recovery=1),
        "idle_b": Condition(0x82, 64, 10 * MINUTE, True, minimum=50, recovery=10),
        "idle_c": Condition(0x83, 128, 20 * MINUTE, False, recovery=40),
        "standby_y": Condition(0x01, 512 + 384, 30 * MINUTE, False, recovery=80),
        "standby_z": Condition(0x00, 512 + 448, 60 * MINUTE, False, recovery=150),
    }


class Epc(Feature):
    """The feature set. The value is True if it is enabled. The value and saved timers survive
    all resets and power loss. `out_of_range` selects the treatment of a timer outside the
    limits: "clamp" or "abort"."""

    name = "epc"
    volatile = False
    over_reset = KEPT

    def __init__(self, drive, default, out_of_range="clamp", without=(), fixed=()):
        super().__init__(drive, default)
        self.conditions = {name: each for name, each in conditions().items() if name not in without}
        for name in fixed:
            self.conditions[name].changeable = self.conditions[name].saveable = False
        self.out_of_range = out_of_range
        self.power_source = 0

    def power_on(self):
        self.power_source = 0
        for each in self.conditions.values():
            each.load()

    def state(self):
        timers = {name: each.current if each.enabled else None for name, each in self.conditions.items()}
        saved = {f"{name}_saved": each.saved if each.saved_enabled else None
                 for name, each in self.conditions.items()}
        return {"epc": self.value} | timers | saved

    def words(self, words):
        words[119] |= 1 << 7
        words[120] |= self.value << 7

    def subcommands(self):
        return {(0x4a, None): self.command}

    def gpl_logs(self):
        return {0x08: self.log}

    def log(self):
        pages = bytearray(1024)
        for each in self.conditions.values():
            descriptor = each.descriptor()
            pages[each.place:each.place + len(descriptor)] = descriptor
        return bytes(pages)

    def command(self, tf):
        subcommand = tf.lba & 0x0f
        functions = (self.restore, self.go_to, self.set_timer, self.set_state)
        if subcommand == 4:
            self.enable()
        elif subcommand == 5:
            self.value = False
        elif subcommand == 6 and tf.count <= 2:
            self.power_source = tf.count
        elif subcommand < len(functions) and self.value:
            functions[subcommand](tf)
        else:
            raise abort()

    def enable(self):
        self.value = True
        for each in self.conditions.values():
            each.load()
        if apm := self.drive.feature("apm"):
            apm.disable_for_epc()

    def selected(self, tf, change=True):
        """Returns the conditions selected by COUNT. Aborts if one of them does not permit the change."""
        chosen = [each for each in self.conditions.values() if tf.count in (each.ident, ALL)]
        save = tf.lba >> 4 & 1
        if not chosen or any(change and not each.changeable or save and not each.saveable for each in chosen):
            raise abort()
        return chosen

    def restore(self, tf):
        for each in self.selected(tf):
            if tf.lba >> 6 & 1:
                each.current, each.enabled = each.default, each.default_enabled
            else:
                each.current, each.enabled = each.saved, each.saved_enabled
            if tf.lba >> 4 & 1:
                each.save()

    def go_to(self, tf):
        if tf.count == ALL:
            raise abort()
        [chosen] = self.selected(tf, change=False)
        [name] = [name for name, each in self.conditions.items() if each is chosen]
        self.drive.power.enter(name)

    def set_timer(self, tf):
        timer = (tf.lba >> 8 & 0xffff) * (MINUTE if tf.lba >> 7 & 1 else 1)
        chosen = self.selected(tf)
        if timer and self.out_of_range == "abort" and \
                any(not each.minimum <= timer <= each.maximum for each in chosen):
            raise abort()
        for each in chosen:
            each.current = min(max(timer, each.minimum), each.maximum) if timer else 0
            each.enabled = bool(tf.lba >> 5 & 1 and timer)
            if tf.lba >> 4 & 1:
                each.save()

    def set_state(self, tf):
        for each in self.selected(tf):
            each.enabled = bool(tf.lba >> 5 & 1)
            if tf.lba >> 4 & 1:
                each.saved_enabled = each.enabled

    def set_standby(self, tenths):
        """Sets the timer of Standby_z. The commands IDLE and STANDBY set this timer, too."""
        if each := self.conditions.get("standby_z"):
            each.current, each.enabled = tenths, bool(tenths)

    def due(self, seconds):
        """Returns the deepest condition whose timer has expired after this many seconds, or None."""
        if not self.value:
            return None
        due = [name for name, each in self.conditions.items()
               if each.enabled and each.current and seconds * 10 >= each.current]
        return due[-1] if due else None
