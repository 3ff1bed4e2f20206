"""Log pages of a SCSI disk about wear and temperature.

Layouts as in SPC-4: Start-Stop Cycle Counter, Temperature, and the list of the pages.
"""

import struct

SUPPORTED, TEMPERATURE, START_STOPS = 0x00, 0x0d, 0x0e
CODES = bytes([SUPPORTED, TEMPERATURE, START_STOPS])


def _page(code, body):
    return struct.pack(">BBH", code, 0, len(body)) + body


def _parameter(code, value):
    """Returns a read-only list parameter in binary or ASCII format."""
    return struct.pack(">HBB", code, 0x03, len(value)) + value


def image(code, starts, load_cycles, rated, celsius):
    """Returns the page. `rated` is the pair of specified start and load cycles."""
    if code == SUPPORTED:
        return _page(code, CODES)
    if code == TEMPERATURE:                                  # current temperature, highest permitted temperature
        return _page(code, _parameter(0, bytes([0, celsius])) + _parameter(1, bytes([0, 85])))
    counts = zip((3, 4, 5, 6), (rated[0], starts, rated[1], load_cycles))
    return _page(code, _parameter(1, b"202617") + _parameter(2, b" " * 6) +     # week of manufacture; no accounting date
                 b"".join(_parameter(number, struct.pack(">I", count)) for number, count in counts))
