"""Tests of the SCSI disk; part of drives.selftest."""

import concurrent.futures
import struct
import time
import unittest
import unittest.mock

from .sat import CHECK_CONDITION, GOOD
from .scsi import Request, ScsiDisk

CURRENT, CHANGEABLE, DEFAULT, SAVED = range(4)


class Case(unittest.TestCase):
    def disk(self, **options):
        disk = ScsiDisk(**options)
        while self.send(disk, bytes(6)).status == CHECK_CONDITION:
            pass                                     # clears unit attentions
        return disk

    def send(self, disk, cdb, data=b"", length=4096):
        return disk.execute(Request(bytes(cdb), length), data)

    def good(self, *arguments, **more):
        answer = self.send(*arguments, **more)
        self.assertEqual((answer.status, answer.sense.hex()), (GOOD, ""))
        return answer.data

    def fails(self, code, disk, cdb, data=b""):
        """Asserts that the command ends with this sense key, ASC and ASCQ."""
        answer = self.send(disk, cdb, data)
        self.assertEqual((answer.status, answer.sense[2], *answer.sense[12:14]), (CHECK_CONDITION, *code))

    def sense(self, disk):
        data = self.good(disk, [3, 0, 0, 0, 252, 0])
        return data[2], data[12], data[13]

    def page(self, disk, code, control=CURRENT):
        """Returns the values of a mode page, header included."""
        data = self.good(disk, [0x5a, 8, control << 6 | code, 0, 0, 0, 0, 1, 0, 0])
        self.assertEqual(struct.unpack_from(">H", data)[0], len(data) - 2)
        return bytearray(data[8:])

    def select(self, page, save=False):
        page = bytes([page[0] & 0x3f]) + bytes(page[1:])
        return [0x55, 0x10 | save, 0, 0, 0, 0, 0, 0, 8 + len(page), 0], bytes(8) + page


class Slow(ScsiDisk):
    """Counts simultaneous commands."""
    busy = 0

    def _pause(self, seconds):
        self.busy += 1
        super()._pause(seconds)


class Lanes(Case):
    READ = bytes([0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0])

    def wait(self, condition):
        while not condition():
            time.sleep(0.01)

    def test_simultaneous_commands(self):
        disk = Slow(lanes=3, seconds=3600)
        self.send(disk, bytes(6))
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            reads = [pool.submit(self.send, disk, self.READ) for _ in range(5)]
            self.wait(lambda: len(disk._queue) == 5 and disk.busy == 3)
            disk.comreset()
            self.assertEqual([read.result() for read in reads], [None] * 5)
        self.assertEqual(disk.busy, 3)
        self.fails((6, 0x29, 2), disk, bytes(6))

    def test_successive_commands(self):
        disk = Slow(seconds=0.01)
        self.send(disk, bytes(6))
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual([len(answer.data) for answer in pool.map(lambda _: self.send(disk, self.READ), range(4))], [512] * 4)
        self.assertGreaterEqual(time.monotonic() - begun, 0.04)
        self.assertEqual((disk.busy, disk._queue), (4, []))


class ModePages(Case):
    def test_write_cache(self):
        disk = self.disk(write_cache=True)
        page = self.page(disk, 8)
        self.assertEqual((page[0], page[1], page[2] & 4), (0x88, 0x12, 4))
        page[2] &= ~4
        self.good(disk, *self.select(page))
        self.assertEqual([self.page(disk, 8, control)[2] & 4 for control in (CURRENT, CHANGEABLE, DEFAULT, SAVED)],
                         [0, 4, 4, 4])
        disk.power_cycle()
        self.assertTrue(disk["write_cache"])
        self.fails((6, 0x29, 1), disk, bytes(6))
        self.good(disk, *self.select(page, save=True))
        disk.comreset()
        self.assertFalse(disk["write_cache"])
        self.fails((6, 0x29, 2), disk, bytes(6))
        self.assertEqual(self.page(disk, 8, DEFAULT)[2] & 4, 4)

    def test_six_byte_commands(self):
        disk = self.disk()
        data = bytearray(self.good(disk, [0x1a, 0, 0x08, 0, 252, 0]))
        self.assertEqual((data[0], data[3], data[12]), (len(data) - 1, 8, 0x88))
        data[0], data[12], data[14] = 0, 0x08, 4
        self.good(disk, [0x15, 0x10, 0, 0, len(data), 0], bytes(data))
        self.assertTrue(disk["write_cache"])
        everything = self.good(disk, [0x1a, 8, 0x3f, 0, 252, 0])
        self.assertEqual([everything[4], len(everything)], [0x81, 4 + 12 + 20 + 12 + 40 + 12])

    def test_refusals(self):
        disk = self.disk(saveable_cache=False)
        self.assertEqual(self.page(disk, 8)[0], 0x08)
        self.fails((5, 0x39, 0), disk, [0x5a, 8, SAVED << 6 | 8, 0, 0, 0, 0, 1, 0, 0])
        self.fails((5, 0x24, 0), disk, [0x5a, 8, 0x0b, 0, 0, 0, 0, 1, 0, 0])
        page = self.page(disk, 8)
        cdb, data = self.select(page)
        self.fails((5, 0x24, 0), disk, [0x55, 0, *cdb[2:]], data)                 # PF is 0
        self.fails((5, 0x24, 0), disk, *self.select(page, save=True))
        self.fails((5, 0x26, 0), disk, cdb, data[:8] + bytes([data[8] | 0x80]) + data[9:])    # the reserved bit PS is 1
        self.fails((5, 0x26, 0), disk, cdb, bytes([0, 1]) + data[2:])             # the mode data length is not 0
        page[13] ^= 1
        self.fails((5, 0x26, 0), disk, *self.select(page))                        # an unchangeable bit has a new value

    def test_recovery_limit_is_rounded(self):
        disk = self.disk(recovery_granularity=50, recovery_minimum=40)
        page = self.page(disk, 1)
        for wanted, taken in ((7000, 7000), (0, 0), (7001, 7050), (10, 50)):
            page[10:12] = wanted.to_bytes(2, "big")
            if wanted == taken:
                self.good(disk, *self.select(page))
            else:
                self.fails((1, 0x37, 0), disk, *self.select(page))
            self.assertEqual(disk["recovery_limit"], taken)

    def test_another_host_changes_a_page(self):
        disk = self.disk(write_cache=True)
        disk.change_by_other(8, 2, b"\0")
        self.fails((6, 0x2a, 1), disk, [0x5a, 8, 8, 0, 0, 0, 0, 1, 0, 0])
        self.assertEqual(self.page(disk, 8)[2], 0)

    def test_descriptor_sense(self):
        disk = self.disk()
        page = self.page(disk, 0x0a)
        page[2] |= 4
        self.good(disk, *self.select(page))
        self.assertEqual(self.send(disk, [0xff] * 6).sense[:4], bytes([0x72, 5, 0x20, 0]))


class LogPages(Case):
    def log(self, disk, code, length=252):
        """Returns the parameters of a log page by their codes."""
        data = self.good(disk, [0x4d, 0, 0x40 | code, 0, 0, 0, 0, length >> 8, length & 0xff, 0])
        self.assertEqual((data[0], struct.unpack_from(">H", data, 2)[0]), (code, len(data) - 4))
        found, rest = {}, data[4:]
        while rest:
            number, _, size = struct.unpack_from(">HBB", rest)
            found[number], rest = rest[4:4 + size], rest[4 + size:]
        return found

    def test_list_of_pages(self):
        disk = self.disk()
        self.assertEqual(self.good(disk, [0x4d, 0, 0x40, 0, 0, 0, 0, 0, 252, 0]).hex(" "), "00 00 00 03 00 0d 0e")
        self.assertEqual({code: value[1] for code, value in self.log(disk, 0x0d).items()}, {0: 29, 1: 85})
        self.assertEqual(self.good(disk, [0x4d, 0, 0x4e, 0, 0, 0, 0, 0, 4, 0]).hex(" "), "0e 00 00 34")
        self.fails((5, 0x24, 0), disk, [0x4d, 0, 0x4f, 0, 0, 0, 0, 0, 252, 0])
        self.fails((5, 0x24, 0), disk, [0x4d, 0, 0x4e, 1, 0, 0, 0, 0, 252, 0])

    def counts(self, disk):
        found = self.log(disk, 0x0e)
        self.assertEqual((found[1], found[2]), (b"202617", b" " * 6))
        return [int.from_bytes(found[code], "big") for code in (3, 4, 5, 6)]

    def test_wear(self):
        disk = self.disk(rated=(10000, 300000))
        read = [0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0]
        self.assertEqual(self.counts(disk), [10000, 0, 300000, 0])
        for modifier, byte, unloads in ((0, 0x20, 0), (1, 0x20, 1), (2, 0x20, 1), (0, 0x30, 1)):
            self.good(disk, [0x1b, 0, 0, modifier, byte, 0])
            self.assertEqual(self.counts(disk), [10000, 0, 300000, unloads])
        self.assertEqual(disk["mode"], "standby_z")              # LOG SENSE does not wake the disk
        self.good(disk, read)
        self.good(disk, [0x1b, 0, 0, 0, 0, 0])
        disk.comreset()
        self.fails((6, 0x29, 2), disk, bytes(6))
        self.assertEqual(self.counts(disk), [10000, 1, 300000, 2])
        self.good(disk, [0x1b, 0, 0, 0, 1, 0])
        self.assertEqual(self.counts(disk), [10000, 2, 300000, 2])


class Power(Case):
    def test_by_command(self):
        disk = self.disk()
        for byte, modifier, code in ((0x20, 0, 3), (0x20, 1, 6), (0x20, 2, 8), (0x30, 1, 0x0a), (0x30, 0, 4)):
            self.good(disk, [0x1b, 0, 0, modifier, byte, 0])
            self.assertEqual(self.sense(disk), (0, 0x5e, code))
            self.good(disk, bytes(6))
        self.good(disk, [0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0])
        self.assertEqual((self.sense(disk), disk["spin_ups"]), ((0, 0, 0), 1))
        self.good(disk, [0x1b, 0, 0, 0, 0, 0])
        self.fails((2, 4, 2), disk, bytes(6))
        self.fails((2, 4, 2), disk, [0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0])
        self.assertEqual(self.sense(disk), (2, 4, 2))
        self.good(disk, [0x1b, 0, 0, 0, 1, 0])
        self.good(disk, bytes(6))
        self.fails((5, 0x24, 0), disk, [0x1b, 0, 0, 3, 0x20, 0])

    def test_spin_up_by_read_or_start(self):
        """A read ends a standby condition; only START ends the stopped state."""
        disk = self.disk()
        read = [0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0]
        self.good(disk, [0x1b, 0, 0, 0, 0x30, 0])
        self.assertEqual((disk["mode"], self.sense(disk)), ("standby_z", (0, 0x5e, 4)))
        self.good(disk, read)
        self.assertEqual((disk["mode"], disk["spin_ups"]), ("active", 1))
        self.good(disk, [0x1b, 0, 0, 0, 0, 0])
        for _ in range(2):
            self.fails((2, 4, 2), disk, read)
        self.assertEqual((disk["mode"], disk["spin_ups"]), ("stopped", 1))
        self.good(disk, [0x1b, 0, 0, 0, 1, 0])
        self.good(disk, read)
        self.assertEqual((disk["mode"], disk["spin_ups"]), ("active", 2))

    def test_without_power_conditions(self):
        disk = self.disk(power_conditions=False)
        self.fails((5, 0x24, 0), disk, [0x1b, 0, 0, 0, 0x30, 0])
        self.assertEqual(disk["mode"], "active")
        self.good(disk, [0x1b, 0, 0, 0, 0, 0])
        self.assertEqual((disk["mode"], self.sense(disk)), ("stopped", (2, 4, 2)))

    def test_self_test(self):
        disk = self.disk()
        disk.self_test = True
        self.assertEqual(self.sense(disk), (0, 4, 9))
        self.good(disk, [0x1b, 0, 0, 0, 0x30, 0])
        self.assertEqual((disk.self_test, self.sense(disk)), (False, (0, 0x5e, 4)))

    @unittest.mock.patch("time.monotonic", return_value=1000)
    def test_by_timer(self, clock):
        disk = self.disk(time_scale=100)
        page = self.page(disk, 0x1a)
        page[3] |= 1 << 2 | 1                                    # enables the timers of idle_b (5 s) and standby_z (10 s)
        page[12:16], page[8:12] = (50).to_bytes(4, "big"), (100).to_bytes(4, "big")
        self.good(disk, *self.select(page))
        self.assertEqual((disk["idle_b"], disk["standby_z"], disk["idle_a"]), (50, 100, None))
        clock.return_value += 0.07
        self.assertEqual(self.sense(disk), (0, 0x5e, 5))
        clock.return_value += 0.05
        self.assertEqual(self.sense(disk), (0, 0x5e, 2))         # REQUEST SENSE did not restart the timer
        self.good(disk, [0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0])
        self.assertEqual(self.sense(disk), (0, 0, 0))


class Identity(Case):
    def test_pages(self):
        disk = self.disk(serial="S1", rpm=10000)
        pages = self.good(disk, [0x12, 1, 0, 0, 252, 0])
        self.assertEqual(pages[4:].hex(" "), "00 80 83 8a b0 b1")
        self.assertEqual(self.good(disk, [0x12, 1, 0x80, 0, 252, 0])[4:], b"S1")
        self.assertEqual(self.good(disk, [0x12, 1, 0x83, 0, 252, 0])[8:16].hex(), disk.wwn)
        self.assertEqual(self.good(disk, [0x12, 1, 0xb1, 0, 252, 0])[4:6], struct.pack(">H", 10000))
        self.fails((5, 0x24, 0), disk, [0x12, 1, 0x89, 0, 252, 0])
        self.fails((5, 0x20, 0), disk, [0x85] + [0] * 15)        # the disk has no ATA PASS-THROUGH

    def test_medium_and_faults(self):
        disk = self.disk()
        self.good(disk, [0x2a, 0, 0, 0, 0, 7, 0, 0, 1, 0], b"x" * 512)
        self.assertEqual(self.good(disk, [0x28, 0, 0, 0, 0, 7, 0, 0, 1, 0]), b"x" * 512)
        self.fails((5, 0x21, 0), disk, [0x28, 0, 0xff, 0, 0, 0, 0, 0, 1, 0])
        disk.inject("sense", command=0x5a, feature=8, sense=(5, 0x24, 0))
        self.fails((5, 0x24, 0), disk, [0x5a, 8, 8, 0, 0, 0, 0, 1, 0, 0])
        disk.inject("ignore", command=0x55)
        page = self.page(disk, 8)
        page[2] |= 4
        self.good(disk, *self.select(page))
        self.assertFalse(disk["write_cache"])
        [entry] = disk.log.since(command=0x55)
        self.assertEqual((entry.name, entry.sets, entry.fault), ("MODE SELECT(10)", True, "ignore"))
        disk.inject("never", command=0)
        self.assertIsNone(self.send(disk, bytes(6)))
