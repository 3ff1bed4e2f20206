"""The 512 bytes of IDENTIFY DEVICE data."""

import struct


def text(words, first, length, value):
    """Stores a text in ATA's order: two bytes per word, the first in the high byte. ATA permits only ASCII; tests of hostile drives use more."""
    raw = value.encode().ljust(length)[:length]
    for i in range(0, length, 2):
        words[first + i // 2] = raw[i] << 8 | raw[i + 1]


def number(words, first, count, value):
    """Stores a number in `count` words, the least significant word first."""
    for i in range(count):
        words[first + i] = value >> 16 * i & 0xffff


def base_words(drive):
    """Returns all words. The words of feature sets are not filled in."""
    words = [0] * 256
    words[0] = 0x0040
    words[1], words[3], words[6] = 16383, 16, 63
    words[2] = 0xc837
    text(words, 10, 20, drive.serial.rjust(20))
    text(words, 23, 8, drive.firmware)
    text(words, 27, 40, drive.model)
    words[48] = 0x4000
    words[49] = 0x0f00             # DMA, LBA, IORDY
    words[50] = 0x4000
    words[53] = 0x0006             # words 64-70 and 88 are valid
    number(words, 60, 2, min(drive.sectors, 0x0fffffff))
    words[64] = 0x0003
    words[65:69] = [120] * 4
    words[76] = 0x000e             # SATA generations 1 to 3, no NCQ
    words[77] = 3 << 1
    words[80] = 0x03f0             # ACS-2 and its predecessors
    words[82] = 1 << 14
    words[83] = 0x4000 | 1 << 10 | 1 << 12 | 1 << 13
    words[84] = 0x4000
    words[87] = 0x4000
    number(words, 100, 4, drive.sectors)
    words[106] = 0x6003 if drive.physical_4k else 0x4000
    if drive.wwn is not None:
        words[84] |= 1 << 8
        wwn = int(drive.wwn, 16)
        words[108:112] = [wwn >> shift & 0xffff for shift in (48, 32, 16, 0)]
    words[119] = words[120] = 0x4000
    words[217] = drive.rpm
    words[222] = 0x107f            # SATA, up to revision 3.1
    return words


def identify(drive):
    """Returns the data of IDENTIFY DEVICE with the checksum at the end."""
    words = base_words(drive)
    for feature in drive.features:
        feature.words(words)

    # Words 85 to 87 show enabled features. For features that cannot be turned off,
    # these words equal words 82 to 84, which show supported features.
    switchable = {85: 0x0063, 86: 0x0228}
    for word in (85, 86, 87):
        words[word] |= words[word - 3] & ~switchable.get(word, 0)
    words[86] |= 1 << 15           # words 119 and 120 are valid

    return sealed(words)


def sealed(words):
    """Returns the words as bytes with the checksum at the end."""
    raw = struct.pack("<255H", *words[:255]) + b"\xa5"
    return raw + bytes([-sum(raw) & 0xff])


def altered(data, words):
    """Returns IDENTIFY data with some words changed and a correct checksum."""
    changed = list(struct.unpack("<256H", data))
    for number, value in words.items():
        changed[number] = value
    return sealed(changed)
