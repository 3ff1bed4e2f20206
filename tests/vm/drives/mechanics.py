"""How long a disk that turns takes for what it reads and writes."""

import math
import time


class Mechanics:
    """Heads that seek, a disk that turns, and a rate that falls from the outer zone to the inner one.

    rates        bytes a second at the first sector and at the last
    rpm          what comes after a seek waits for half a turn, on average
    seek         seconds to the next track, and over all of the disk; between them as the root of the distance
    overhead     seconds of each command
    enough       bytes; a command with less is over too late for the next one, which waits for a whole turn
    reads_on     what comes next is in the drive's buffer by the time that the medium takes for it, however it is asked for
    buffer       seconds of the medium that it has room for: a host that asks later than that makes the drive slower
    sorted       what is left of a write's time where the drive has it in its cache, and writes it in an order of its own
    cache        seconds of such writes that the cache has room for

    What follows the last command without a gap needs neither seek nor turn: the drive has read on, if it looks ahead.
    """

    def __init__(self, rates=(20e6, 10e6), rpm=7200, seek=(1e-3, 12e-3), overhead=2e-4, enough=0, reads_on=False, buffer=0.1,
                 sorted=0.25, cache=0.1):
        self.rates, self.rpm, self.seek, self.overhead, self.enough = rates, rpm, seek, overhead, enough
        self.reads_on, self.buffer, self.sorted, self.cache = reads_on, buffer, sorted, cache
        self._read_until = 0.0
        self._next, self._turn, self._cached = 0, 0.0, 0.0

    def rate(self, part):
        """At a place, as a part of the whole disk."""
        outer, inner = self.rates
        return outer + (inner - outer) * part

    def access(self, distance):
        """Seek and half a turn, for a distance as a part of the disk."""
        least, most = self.seek
        return least + (most - least) * math.sqrt(distance) + 30 / self.rpm

    def seconds(self, lba, sectors, all_sectors, ahead=True):
        """Of a command, which is then taken to have been done. `ahead`: the drive looks ahead."""
        transfer = sectors * 512 / self.rate(lba / all_sectors)
        moved, self._next = abs(lba - self._next) / all_sectors, lba + sectors
        if moved == 0 and ahead and self.reads_on:
            now = time.monotonic()
            self._read_until = max(self._read_until, now - self.buffer) + transfer
            return max(self._read_until - now, self.overhead)
        if moved == 0:
            return self.overhead + transfer + (0 if ahead and sectors * 512 >= self.enough else 60 / self.rpm)
        # How far it has to turn is as good as random, and spreads evenly.
        self._turn = (self._turn + 0.6180339887498949) % 1
        taken = self.overhead + transfer + self.access(moved) + (self._turn - 0.5) * 60 / self.rpm
        self._read_until = time.monotonic() + taken
        return taken

    def cached(self, *write):
        """Of a write into the cache, which is only long where that is full."""
        self._cached += self.sorted * self.seconds(*write)
        over = max(self._cached - self.cache, 0)
        self._cached -= over
        return self.overhead + over

    def flush(self):
        taken, self._cached = self._cached, 0.0
        return taken
