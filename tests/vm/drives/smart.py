"""The SMART commands and logs that smartctl needs."""

import struct
import time

from .feature import Feature
from .taskfile import Result, abort

KEY = 0xc24f        # LBA 23:8 of every SMART command
LOG_SCT = 0xe0

# id, flags, current value, threshold
ATTRIBUTES = ((4, 0x32, 100, 20), (5, 0x33, 100, 10), (9, 0x32, 100, 0),
              (12, 0x32, 100, 20), (193, 0x32, 100, 0), (194, 0x22, 65, 0))


def _sum_to_zero(page):
    page[511] = -sum(page[:511]) & 0xff
    return bytes(page)


class Smart(Feature):
    """SMART. The value is True if SMART is enabled. The value survives power loss.

    A self-test runs until `end_test`, power loss or a standby command."""

    name = "smart"
    volatile = False

    # Results of the last self-test
    COMPLETED, ABORTED, INTERRUPTED, RUNNING = 0x0, 0x1, 0x2, 0xf

    def __init__(self, drive, default):
        super().__init__(drive, default)
        self.self_test = self.COMPLETED

    def power_on(self):
        super().power_on()
        self.end_test(self.INTERRUPTED)

    def end_test(self, outcome=COMPLETED):
        """Ends a running self-test."""
        if self.self_test == self.RUNNING:
            self.self_test = outcome

    def state(self):
        return super().state() | {"self_test": self.self_test}

    def words(self, words):
        words[82] |= 1
        words[84] |= 1 << 5 | 0x0003     # bit 5: general purpose logs; bits 1 and 0: self-test and error log
        if self.value:
            words[85] |= 1

    def commands(self):
        return {0xb0: self.smart, 0x2f: self.read_log_ext, 0x3f: self.write_log_ext}

    def smart(self, tf, data):
        if tf.lba >> 8 & 0xffff != KEY:
            raise abort()
        if tf.feature == 0xd8:
            self.value = True
            return Result()
        if not self.value:
            raise abort()
        function = {0xd0: self.read_data, 0xd1: self.read_thresholds, 0xd2: self.accept,
                    0xd4: self.execute_test, 0xd5: self.read_log, 0xd6: self.write_log,
                    0xd9: self.disable, 0xda: self.status, 0xdb: self.accept}.get(tf.feature)
        if function is None:
            raise abort()
        return function(tf, data)

    def accept(self, tf, data):
        return Result()

    def execute_test(self, tf, data):
        """Starts a self-test; off-line data collection (0) ends at once."""
        if tf.lba & 0xff in (1, 2):
            self.drive.power.spin_up()
            self.self_test = self.RUNNING
        elif tf.lba & 0xff == 0x7f:
            self.end_test(self.ABORTED)
        return Result()

    def disable(self, tf, data):
        self.value = False
        return Result()

    def status(self, tf, data):
        return Result(lba=KEY << 8)       # the unchanged key means that no threshold is exceeded

    def read_data(self, tf, data):
        self.drive.power.spin_up()
        page = bytearray(512)
        page[0] = 16
        hours = int(time.monotonic() - self.drive.powered_since) // 3600
        raw = {4: self.drive.power.spin_ups, 9: hours, 12: self.drive.power_cycles,
               193: self.drive.power.load_cycles, 194: 35}
        for i, (ident, flags, current, _) in enumerate(ATTRIBUTES):
            struct.pack_into("<BHBBIH", page, 2 + 12 * i, ident, flags, current, current,
                             raw.get(ident, 0), 0)
        page[363] = self.self_test << 4 | (9 if self.self_test == self.RUNNING else 0)   # 90 % of the test remain
        page[367], page[368], page[370] = 0x1b, 0x03, 0x01
        page[372], page[373] = 1, 1
        return Result(data=_sum_to_zero(page))

    def read_thresholds(self, tf, data):
        page = bytearray(512)
        page[0] = 16
        for i, (ident, _, _, threshold) in enumerate(ATTRIBUTES):
            page[2 + 12 * i], page[3 + 12 * i] = ident, threshold
        return Result(data=_sum_to_zero(page))

    def read_log(self, tf, data):
        self.drive.power.spin_up()
        return Result(data=self._pages(self.drive.smart_logs, tf.lba & 0xff, 0, tf.count))

    def read_log_ext(self, tf, data):
        self.drive.power.spin_up()
        first = tf.lba >> 8 & 0xff | tf.lba >> 24 & 0xff00
        return Result(data=self._pages(self.drive.gpl_logs, tf.lba & 0xff, first, tf.count))

    def write_log_ext(self, tf, data):
        if tf.lba >> 8:
            raise abort()
        return self.write_log(tf, data)

    def _pages(self, logs, address, first, count):
        if address not in logs:
            raise abort()
        pages = logs[address]()
        if not 0 < count <= len(pages) // 512 - first:
            raise abort()
        return pages[first * 512:(first + count) * 512]

    def write_log(self, tf, data):
        if tf.lba & 0xff != LOG_SCT or self.drive.sct is None:
            raise abort()
        return self.drive.sct.command(data)

    def smart_logs(self):
        return {0x00: lambda: self._directory(self.drive.smart_logs),
                0x01: self.error_log, 0x06: self.self_test_log}

    def gpl_logs(self):
        return {0x00: lambda: self._directory(self.drive.gpl_logs),
                0x03: self.extended_error_log, 0x04: self.statistics, 0x07: self.self_test_log}

    def _directory(self, logs):
        page = bytearray(512)
        page[0] = 1
        for address in logs:
            if address:
                page[2 * address] = len(logs[address]()) // 512
        return bytes(page)

    def error_log(self):
        page = bytearray(512)
        page[0] = 1
        return _sum_to_zero(page)

    def extended_error_log(self):
        page = bytearray(512)
        page[0] = 1
        return _sum_to_zero(page)

    def statistics(self):
        """Returns two pages of device statistics: the list of pages, and the general statistics."""
        pages = bytearray(2 * 512)
        struct.pack_into("<HBxI", pages, 0, 1, 0, 0)
        pages[8:11] = bytes((2, 0, 1))
        struct.pack_into("<HBxI", pages, 512, 1, 1, 0)
        hours = int(time.monotonic() - self.drive.powered_since) // 3600
        for place, value in ((8, self.drive.power_cycles), (16, hours)):
            struct.pack_into("<Q", pages, 512 + place, 0xc0 << 56 | value)    # flags: supported, valid
        return bytes(pages)

    def self_test_log(self):
        page = bytearray(512)
        page[0] = 1
        return _sum_to_zero(page)
