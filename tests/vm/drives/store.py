"""The sectors of a drive, in a sparse file that outlives the guest."""

import os

SECTOR = 512


class Store:
    """A file of 512-byte sectors. A file that does not exist is created as a sparse file."""

    def __init__(self, path=None, size_mb=None):
        if path is None:
            self._fd = os.memfd_create("drive")
        else:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        size = os.fstat(self._fd).st_size
        if size_mb is not None and size < size_mb << 20:
            size = size_mb << 20
            os.ftruncate(self._fd, size)
        self.sectors = size // SECTOR

    def read(self, lba, count):
        return os.pread(self._fd, count * SECTOR, lba * SECTOR)

    def write(self, lba, data):
        os.pwrite(self._fd, data, lba * SECTOR)

    def close(self):
        os.close(self._fd)
