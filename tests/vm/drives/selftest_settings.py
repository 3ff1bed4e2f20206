"""Tests of an ATA drive's less common settings; part of drives.selftest."""

import struct
import unittest
import unittest.mock

from .model import AtaDrive
from .taskfile import Taskfile

SCT = 0xc24fe0
IDLE_A, IDLE_B, STANDBY_Y, STANDBY_Z, ALL = 0x81, 0x82, 0x01, 0x00, 0xff
SAVE, ENABLE, MINUTES = 1 << 4, 1 << 5, 1 << 7


class Case(unittest.TestCase):
    def send(self, drive, command, feature=0, count=0, lba=0, data=b"", ext=False):
        return drive.execute(Taskfile(command, feature, count, lba, ext=ext), data)

    def good(self, *arguments, **more):
        answer = self.send(*arguments, **more)
        self.assertEqual((answer.status & 0x21, answer.error), (0, 0))
        return answer

    def refused(self, *arguments, **more):
        answer = self.send(*arguments, **more)
        self.assertEqual((answer.status & 1, answer.error), (1, 4))

    def words(self, drive):
        return struct.unpack("<256H", self.good(drive, 0xec).data)

    def bit(self, drive, word, bit):
        return self.words(drive)[word] >> bit & 1

    def log(self, drive, address, page=0):
        return self.good(drive, 0x2f, count=1, lba=address | page << 8, ext=True).data


class PowerConditions(Case):
    def epc(self, drive, lba, count=0):
        return drive, 0xef, 0x4a, count, lba

    def descriptor(self, drive, page, offset):
        return struct.unpack_from("<BBHIIIIII", self.log(drive, 8, page), offset)

    def test_enabling_disables_apm_and_survives_power_loss(self):
        drive = AtaDrive(epc=False, apm=128)
        self.assertEqual((self.bit(drive, 119, 7), self.bit(drive, 120, 7)), (1, 0))
        self.refused(*self.epc(drive, 2 | ENABLE | 100 << 8, IDLE_A))       # rejected while EPC is disabled
        self.good(*self.epc(drive, 4))
        self.assertEqual((self.bit(drive, 120, 7), self.bit(drive, 86, 3), drive["apm"]), (1, 0, 255))
        self.refused(drive, 0xef, 0x05, 128)
        drive.comreset()
        drive.power_cycle()
        self.assertEqual((drive["epc"], drive["apm"]), (True, 255))
        self.good(*self.epc(drive, 5))
        self.assertEqual(drive["apm"], 255)                                 # disabling EPC does not enable APM
        self.good(drive, 0xef, 0x05, 100)
        drive.power_cycle()
        self.assertEqual((drive["epc"], drive["apm"]), (False, 128))

    def test_timers_and_log(self):
        drive = AtaDrive(epc=True)
        self.good(*self.epc(drive, 2 | ENABLE | MINUTES | 10 << 8, IDLE_B))
        _, flags, _, default, saved, current, *_ = self.descriptor(drive, 0, 64)
        self.assertEqual((flags & 0xe4, default, saved, current), (0xe4, 6000, 0, 6000))
        self.good(*self.epc(drive, 2 | ENABLE | SAVE | 1234 << 8, STANDBY_Z))
        self.good(*self.epc(drive, 2 | ENABLE | 4321 << 8, STANDBY_Y))
        self.assertEqual(self.descriptor(drive, 1, 448)[4:6], (1234, 1234))
        self.assertEqual(self.descriptor(drive, 1, 384)[4:6], (0, 4321))
        drive.comreset()
        self.assertEqual(drive["standby_y"], 4321)
        drive.power_cycle()
        self.assertEqual((drive["standby_z"], drive["standby_y"]), (1234, None))
        self.assertEqual(self.descriptor(drive, 1, 384)[5], 18000)          # the default timer of a disabled condition
        self.good(*self.epc(drive, 2 | ENABLE | 1 << 8, IDLE_B))
        self.assertEqual(drive["idle_b"], 50)                               # raised to the minimum
        drive = AtaDrive(epc={"default": True, "out_of_range": "abort", "without": ["standby_y"], "fixed": ["idle_a"]})
        self.refused(*self.epc(drive, 2 | ENABLE | 1 << 8, IDLE_B))
        self.refused(*self.epc(drive, 2 | ENABLE | 100 << 8, STANDBY_Y))
        self.refused(*self.epc(drive, 2 | ENABLE | 100 << 8, IDLE_A))
        self.refused(*self.epc(drive, 2 | ENABLE | 100 << 8, ALL))
        self.assertEqual(self.descriptor(drive, 1, 384)[1], 0)

    def test_state_and_restore(self):
        drive = AtaDrive(epc=True)
        self.good(*self.epc(drive, 3 | SAVE, ALL))
        drive.power_cycle()
        self.assertEqual([drive[name] for name in ("idle_a", "idle_b", "standby_z")], [None] * 3)
        self.good(*self.epc(drive, 0 | 1 << 6, ALL))                        # restore default timers without saving
        self.assertEqual((drive["idle_a"], drive["idle_b"], drive["idle_c"]), (20, 6000, None))
        drive.power_cycle()
        self.assertIsNone(drive["idle_a"])
        self.good(*self.epc(drive, 0 | 1 << 6 | SAVE, ALL))
        drive.power_cycle()
        self.assertEqual(drive["idle_a"], 20)
        self.good(*self.epc(drive, 6, 1))
        self.refused(*self.epc(drive, 6, 3))
        self.refused(*self.epc(drive, 7))

    @unittest.mock.patch("time.monotonic", return_value=1000)
    def test_power_modes(self, clock):
        drive = AtaDrive(epc=True, time_scale=100)
        def mode():
            return self.good(drive, 0xe5).count
        for condition, spin_ups in ((IDLE_A, 0), (IDLE_B, 0), (STANDBY_Y, 0), (STANDBY_Z, 0), (IDLE_A, 1)):
            self.good(*self.epc(drive, 1, condition))
            self.assertEqual((mode(), drive["spin_ups"]), (condition, spin_ups))
        self.refused(*self.epc(drive, 1, ALL))
        self.good(drive, 0xe1)
        self.assertEqual(mode(), IDLE_A)
        self.good(*self.epc(drive, 3, ALL))
        self.good(*self.epc(drive, 2 | ENABLE | 50 << 8, IDLE_B))           # 5 s, which are 0.05 s with time_scale=100
        self.good(drive, 0xe3, count=2)                                     # IDLE sets the timer of Standby_z to 10 s
        self.assertEqual(drive["standby_z"], 100)
        clock.return_value += 0.07
        self.assertEqual(mode(), IDLE_B)
        clock.return_value += 0.05
        self.assertEqual(mode(), STANDBY_Z)


class Sct(Case):
    def sct(self, drive, *words, log_ext=False):
        data = struct.pack(f"<{len(words)}H", *words).ljust(512, b"\0")
        if log_ext:
            return drive, 0x3f, 0, 1, 0xe0, data, True
        return drive, 0xb0, 0xd6, 1, SCT, data

    def value(self, drive, *words):
        answer = self.good(*self.sct(drive, *words))
        return answer.count | (answer.lba & 0xff) << 8

    def test_recovery_time_at_power_on(self):
        drive = AtaDrive(erc=(70, 70))
        self.good(*self.sct(drive, 3, 3, 1, 100))
        self.assertEqual((self.value(drive, 3, 2, 1), self.value(drive, 3, 4, 1)), (70, 100))
        self.good(*self.sct(drive, 3, 1, 2, 90, log_ext=True))
        self.assertEqual(drive["erc"], (70, 90))
        drive.power_cycle()
        self.assertEqual(drive["erc"], (100, 70))
        self.good(*self.sct(drive, 3, 5, 1, 0))
        self.assertEqual((drive["erc"], drive["erc_at_power_on"]), ((70, 70), (70, 70)))
        self.refused(*self.sct(drive, 3, 6, 1, 0))
        self.refused(*self.sct(drive, 3, 3, 1, 10))
        self.refused(*self.sct(drive, 4, 2, 1))                             # the drive has no feature control

    def test_recovery_time_over_reset(self):
        for kept, limit in ((True, 100), (False, 70)):
            drive = AtaDrive(erc=(70, 70), erc_kept=kept)
            self.good(*self.sct(drive, 3, 1, 1, 100))
            drive.comreset()
            self.assertEqual(drive["erc"][0], limit)

    def test_feature_control(self):
        drive = AtaDrive(feature_control=True)
        self.assertEqual(self.words(drive)[206], 1 | 1 << 3 | 1 << 4)
        self.assertEqual(self.value(drive, 4, 2, 1), 1)
        self.good(*self.sct(drive, 4, 1, 1, 3, 0))
        self.assertEqual((self.value(drive, 4, 2, 1), self.bit(drive, 85, 5)), (3, 0))
        self.good(drive, 0xef, 0x02)                                        # has no effect
        self.assertEqual(self.bit(drive, 85, 5), 0)
        drive.power_cycle()
        self.assertEqual((self.value(drive, 4, 2, 1), self.bit(drive, 85, 5)), (1, 1))
        self.good(*self.sct(drive, 4, 1, 1, 3, 1))
        self.good(*self.sct(drive, 4, 1, 2, 2, 0))
        self.assertEqual((self.value(drive, 4, 3, 1), self.value(drive, 4, 3, 2)), (1, 0))
        drive.power_cycle()
        self.assertEqual((self.value(drive, 4, 2, 1), self.value(drive, 4, 2, 2)), (3, 1))
        self.assertEqual((drive["write_cache"], drive["write_cache_reordering"]), (False, True))
        self.refused(*self.sct(drive, 4, 1, 1, 4, 0))
        self.refused(*self.sct(drive, 4, 1, 9, 1, 0))


class Locks(Case):
    def test_security(self):
        drive = AtaDrive()
        self.good(drive, 0xf5)
        drive.comreset()
        self.assertEqual(self.bit(drive, 128, 3), 1)
        self.good(drive, 0xef, 0x90, 6)
        drive.comreset()
        self.assertEqual(self.bit(drive, 128, 3), 0)

    def test_overlay(self):
        drive = AtaDrive(dco=True)
        self.assertEqual(sum(self.good(drive, 0xb1, 0xc2, 1).data) & 0xff, 0)
        self.good(drive, 0xb1, 0xc1)
        drive.comreset()
        self.refused(drive, 0xb1, 0xc2, 1)
        self.refused(drive, 0xb1, 0xc1)
        drive.power_cycle()
        self.good(drive, 0xb1, 0xc2, 1)

    def test_sanitize(self):
        drive = AtaDrive(sanitize=True)
        self.assertEqual((self.bit(drive, 59, 12), self.bit(drive, 59, 10)), (1, 1))
        self.assertEqual(self.good(drive, 0xb4, ext=True).count >> 8, 0)
        self.refused(drive, 0xb4, 0x20, lba=0x46724c6a, ext=True)
        self.good(drive, 0xb4, 0x20, lba=0x46724c6b, ext=True)
        self.assertEqual(self.good(drive, 0xb4, ext=True).count >> 8, 0x20)
        self.refused(drive, 0xb4, 0x40, lba=0x416e7469, ext=True)
        drive.power_cycle()
        self.assertEqual(self.good(drive, 0xb4, ext=True).count >> 8, 0)
        self.good(drive, 0xb4, 0x40, lba=0x416e7469, ext=True)
        self.assertEqual(self.good(drive, 0xb4, ext=True).count >> 8, 0x10)
        self.refused(drive, 0xb4, 0x20, lba=0x46724c6b, ext=True)


class Others(Case):
    def test_write_read_verify(self):
        drive = AtaDrive(wrv=False)
        self.good(drive, 0xef, 0x0b, count=1)        # hdparm -R1 sends the same command: mode 0, all sectors
        self.assertEqual((drive["wrv"], self.bit(drive, 120, 1)), (0, 1))
        self.good(drive, 0xef, 0x0b, count=5, lba=3)
        self.assertEqual((self.words(drive)[220], self.words(drive)[210]), (3, 5 * 1024))
        self.refused(drive, 0xef, 0x0b, lba=4)
        self.good(drive, 0xef, 0x8b)
        self.assertEqual(self.bit(drive, 120, 1), 0)

    def test_power_up_in_standby(self):
        drive = AtaDrive(puis=False)
        self.good(drive, 0xef, 0x06)
        self.refused(drive, 0xef, 0x07)
        drive.power_cycle()
        self.assertEqual((self.good(drive, 0xe5).count, self.words(drive)[2], self.bit(drive, 86, 5)), (0, 0xc837, 1))
        self.good(drive, 0x20, count=1)
        self.assertEqual(drive["spin_ups"], 1)
        self.good(drive, 0xef, 0x86)
        drive.power_cycle()
        self.assertEqual(self.good(drive, 0xe5).count, 0xff)
        drive = AtaDrive(puis=True, puis_needs_spin_up=True)
        drive.power_cycle()
        self.assertEqual((self.words(drive)[2], self.bit(drive, 83, 6)), (0x738c, 1))
        self.refused(drive, 0x20, count=1)
        self.good(drive, 0xef, 0x07)
        self.good(drive, 0x20, count=1)

    def test_free_fall(self):
        drive = AtaDrive(free_fall=False)
        self.good(drive, 0xef, 0x41, 42)
        self.assertEqual((self.bit(drive, 120, 5), self.words(drive)[53] >> 8), (1, 42))
        self.good(drive, 0xef, 0xc1)
        self.assertEqual((self.bit(drive, 119, 5), self.bit(drive, 120, 5)), (1, 0))

    def test_statistics_notification(self):
        drive = AtaDrive(dsn=False)
        for count, enabled in ((1, 1), (2, 0)):
            self.good(drive, 0xef, 0x63, count)
            self.assertEqual(self.bit(drive, 120, 9), enabled)
        self.refused(drive, 0xef, 0x63, 3)
        self.assertEqual(self.log(drive, 4)[8:11], bytes((2, 0, 1)))

    def test_multiple_and_keep_features(self):
        drive = AtaDrive()
        self.good(drive, 0xc6, count=8)
        self.assertEqual(self.words(drive)[59], 0x108)
        self.refused(drive, 0xc6, count=3)
        self.good(drive, 0xef, 0x66)
        self.assertTrue(drive["keep_features"])
        self.good(drive, 0xef, 0xcc)
        self.assertFalse(drive["keep_features"])

    def test_log_directory(self):
        directory = self.log(AtaDrive(epc=False), 0)
        sizes = {address: directory[2 * address] for address in range(1, 256) if directory[2 * address]}
        self.assertEqual(sizes, {3: 1, 4: 2, 7: 1, 8: 2, 0xe0: 1})

    def test_settings_over_reset(self):
        """A COMRESET keeps some settings only with software settings preservation, and other settings always."""
        commands = ((0xef, 0x82), (0xef, 0x55), (0xef, 0x05, 1), (0xc6, 0, 8), (0xef, 0x66), (0xef, 0x41, 3),
                    (0xef, 0x42, 200), (0xef, 0x0b))
        preserved = ("write_cache", "lookahead", "apm", "multiple", "keep_features", "free_fall")
        drive = AtaDrive(acoustic=254, wrv=False, free_fall=False)
        before = drive.state()
        for command in commands:
            self.good(drive, *command)
        changed = drive.state()
        drive.comreset()
        self.assertEqual(drive.state(), changed)
        self.good(drive, 0xef, 0x90, 6)
        drive.comreset()
        after = drive.state()
        self.assertEqual([after[name] for name in preserved], [before[name] for name in preserved])
        self.assertEqual((after["acoustic"], after["wrv"]), (200, 0))
