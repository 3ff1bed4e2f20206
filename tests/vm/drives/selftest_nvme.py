"""Tests of the NVMe controller; part of drives.selftest."""

import struct
import time
import unittest

from .nvme import (COALESCING, ERROR_RECOVERY, INVALID_FIELD, INVALID_OPCODE, NOT_NAMESPACE_SPECIFIC, NOT_SAVEABLE, POWER,
                   TEMPERATURE, THERMAL, TRANSITIONS, WRITE_CACHE, Command, NvmeController)

SET, GET, IDENTIFY = 0x09, 0x0a, 0x06
SAVE = 1 << 31
CURRENT, DEFAULT, SAVED, CAPABILITIES = (number << 8 for number in range(4))


class Features(unittest.TestCase):
    def send(self, controller, opcode, word10=0, word11=0, nsid=0, data=b"", admin=True):
        entry = struct.pack("<BBHI", opcode, 0, 7, nsid).ljust(40, b"\0") + struct.pack("<II", word10, word11)
        return controller.execute(Command(entry.ljust(64, b"\0"), data, admin))

    def good(self, *arguments, **more):
        status, result, data = self.send(*arguments, **more)
        self.assertEqual(status, 0)
        return data or result

    def fails(self, status, *arguments, **more):
        self.assertEqual(self.send(*arguments, **more)[0], status)

    def test_autonomous_power_states(self):
        controller = NvmeController(uses_apst=True, power_states=((8000, True, 0, 0), (50, False, 0, 20000)))
        table = struct.pack("<Q", 1 << 3 | 10 << 8)        # enter state 1 after 10 ms
        self.good(controller, SET, TRANSITIONS, 1, data=table)
        time.sleep(0.02)
        self.assertEqual(self.good(controller, GET, POWER), 1)
        begun = time.monotonic()
        self.send(controller, 2, nsid=1, admin=False)
        self.assertGreaterEqual(time.monotonic() - begun, 0.02)
        self.good(controller, SET, TRANSITIONS, 0, data=table)
        time.sleep(0.02)
        self.assertEqual(self.good(controller, GET, POWER), 0)
        self.good(controller, SET, POWER, 1)
        self.send(controller, 2, nsid=1, admin=False)
        self.assertEqual(self.good(controller, GET, POWER), 0)

    def test_slow_controller(self):
        controller = NvmeController(uses_apst=True, power_states=((8000, True, 0, 0), (50, False, 0, 0)), wake_seconds=0.03, seconds=0.02)
        for state, least in (0, 0.02), (1, 0.05):
            self.good(controller, SET, POWER, state)
            begun = time.monotonic()
            self.send(controller, 2, nsid=1, admin=False)
            self.assertGreaterEqual(time.monotonic() - begun, least)

    def test_current_default_and_saved(self):
        controller = NvmeController()
        for number, value in ((POWER, 2), (WRITE_CACHE, 0), (COALESCING, 0x0203), (THERMAL, 340 << 16 | 350)):
            before = self.good(controller, GET, number)
            self.good(controller, SET, number, value)
            self.assertEqual([self.good(controller, GET, number | which) for which in (CURRENT, DEFAULT, SAVED, CAPABILITIES)],
                             [value, before, before, 5])
            controller.reset()
            self.assertEqual(self.good(controller, GET, number), before)
            self.good(controller, SET, number | SAVE, value)
            controller.reset()
            self.assertEqual(self.good(controller, GET, number), value)
        self.fails(NOT_SAVEABLE, NvmeController(saveable=False), SET, WRITE_CACHE | SAVE, 0)

    def test_disabling_by_register_is_a_reset(self):
        controller = NvmeController()
        controller.property_set(0x14, 0x460001)
        self.assertEqual(controller.property_get(0x1c), 1)
        self.good(controller, SET, POWER, 1)
        controller.property_set(0x14, 0x460000)
        self.assertEqual((controller.property_get(0x1c), controller["power_state"]), (0, 0))

    def test_refusals(self):
        controller = NvmeController()
        for number, value in ((POWER, 5), (THERMAL, 350 << 16 | 340), (THERMAL, 10 << 16), (0x0d, 1)):
            self.fails(INVALID_FIELD, controller, SET, number, value)
        self.fails(NOT_NAMESPACE_SPECIFIC, controller, SET, WRITE_CACHE, 0, nsid=1)
        self.fails(INVALID_OPCODE, controller, 0x80)
        self.fails(INVALID_FIELD, NvmeController(thermal=None), GET, THERMAL)

    def test_features_with_selectors(self):
        controller = NvmeController(temperature=353)
        self.good(controller, SET, TEMPERATURE, 340)
        self.good(controller, SET, TEMPERATURE, 1 << 20 | 280)                # the lower threshold
        self.assertEqual((self.good(controller, GET, TEMPERATURE), self.good(controller, GET, TEMPERATURE, 1 << 20)), (340, 280))
        self.good(controller, SET, ERROR_RECOVERY, 30, nsid=1)
        self.assertEqual(self.good(controller, GET, ERROR_RECOVERY, nsid=1), 30)
        table = bytes(range(256))
        self.good(controller, SET, TRANSITIONS, 1, data=table)
        self.assertEqual((controller["apst"], self.good(controller, GET, TRANSITIONS)), (True, table))

    def test_identity_and_medium(self):
        controller = NvmeController(serial="S1", power_states=((8000, True, 0, 0), (5, False, 5000, 10000)))
        page = self.good(controller, IDENTIFY, 1)
        self.assertEqual((page[4:24].strip(), page[263], page[525], page[2048 + 32 + 3]), (b"S1", 1, 1, 2))
        self.assertEqual(struct.unpack_from("<Q", self.good(controller, IDENTIFY, 0, nsid=1)), (controller.sectors,))
        self.good(controller, 1, 7, nsid=1, data=b"x" * 512, admin=False)
        self.assertEqual(self.good(controller, 2, 7, nsid=1, admin=False), b"x" * 512)
        self.assertIsNone(self.send(controller, 0x0c))
