/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdio.h>

#include "ata-identify.h"
#include "probe.h"

#define SECTOR_SIZE 512U

enum {
        WORD_ROTATION = 217, /* 1: does not rotate; 0401h and more: revolutions per minute */
        WORD_SECTORS_28 = 60,
        WORD_SECTORS_48 = 100,
        WORD_SECTOR_SIZE = 106,
        WORD_LOGICAL_SECTOR_SIZE = 117,
};

/* Several words that are one number: the first one is its lowest part. */
static uint64_t number(const uint16_t *words, unsigned n) {
        uint64_t v = 0;

        while (n-- > 0)
                v = v << 16 | words[n];
        return v;
}

static uint64_t image_size(const uint16_t *id) {
        uint64_t sectors = 0, bytes = SECTOR_SIZE;

        /* There are drives that say they have the larger number, and have 0. */
        if (identify_bit(id, 83, 10))
                sectors = number(id + WORD_SECTORS_48, 4);
        if (sectors == 0)
                sectors = number(id + WORD_SECTORS_28, 2);
        /* Valid like words 82…84, and larger than 512 bytes. */
        if ((id[WORD_SECTOR_SIZE] & 0xD000) == 0x5000)
                bytes = 2 * number(id + WORD_LOGICAL_SECTOR_SIZE, 2);

        return __builtin_mul_overflow(sectors, bytes, &bytes) ? 0 : bytes;
}

static bool is_text(const uint16_t id[static 256]) {
        for (const uint8_t *b = (const uint8_t *) id; b < (const uint8_t *) (id + 256); b++)
                if (*b < ' ' && !isspace(*b))
                        return false;

        return true;
}

const char *identify_image_objection(const uint16_t id[static 256]) {
        if (identify_is_empty(id))
                return "holds no IDENTIFY data: all its words are the same";
        if (is_text(id))
                return "holds text, and no IDENTIFY data";
        if ((id[255] & 0xFF) != IDENTIFY_CHECKSUM_MARK && id[255] >> 8 == IDENTIFY_CHECKSUM_MARK)
                return "has the two bytes of each word in the wrong order";

        /* CompactFlash has a number of its own, or another of some cards. */
        if (!(id[0] & 0x8000) || id[0] == 0x848A || id[0] == 0x844A)
                return NULL;
        return id[0] & 0x4000 ? "is of no ATA drive: its first word is that of no kind of device"
                              : "is of an ATAPI device, such as a DVD drive, and drivekeep sends these no ATA commands";
}

static int copy_text(char **field, const char *text) {
        if (*text == '\0')
                return 0;
        *field = strdup(text);
        return *field ? 0 : -ENOMEM;
}

int identify_image_drive(const uint16_t id[static 256], const char *name, Drive **ret) {
        _cleanup_(drive_freep) Drive *d = calloc(1, sizeof *d);
        DriveIdentity identity;

        if (!d)
                return -ENOMEM;

        identify_drive(id, &identity);
        d->transport = TRANSPORT_SATA;
        d->ata = true;
        d->rotational = id[WORD_ROTATION] != 1;
        d->rotational_untold = d->rotational && (id[WORD_ROTATION] < 0x0401 || id[WORD_ROTATION] == 0xFFFF);
        d->size = image_size(id);

        /* There is no such directory, and no row for the kernel's side finds anything there. */
        if (copy_text(&d->name, name) < 0 || copy_text(&d->node, name) < 0 ||
            copy_text(&d->syspath, "/nonexistent") < 0 || copy_text(&d->model, identity.model) < 0 ||
            copy_text(&d->serial, identity.serial) < 0 || copy_text(&d->firmware, identity.firmware) < 0 ||
            copy_text(&d->wwn, identity.wwn) < 0)
                return -ENOMEM;

        *ret = TAKE_PTR(d);
        return 0;
}

#define HEXADECIMAL "0123456789abcdefABCDEF"
#define BLANK " \t\r"

/* 256 words of four digits; a line with anything else in it is a heading ("/dev/sda:"). */
static int parse_hexadecimal(const char *text, uint16_t ret[static 256]) {
        size_t n = 0;

        for (const char *line = text; *line; line += *line == '\n') {
                const char *end = line + strcspn(line, "\n"), *p = line;

                if (line + strspn(line, HEXADECIMAL BLANK) < end)
                        p = end;
                for (p += strspn(p, BLANK); p < end; p += 4 + strspn(p + 4, BLANK)) {
                        if (strspn(p, HEXADECIMAL) != 4 || n == 256)
                                return -EBADMSG;
                        ret[n++] = (uint16_t) strtoul(p, NULL, 16);
                }
                line = end;
        }

        return n == 256 ? 0 : -EBADMSG;
}

int identify_image_parse(const char *text, size_t size, uint16_t ret[static 256]) {
        if (size == SECTOR_SIZE) {
                for (size_t i = 0; i < 256; i++)
                        ret[i] = (uint16_t) ((uint8_t) text[2 * i] | (uint8_t) text[2 * i + 1] << 8);
                return 0;
        }

        return memchr(text, '\0', size) ? -EBADMSG : parse_hexadecimal(text, ret);
}
