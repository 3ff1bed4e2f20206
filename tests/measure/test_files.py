# SPDX-License-Identifier: LGPL-2.1-or-later
"""When root writes a file, no other user can redirect the path. The same test for the command: tests/unit/test-directory.c."""
import errno
import os

from fake import Fake
from measure import files


class Files(Fake):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.umask, os.umask(0o022))
        for name in "etc", "ours", "ours/deep", "theirs", "theirs/roots", "theirs/etc":
            os.mkdir(name, 0o755)
        os.chmod("theirs", 0o777)
        for target, name in (("../etc", "theirs/planted"), ("../etc", "theirs/roots/link"), ("theirs", "to-theirs"), ("theirs/planted", "to-planted"),
                             ("deep", "ours/link"), ("to-ours", "twice"), ("ours", "to-ours"), ("around", "around"), ("missing", "dangling"),
                             ("/proc/self/../self/cwd", "absolute")):
            os.symlink(target, name)
        self.put("file", "")

    def test_paths(self):
        """Links of root are followed, links that others may have created are rejected."""
        for path, same in (("", "."), ("/", "/"), (".", "."), ("ours//deep/", "ours/deep"), ("ours/link", "ours/deep"), ("twice/link/../deep", "ours/deep"),
                           ("theirs", "theirs"), ("to-theirs", "theirs"), ("theirs/roots", "theirs/roots"), ("absolute/ours", "ours"), ("theirs/../etc", "etc"),
                           ("/proc/self/cwd", "."), ("theirs/roots/link", "theirs/etc"), ("theirs/planted", errno.ELOOP), ("theirs/planted/.", errno.ELOOP),
                           ("to-theirs/planted", errno.ELOOP), ("to-planted", errno.ELOOP), ("around", errno.ELOOP), ("dangling", errno.ENOENT),
                           ("ours/none", errno.ENOENT), ("file", errno.ENOTDIR), ("file/x", errno.ENOTDIR)):
            with self.subTest(path):
                if isinstance(same, int):
                    with self.assertRaises(OSError) as caught:
                        files.replace(f"{path}/x", b"")
                    self.assertEqual(caught.exception.errno, same)
                else:
                    fd = files.open_directory(path)
                    self.assertTrue(os.path.samestat(os.fstat(fd), os.stat(same)))
                    os.close(fd)
        self.assertEqual(os.listdir("etc"), [])

    def test_replace(self):
        """A file is replaced as a whole, or not at all, and no temporary file remains."""
        self.put("ours/x", "old")
        files.replace("ours/x", b"new\n")
        self.assertEqual((self.get("ours/x"), os.stat("ours/x").st_mode & 0o777), ("new", 0o644))
        os.mkdir("ours/y")
        self.assertRaises(OSError, files.replace, "ours/y", b"")
        self.assertEqual(sorted(os.listdir("ours")), ["deep", "link", "x", "y"])
