# SPDX-License-Identifier: LGPL-2.1-or-later
"""The measured drive: relations between devices, the scratch file, the directory of --file, and terminal output."""
import contextlib
import io
import os
import shutil
import types

from fake import Fake
from measure import bench, command, fio, subject, sysfs
from measure.command import Table
from measure.subject import Subject, format_duration, make_scratch_file


class Files(Fake):
    def test_made(self):
        """The scratch file has random content and no name."""
        fd = make_scratch_file(".", -1)
        try:
            status = os.fstat(fd)
            self.assertEqual((status.st_size, status.st_nlink), (bench.FILE_SIZE, 0))
            first = os.pread(fd, 65536, 0)
            at = 1 << 20
            while at < bench.FILE_SIZE:
                self.assertNotEqual(os.pread(fd, 65536, at), first)
                at *= 2
        finally:
            os.close(fd)

    def test_without_tmpfile(self):
        """On a file system without support for unnamed files, the scratch file has no name either."""
        self.patch(os, "O_TMPFILE", os.O_DIRECTORY)
        self.patch(bench, "FILE_SIZE", 1 << 20)
        before = os.listdir()
        fd = make_scratch_file(".", -1)
        self.assertEqual((os.fstat(fd).st_nlink, os.listdir()), (0, before))
        os.close(fd)

    def test_not_made(self):
        with self.assertRaises(FileNotFoundError):
            make_scratch_file("missing", -1)
        self.stop()
        with self.assertRaises(fio.Stopped):
            make_scratch_file(".", self.read_end)

    def test_directory(self):
        """The directory of --file must be on the measured drive and on no other drive."""
        s = types.SimpleNamespace(name="sda", below=["sda"])
        self.link("sda/sda1", "sda1")
        self.link("sda", "sda")
        self.patch(subject.subprocess, "run", lambda *_, **__: types.SimpleNamespace(stdout="ext2/ext3\n"))
        for device, slaves, fault in (("sda", (), None), ("sda1", (), None), ("sdc", (), "'.' is not on sda alone"), ("md0", ("sda1",), None),
                                      ("md1", ("sda1", "sdb"), "'.' is not on sda alone"), (None, (), "'.' is on an unknown drive")):
            with self.subTest(device):
                self.patch(sysfs, "device_name", lambda _, device=device: device)
                for slave in slaves:
                    self.put(f"devices/{'sda/sda1' if slave == 'sda1' else slave}/holders/{device}/x", "")
                    self.put(f"devices/{device}/slaves/{slave}/x", "")
                if slaves:
                    self.link(device, device)
                found = Subject._find_fault(s, ".")
                self.assertEqual(found is None, fault is None, found)
                self.assertTrue(fault is None or found.startswith(fault), found)
        self.patch(subject.subprocess, "run", lambda *_, **__: types.SimpleNamespace(stdout="btrfs\n"))
        self.assertIsNone(Subject._find_fault(s, "."))

    # ---- devices ----

    def link(self, path, name):
        """Creates the directory of a device in sysfs. The directory of a partition is inside the directory of its disk."""
        self.put(f"devices/{path}/holders/.keep", "")
        if "/" in path:
            self.put(f"devices/{path}/partition", "1")
        target = self.here / "class" / name
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        if not os.path.lexists(target):
            os.symlink(self.here / "devices" / path, target)

    def test_stack(self):
        """The disks below and the devices above are found for a volume on an array. The array has a partition and a disk as members."""
        for path, name in (("sda", "sda"), ("sda/sda1", "sda1"), ("sdb", "sdb"), ("md0", "md0"), ("dm-0", "dm-0")):
            self.link(path, name)
        for upper, lower in (("md0", "sda/sda1"), ("md0", "sdb"), ("dm-0", "md0")):
            self.put(f"devices/{lower}/holders/{upper}/x", "")
            self.put(f"devices/{upper}/slaves/{os.path.basename(lower)}/x", "")
        self.assertEqual(sysfs.disks_below("dm-0"), ["sdb", "sda"])
        self.assertEqual(sysfs.disks_below("sda1"), ["sda"])
        self.assertEqual(sysfs.disks_below("sda"), ["sda"])
        self.assertEqual(sysfs.above("sda"), ["sda1", "md0", "dm-0"])
        self.assertEqual(sysfs.above("dm-0"), [])

    def test_counters(self):
        for text, counted in (("1 2 3 4 5 6 7 8 9 10 11", (1536, 5)), ("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", (1536, 5 + 12 + 16)), ("1 2 3", None), ("", None)):
            self.put("class/sdb/stat", text)
            traffic = sysfs.traffic("sdb")
            self.assertEqual(traffic and (traffic.read_bytes, traffic.changes), counted)
        for text, counted in (("1", True), ("0", False)):
            self.put("class/sda/queue/iostats", text)
            self.assertEqual(sysfs.traffic("sda") is not None, counted)
        self.assertIsNone(sysfs.traffic("none"))
        for text, any_is in (("       0        0", False), ("       1        0", True), ("       0       20", True), ("", False)):
            self.put("class/sdb/inflight", text)
            self.assertEqual(sysfs.is_in_flight("sdb"), any_is)
        self.assertFalse(sysfs.is_in_flight("none"))


class Texts(Fake):
    def test_escape(self):
        self.assertEqual(command.escape("a\x1b[2J\n\udcffä"), "a\\x1b[2J\\x0a\\xffä")

    def test_durations(self):
        for seconds, text in ((0, "0 s"), (59.9, "59 s"), (90, "1 min 30 s"), (3725, "1 h 2 min"), (7200, "2 h")):
            self.assertEqual(format_duration(seconds), text)

    def test_table(self):
        """Tables without legend have neither heads nor notes; a missing cell is a dash."""
        for legend, lines in ((True, ["A   B", "x   -", "yy 10", "so"]), (False, ["x   -", "yy 10"])):
            table, out = Table(["A", "B"], "<>", legend), io.StringIO()
            table.row("x", None)
            table.row("yy", "10")
            table.note("so")
            with contextlib.redirect_stdout(out):
                table.print()
            self.assertEqual(out.getvalue().splitlines(), lines)
