"""The time that a rotating disk takes to read and write."""

import math
import time

# Longest pauses, in seconds, that count as delays by a busy host: between a command and a command that continues it, and before any other
# command. The start of fio takes more than 0.1 s.
PAUSE, PAUSE_BEFORE_SEEK = 0.5, 0.1


class Mechanics:
    """A rotating disk: seek time, rotational delay, and a rate that falls from the outer zone to the inner zone.

    rates        bytes per second at the first and at the last sector
    rpm          revolutions per minute; a command after a seek waits for half a turn on average
    seek         seconds to the next track and across the whole disk; the time grows with the square root of the distance
    overhead     seconds for each command
    enough       bytes; a shorter command that continues the previous command waits for a whole turn
    sorted       time of a cached and reordered write, as a fraction of the time without the cache
    cache        size of the write cache, as the time in seconds that the cached and reordered writes take

    With look-ahead, a command that continues the previous one needs neither a seek nor a turn: the drive has already read the data.

    A command begins at the end of the previous command, unless the drive was idle for longer than PAUSE or PAUSE_BEFORE_SEEK in between. So a
    busy host, which wakes the drive's thread late or sends the next command late, does not make a sequence of commands slower.
    """

    def __init__(self, rates=(20e6, 10e6), rpm=7200, seek=(1e-3, 12e-3), overhead=2e-4, enough=0, sorted=0.25, cache=0.1):
        self.rates, self.rpm, self.seek, self.overhead, self.enough = rates, rpm, seek, overhead, enough
        self.sorted, self.cache = sorted, cache
        self._next, self._turn, self._cached, self._ended = 0, 0.0, 0.0, 0.0

    def rate(self, part):
        """Returns the rate at a position, which is a fraction of the whole disk."""
        outer, inner = self.rates
        return outer + (inner - outer) * part

    def access(self, distance):
        """Returns the time for a seek and half a turn. The distance is a fraction of the disk."""
        least, most = self.seek
        return least + (most - least) * math.sqrt(distance) + 30 / self.rpm

    def seconds(self, lba, *command):
        """Returns the time until the command ends."""
        now, longest = time.monotonic(), PAUSE if lba == self._next else PAUSE_BEFORE_SEEK
        self._ended = (self._ended if now - self._ended < longest else now) + self.duration(lba, *command)
        return max(self._ended - now, 0)

    def duration(self, lba, sectors, all_sectors, ahead=True):
        """Returns the duration of a command and updates the position. `ahead` is true if look-ahead is on."""
        transfer = sectors * 512 / self.rate(lba / all_sectors)
        moved, self._next = abs(lba - self._next) / all_sectors, lba + sectors
        if moved == 0:
            return self.overhead + transfer + (0 if ahead and sectors * 512 >= self.enough else 60 / self.rpm)
        # The rotational delay is pseudo-random and evenly distributed.
        self._turn = (self._turn + 0.6180339887498949) % 1
        return self.overhead + transfer + self.access(moved) + (self._turn - 0.5) * 60 / self.rpm

    def cached(self, *write):
        """Returns the time that a write into the cache takes. The time is long only if the cache is full."""
        self._cached += self.sorted * self.duration(*write)
        over = max(self._cached - self.cache, 0)
        self._cached -= over
        return self.overhead + over

    def flush(self):
        taken, self._cached = self._cached, 0.0
        return taken
