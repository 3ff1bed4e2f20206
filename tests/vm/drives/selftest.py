"""Tests of the drive models, without a virtual machine: python3 -m drives.selftest"""

import os
import struct
import tempfile
import threading
import time
import unittest
import unittest.mock

from . import selftest_nvme, selftest_scsi, selftest_settings
from .log import table
from .mechanics import Mechanics
from .model import AtaDrive
from .power import standby_seconds
from .sat import CHECK_CONDITION, GOOD, Reset, SatBridge
from .taskfile import Taskfile

SMART_KEY = 0xc24f00


def words(drive):
    return struct.unpack("<256H", drive.execute(Taskfile(0xec)).data)


def set_feature(drive, subcommand, count=0, lba=0, **more):
    return drive.execute(Taskfile(0xef, subcommand, count, lba, **more))


def power_mode(drive):
    return drive.execute(Taskfile(0xe5)).count


def sct_erc(drive, function, selection, limit=0):
    data = struct.pack("<4H", 3, function, selection, limit).ljust(512, b"\0")
    return drive.execute(Taskfile(0xb0, 0xd6, 1, SMART_KEY | 0xe0), data)


class Times(unittest.TestCase):
    def test_durations(self):
        times, everything = Mechanics(rates=(40e6, 20e6), rpm=6000, seek=(1e-3, 11e-3), overhead=1e-4), 1 << 30
        self.assertAlmostEqual(times.rate(0.5), 30e6)
        # Half a turn takes 5 ms; the actual delay varies by up to half a turn.
        self.assertAlmostEqual(times.access(1), 16e-3)
        taken = [times.duration(everything // 4 * (1 + i % 2), 8, everything) for i in range(1000)]
        self.assertAlmostEqual(sum(taken) / len(taken), 1e-4 + times.access(0.25) + 4096 / times.rate(0.375), delta=1e-4)
        self.assertGreaterEqual(min(taken), 1e-4 + times.access(0.25) - 5e-3)
        times.duration(0, 8, everything)
        self.assertAlmostEqual(times.duration(8, 1024, everything), 1e-4 + 1024 * 512 / 40e6, places=5)
        self.assertAlmostEqual(times.duration(1032, 1024, everything, ahead=False), 0.01 + 1e-4 + 1024 * 512 / 40e6, places=5)
        times.enough = 1 << 20
        self.assertAlmostEqual(times.duration(2056, 1024, everything), 0.01 + 1e-4 + 1024 * 512 / 40e6, places=5)
        self.assertAlmostEqual(times.duration(3080, 2048, everything), 1e-4 + 2048 * 512 / 40e6, places=5)

    def test_host_is_late(self):
        """A late host does not delay the end of a command. A command after idle time takes its whole time."""
        for lba, pause, left in ((8, 0.03, 0.02), (8, 0.4, 0), (8, 0.6, 0.05), (1, 0.03, 0.02), (1, 0.2, 0.05)):
            times = Mechanics(rates=(1e12, 1e12), rpm=1e12, seek=(0, 0), overhead=0.05)
            for place, now, expected in ((0, 100, 0.05), (lba, 100.05 + pause, left)):
                with unittest.mock.patch.object(time, "monotonic", lambda now=now: now):
                    self.assertAlmostEqual(times.seconds(place, 8, 1 << 30), expected, places=4)

    def test_cache(self):
        times, everything = Mechanics(sorted=0.25, cache=0.01, overhead=1e-4), 1 << 30
        places = [everything // 4 * (1 + i % 2) for i in range(100)]
        taken = [times.cached(place, 8, everything) for place in places]
        self.assertEqual(taken[0], 1e-4)
        self.assertAlmostEqual(times.flush(), 0.01)
        self.assertEqual(times.flush(), 0)
        plain = Mechanics(overhead=1e-4)
        self.assertAlmostEqual(sum(taken) + 0.01 - 100 * 1e-4, 0.25 * sum(plain.duration(place, 8, everything) for place in places), places=4)

    def test_cache_ends(self):
        """Turning the write cache off writes its data out, which takes time; power loss discards the data."""
        for off, least in ((Taskfile(0xef, feature=0x82), 0.05), (None, 0)):
            drive = AtaDrive(mechanics=Mechanics(seek=(0.2, 0.2), rpm=1e9))
            drive.execute(Taskfile(0xca, count=1, lba=1000), bytes(512))
            begun = time.monotonic()
            if off:
                drive.execute(off)
            else:
                drive.power_cycle()
            self.assertGreaterEqual(time.monotonic() - begun, least)
            self.assertEqual(drive.mechanics.flush(), 0)

    def test_drive_takes_the_time(self):
        drive = AtaDrive(mechanics=Mechanics(overhead=0.05))
        begun = time.monotonic()
        drive.execute(Taskfile(0x25, count=1))
        self.assertGreaterEqual(time.monotonic() - begun, 0.05)

    def test_idle_timer_of_apm_level(self):
        for level, rests in ((64, True), (128, False)):
            drive = AtaDrive(apm=level, apm_timers=((127, 0.02, "idle_b"),), wake_seconds={"idle_b": 0.05})
            drive.execute(Taskfile(0x25, count=1))
            time.sleep(0.03)
            self.assertEqual(drive["mode"], "idle_b" if rests else "active")
            begun = time.monotonic()
            drive.execute(Taskfile(0x25, count=1))
            if rests:
                self.assertGreaterEqual(time.monotonic() - begun, 0.05)
            self.assertEqual(drive["load_cycles"], rests)


class Identify(unittest.TestCase):
    def test_checksum_and_identity(self):
        drive = AtaDrive(model="MODEL X", serial="SN 1", wwn="5000c500a1b2c3d4")
        data = drive.execute(Taskfile(0xec)).data
        self.assertEqual(len(data), 512)
        self.assertEqual(data[510], 0xa5)
        self.assertEqual(sum(data) & 0xff, 0)
        swapped = b"".join(data[i:i + 2][::-1] for i in range(0, 512, 2))
        self.assertEqual(swapped[54:94].strip(), b"MODEL X")
        self.assertEqual(swapped[20:40].strip(), b"SN 1")
        self.assertEqual(words(drive)[108:112], (0x5000, 0xc500, 0xa1b2, 0xc3d4))
        self.assertEqual(words(drive)[60], drive.sectors & 0xffff)

    def test_words_follow_state(self):
        drive = AtaDrive(acoustic=254, dsn=False, wrv=False)
        self.assertEqual(words(drive)[83] & 0xc208, 0x4208)
        for place, bit, change in ((85, 5, (0x82,)), (85, 6, (0x55,)), (86, 3, (0x85,)),
                                   (86, 9, (0xc2,)), (79, 6, (0x90, 6))):
            self.assertTrue(words(drive)[place] >> bit & 1)
            set_feature(drive, *change)
            self.assertFalse(words(drive)[place] >> bit & 1, (place, bit))
        for place, bit, change in ((120, 9, (0x63, 1)), (120, 1, (0x0b, 1, 2))):
            self.assertFalse(words(drive)[place] >> bit & 1)
            set_feature(drive, *change)
            self.assertTrue(words(drive)[place] >> bit & 1, (place, bit))
        self.assertEqual(words(drive)[220], 2)
        self.assertEqual(words(drive)[119] & 0xc000, 0x4000)
        drive.execute(Taskfile(0xf5))
        self.assertTrue(words(drive)[128] >> 3 & 1)

    def test_unsupported(self):
        drive = AtaDrive(apm=None, acoustic=None, erc=None, write_cache=None)
        self.assertEqual(words(drive)[83] & 0x0208, 0)
        self.assertEqual(words(drive)[206], 0)
        for subcommand, count in ((0x05, 128), (0x42, 128), (0x02, 0), (0x63, 1), (0x4a, 0)):
            answer = set_feature(drive, subcommand, count)
            self.assertEqual((answer.status & 1, answer.error), (1, 4))


class Forgetting(unittest.TestCase):
    CHANGES = ((0x05, 1), (0x42, 200), (0x82, 0), (0x55, 0), (0x90, 6), (0x0b, 0))

    def changed_drive(self):
        drive = AtaDrive(apm=128, acoustic=254, wrv=False, erc=(70, 70))
        before = drive.state()
        for subcommand, count in self.CHANGES:
            set_feature(drive, subcommand, count)
        sct_erc(drive, 1, 1, 100)
        drive.execute(Taskfile(0xe3, count=12))
        drive.execute(Taskfile(0xf5))
        return drive, before

    def test_power_cycle(self):
        drive, before = self.changed_drive()
        after = drive.state()
        for name in ("apm", "acoustic", "write_cache", "lookahead", "ssp", "wrv", "erc",
                     "standby_timer", "frozen", "mode"):
            self.assertNotEqual(after[name], before[name], name)
        drive.power_cycle()
        self.assertEqual(drive.state(), before)

    def test_comreset(self):
        drive = AtaDrive(apm=128)
        set_feature(drive, 0x05, 1)
        drive.comreset()
        self.assertEqual(drive["apm"], 1)      # kept by software settings preservation
        set_feature(drive, 0x90, 6)
        drive.comreset()
        self.assertEqual(drive["apm"], 128)

    def test_puis_and_content_survive_power_loss(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "disk")
            drive = AtaDrive(path=path, size_mb=1, puis=False)
            set_feature(drive, 0x06)
            drive.execute(Taskfile(0x35, lba=7, count=1, ext=True), b"x" * 512)
            drive.power_cycle()
            self.assertTrue(drive["puis"])
            again = AtaDrive(path=path, size_mb=None)
            self.assertEqual(again.sectors, 2048)
            self.assertEqual(again.execute(Taskfile(0x20, lba=7, count=1)).data, b"x" * 512)


class Settings(unittest.TestCase):
    def test_apm(self):
        drive = AtaDrive(apm_quantum=[1, 64, 128, 254], apm_can_disable=False)
        for asked, taken in ((100, 128), (80, 64), (1, 1), (254, 254)):
            set_feature(drive, 0x05, asked)
            self.assertEqual(words(drive)[91], taken)
        for subcommand, count in ((0x05, 0), (0x05, 255), (0x85, 0)):
            self.assertEqual(set_feature(drive, subcommand, count).error, 4)
        self.assertEqual(drive["apm"], 254)

    def test_erc(self):
        drive = AtaDrive(erc=(70, 70), erc_minimum=65)
        sct_erc(drive, 1, 1, 300)
        answer = sct_erc(drive, 2, 1)
        self.assertEqual((answer.count, answer.lba), (300 & 0xff, 0xc24f01))
        self.assertEqual(sct_erc(drive, 2, 2).count, 70)
        self.assertEqual(sct_erc(drive, 1, 2, 20).error, 4)
        status = drive.execute(Taskfile(0xb0, 0xd5, 1, SMART_KEY | 0xe0)).data
        self.assertEqual(struct.unpack_from("<3H", status, 14), (7, 3, 1))
        self.assertEqual(struct.unpack_from("<H", status, 216), (65,))
        self.assertEqual(drive["erc"], (300, 70))

    def test_smart(self):
        drive = AtaDrive()
        data = drive.execute(Taskfile(0xb0, 0xd0, 1, SMART_KEY)).data
        self.assertEqual(sum(data) & 0xff, 0)
        drive.execute(Taskfile(0xb0, 0xd9, 0, SMART_KEY))
        self.assertEqual(drive.execute(Taskfile(0xb0, 0xd0, 1, SMART_KEY)).error, 4)
        self.assertFalse(words(drive)[85] & 1)
        directory = drive.execute(Taskfile(0x2f, count=1, ext=True)).data
        self.assertEqual((directory[0], directory[2 * 0xe0]), (1, 1))

    def raw(self, drive, ident):
        data = drive.execute(Taskfile(0xb0, 0xd0, 1, SMART_KEY)).data
        [place] = [place for place in range(2, 362, 12) if data[place] == ident]
        return int.from_bytes(data[place + 5:place + 11], "little")

    def test_wear(self):
        drive = AtaDrive(epc=False)
        self.assertEqual((self.raw(drive, 4), self.raw(drive, 193), self.raw(drive, 194)), (0, 0, 35))
        for _ in range(2):                           # self.raw() reads SMART data, which spins up the drive
            drive.execute(Taskfile(0xe0))
            drive.execute(Taskfile(0xe0))
            self.assertEqual(self.raw(drive, 193), self.raw(drive, 4))
        self.assertEqual(self.raw(drive, 193), 2)
        drive.power_cycle()
        self.assertEqual(self.raw(drive, 193), 2)
        set_feature(drive, 0x4a, lba=4)
        for condition, unloads in ((0x81, 2), (0x82, 3), (0x83, 3), (0x00, 3)):
            set_feature(drive, 0x4a, condition, 1)
            self.assertEqual(drive["load_cycles"], unloads)
        self.assertEqual((self.raw(drive, 4), self.raw(drive, 193)), (3, 3))

    def test_wear_at_power_on_in_standby(self):
        drive = AtaDrive(puis=True)
        drive.power_cycle()
        self.assertEqual((drive["mode"], drive["load_cycles"]), ("standby", 0))

    def test_self_test(self):
        drive = AtaDrive()

        def status():
            return drive.execute(Taskfile(0xb0, 0xd0, 1, SMART_KEY)).data[363]

        ends = ((lambda: drive.feature("smart").end_test(), 0x00), (lambda: drive.execute(Taskfile(0xe0)), 0x20),
                (lambda: drive.execute(Taskfile(0xb0, 0xd4, 0, SMART_KEY | 0x7f)), 0x10), (drive.power_cycle, 0x20))
        for end, outcome in ends:
            drive.execute(Taskfile(0xb0, 0xd4, 0, SMART_KEY | 2))
            self.assertEqual(status(), 0xf9)
            end()
            self.assertEqual(status(), outcome)


class PowerModes(unittest.TestCase):
    def test_commands(self):
        drive = AtaDrive()
        self.assertEqual(power_mode(drive), 0xff)
        drive.execute(Taskfile(0xe3, count=0))
        self.assertEqual(power_mode(drive), 0x80)
        drive.execute(Taskfile(0xe0))
        drive.execute(Taskfile(0xec))
        set_feature(drive, 0x05, 1)
        self.assertEqual((power_mode(drive), drive["spin_ups"]), (0, 0))
        drive.execute(Taskfile(0x20, count=1))
        self.assertEqual((power_mode(drive), drive["spin_ups"]), (0xff, 1))

    def test_sleep(self):
        drive = AtaDrive()
        drive.execute(Taskfile(0xe6))
        self.assertIsNone(drive.execute(Taskfile(0xe5)))
        drive.comreset()
        self.assertEqual(power_mode(drive), 0)

    def test_ignored_timer(self):
        drive = AtaDrive(ignores_timer=True)
        drive.execute(Taskfile(0xe3, count=1))
        drive.pass_time(50)
        self.assertEqual((power_mode(drive), drive["standby_seconds"]), (0x80, 5))

    def test_standby_timer(self):
        drive = AtaDrive()
        drive.execute(Taskfile(0xe3, count=2))       # sets the standby timer to 10 s
        self.assertEqual(power_mode(drive), 0x80)
        drive.pass_time(7)
        drive.execute(Taskfile(0x20, count=1))
        drive.pass_time(7)
        self.assertEqual(power_mode(drive), 0xff)    # CHECK POWER MODE does not restart the standby timer
        drive.pass_time(5)
        self.assertEqual(power_mode(drive), 0)
        for value, seconds in ((0, 0), (240, 1200), (241, 1800), (251, 19800), (255, 1275)):
            self.assertEqual(standby_seconds(value), seconds)


class Faults(unittest.TestCase):
    def test_refusals(self):
        drive = AtaDrive()
        for kind, status, error in (("abort", 0x51, 4), ("df", 0x61, 4), ("unc", 0x51, 0x40),
                                    ("ignore", 0x50, 0)):
            fault = drive.inject(kind, command=0xef, feature=5)
            answer = set_feature(drive, 0x05, 1)
            self.assertEqual((answer.status, answer.error), (status, error), kind)
            self.assertEqual((drive["apm"], fault.struck), (128, 1))
        set_feature(drive, 0x05, 1)
        self.assertEqual(drive["apm"], 1)

    def test_skip_times_and_origin(self):
        drive = AtaDrive()
        drive.inject("abort", command=0xef, skip=1, times=2, origin="passthrough")
        seen = [set_feature(drive, 0x05, 9, origin="passthrough").error for _ in range(4)]
        self.assertEqual(seen, [0, 4, 4, 0])
        drive.inject("abort", command=0xef, times=None, origin="passthrough")
        self.assertEqual(set_feature(drive, 0x05, 9).error, 0)
        drive.faults.clear()
        self.assertEqual(set_feature(drive, 0x05, 9, origin="passthrough").error, 0)

    def test_hang_and_never(self):
        drive = AtaDrive()
        drive.inject("hang", command=0xef, seconds=0.1)
        begun = time.monotonic()
        set_feature(drive, 0x05, 1)
        self.assertGreater(time.monotonic() - begun, 0.09)
        self.assertEqual(drive["apm"], 1)

        drive.inject("hang", command=0xef, seconds=60)
        threading.Timer(0.1, drive.release).start()
        self.assertEqual(set_feature(drive, 0x05, 3).error, 0)
        self.assertLess(time.monotonic() - begun, 30)
        self.assertEqual(drive["apm"], 3)

        drive.inject("hang", command=0xef, seconds=60)
        threading.Timer(0.1, drive.comreset).start()
        self.assertIsNone(set_feature(drive, 0x05, 2))
        self.assertEqual(drive["apm"], 3)
        drive.inject("never", command=0xef)
        self.assertIsNone(set_feature(drive, 0x05, 2))

    def test_changed_identify(self):
        drive = AtaDrive()
        true = drive.execute(Taskfile(0xec)).data
        drive.inject("lie", command=0xec, words={91: 7})
        lie = drive.execute(Taskfile(0xec)).data
        self.assertEqual((lie[182:184], sum(lie) & 0xff), (b"\7\0", 0))
        self.assertEqual((lie[:182], lie[184:510]), (true[:182], true[184:510]))
        self.assertEqual(drive.execute(Taskfile(0xec)).data, true)

    def test_corrupt(self):
        drive = AtaDrive()
        drive.inject("corrupt", command=0xec)
        self.assertNotEqual(sum(drive.execute(Taskfile(0xec)).data) & 0xff, 0)
        self.assertEqual(sum(drive.execute(Taskfile(0xec)).data) & 0xff, 0)


class CommandLog(unittest.TestCase):
    def test_query(self):
        drive = AtaDrive()
        words(drive)
        mark = drive.log.mark()
        set_feature(drive, 0x05, 1, origin="passthrough", comm="hdparm")
        set_feature(drive, 0x03, 0x46)
        drive.power_cycle()
        [entry] = drive.log.since(mark, command=0xef, origin="passthrough")
        self.assertEqual((entry.feature, entry.count, entry.comm, entry.status),
                         (5, 1, "hdparm", 0x50))
        self.assertEqual(len(drive.log.since(mark, feature={3, 5})), 2)
        self.assertIn("EF/05 01 000000", table(drive.log.since(mark)))
        threading.Timer(0.05, lambda: words(drive)).start()
        self.assertEqual(len(drive.log.wait(drive.log.mark(), 5, command=0xec)), 1)
        with self.assertRaises(TimeoutError):
            drive.log.wait(drive.log.mark(), 0.01, command=0xec)


class Bridge(unittest.TestCase):
    IDENTIFY = bytes.fromhex("85080e00000001000000000000 40ec00")
    CHECK = bytes.fromhex("85062000000000000000000000 40e500")
    APM_1 = bytes.fromhex("85062000050001000000000000 40ef00")

    def bridge(self, **options):
        bridge = SatBridge(AtaDrive(), **options)
        while bridge.execute(bytes(6), b"", 0)[0] == CHECK_CONDITION:
            pass                                     # clears unit attentions
        return bridge

    def sense(self, bridge):
        return bridge.execute(bytes([3]) + bytes(5), b"", 252)[1]

    def test_sense_formats(self):
        bridge = self.bridge(sense="descriptor")
        self.assertEqual(bridge.execute(self.CHECK, b"", 0)[0], CHECK_CONDITION)
        sense = self.sense(bridge)
        self.assertEqual((sense[0], sense[1], sense[8], sense[13], sense[21]),
                         (0x72, 1, 9, 0xff, 0x50))
        bridge = self.bridge(sense="fixed")
        bridge.execute(self.CHECK, b"", 0)
        sense = self.sense(bridge)
        self.assertEqual((sense[0], sense[2], sense[4], sense[6], sense[12:14]),
                         (0x70, 1, 0x50, 0xff, b"\x00\x1d"))
        bridge = self.bridge(sense="none")
        self.assertEqual(bridge.execute(self.CHECK, b"", 0)[0], GOOD)

    def test_identify_is_cached(self):
        for cached, level in ((True, 128), (False, 1)):
            bridge = self.bridge(cache_identify=cached)
            bridge.execute(self.IDENTIFY, b"", 512)
            bridge.execute(self.APM_1, b"", 0)
            data = bridge.execute(self.IDENTIFY, b"", 512)[1]
            self.assertEqual(data[182], level)

    def test_passthrough_lengths(self):
        check12 = bytes.fromhex("a1062000000000000 0e50000".replace(" ", ""))
        for lengths, long, short in (((16,), GOOD, CHECK_CONDITION), ((12,), CHECK_CONDITION, GOOD),
                                     ((), CHECK_CONDITION, CHECK_CONDITION)):
            bridge = self.bridge(sense="none", passthrough=lengths, refusal=(0x24, 0))
            self.assertEqual((bridge.execute(self.CHECK, b"", 0)[0], bridge.execute(check12, b"", 0)[0]), (long, short))
            if not lengths:
                self.assertEqual(self.sense(bridge)[12:14], b"\x24\x00")
                self.assertEqual((bridge.opcodes[0x85], bridge.opcodes[0xa1]), (1, 1))

    def test_reset_at_an_unknown_opcode(self):
        bridge = self.bridge(unknown="reset", passthrough=())
        with self.assertRaises(Reset):
            bridge.execute(self.CHECK, b"", 0)
        with self.assertRaises(Reset):
            bridge.execute(bytes([0x4d]) + bytes(9), b"", 252)

    def test_ata_information(self):
        inquiry = bytes([0x12, 1, 0x89, 2, 0x3c, 0])
        self.assertEqual(self.bridge().execute(inquiry, b"", 572)[0], CHECK_CONDITION)
        status, page = self.bridge(ata_information=True).execute(inquiry, b"", 572)
        self.assertEqual((status, len(page), page[1], page[56]), (GOOD, 572, 0x89, 0xec))
        self.assertEqual(page[60:], AtaDrive().identify())

    def test_attention_after_power_loss(self):
        bridge = self.bridge()
        bridge.drive.power_cycle()
        self.assertEqual(bridge.execute(self.IDENTIFY, b"", 512)[0], CHECK_CONDITION)
        self.assertEqual(self.sense(bridge)[1:4], bytes([6, 0x29, 0]))
        self.assertEqual(bridge.execute(self.IDENTIFY, b"", 512)[0], GOOD)

    def test_faults(self):
        bridge = self.bridge()
        bridge.drive.inject("sense", command=0xef, sense=(5, 0x20, 0))
        bridge.execute(self.APM_1, b"", 0)
        self.assertEqual(self.sense(bridge)[1:4], bytes([5, 0x20, 0]))
        bridge.drive.inject("empty", command=0xef)
        self.assertEqual(bridge.execute(self.APM_1, b"", 0)[0], CHECK_CONDITION)
        self.assertEqual(self.sense(bridge), bytes(18))
        self.assertEqual(bridge.drive["apm"], 1)


def load_tests(loader, tests, pattern):
    for module in (selftest_settings, selftest_scsi, selftest_nvme):
        tests.addTests(loader.loadTestsFromModule(module))
    return tests


if __name__ == "__main__":
    unittest.main()
