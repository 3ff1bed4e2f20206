/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "ata-identify.h"

#define ALPHANUMERIC "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

bool identify_is_empty(const uint16_t id[static 256]) {
        for (size_t i = 1; i < 256; i++)
                if (id[i] != id[0])
                        return false;

        return true;
}

bool identify_checksum_ok(const uint16_t id[static 256]) {
        uint8_t sum = 0;

        for (size_t i = 0; i < 256; i++)
                sum += (id[i] & 0xFF) + (id[i] >> 8);

        return !identify_is_empty(id) && ((id[255] & 0xFF) != IDENTIFY_CHECKSUM_MARK || sum == 0);
}

bool identify_is_incomplete(const uint16_t id[static 256]) {
        /* Bit 2 of word 0 had another meaning in ATA-1. */
        return (id[0] & 1U << 2) && (id[2] == 0x37C8 || id[2] == 0x8C73);
}

/* Bits 15:14 of a marked word are 01 when it is valid: a word of an old drive is 0000h or FFFFh. */
static bool marked(uint16_t word) {
        return (word & 0xC000) == 0x4000;
}

bool identify_word_valid(const uint16_t id[static 256], unsigned word) {
        switch (word) {
        case 82:
        case 83:
                return marked(id[83]);
        case 85 ... 87:
                return marked(id[87]);
        case 119 ... 120:
                return (id[86] & 0x8000) && marked(id[word]);
        case 76 ... 79:
                return id[76] != 0x0000 && id[76] != 0xFFFF;
        case 50:
        case 84:
                return marked(id[word]);
        case 206:
                return id[206] != 0xFFFF;
        default:
                return true;
        }
}

uint32_t identify_field(const uint16_t id[static 256], const IdentifyField *f) {
        uint64_t words = id[f->word] | (f->bits > 16 ? (uint64_t) id[f->word + 1] << 16 : 0);

        return identify_word_valid(id, f->word) ? words >> f->bit & ((UINT64_C(1) << MAX(f->bits, 1)) - 1) : 0;
}

bool identify_bit(const uint16_t id[static 256], uint8_t word, uint8_t bit) {
        return identify_field(id, &(IdentifyField){ word, bit, 1 });
}

/* The text of `size - 1` characters from that word on, without the blanks around it; empty when any of it is not printable. */
static void identify_text(const uint16_t *words, char *ret, size_t size) {
        char text[64] = {}, *start = text;
        size_t n;

        /* The first character of each pair is in the high byte. */
        for (size_t i = 0; i < size - 1; i++)
                text[i] = (char) (i % 2 == 0 ? words[i / 2] >> 8 : words[i / 2] & 0xFF);

        /* As udev has it: nothing behind a NUL. But what begins with one has no spelling of udev's. */
        while (start < text + size - 1 && (*start == ' ' || *start == '\0'))
                start++;
        for (n = strlen(start); n > 0 && start[n - 1] == ' '; n--)
                ;

        memset(ret, 0, size);
        for (size_t i = 0; i < n; i++)
                if (start[i] < ' ' || start[i] > '~')
                        return;
        memcpy(ret, start, n);
}

void identify_drive(const uint16_t id[static 256], DriveIdentity *ret) {
        *ret = (DriveIdentity){};
        identify_text(id + 27, ret->model, sizeof ret->model);
        identify_text(id + 10, ret->serial, sizeof ret->serial);
        identify_text(id + 23, ret->firmware, sizeof ret->firmware);

        /* Supported: bit 8 of word 84, or of 87. There is one form of it (5), and real drives have 0 in its place. */
        if ((identify_bit(id, 84, 8) || identify_bit(id, 87, 8)) && id[108] >> 12 == 5)
                (void) snprintf(ret->wwn, sizeof ret->wwn, "0x%04x%04x%04x%04x", id[108], id[109], id[110], id[111]);
}

bool ata_information_parse(const uint8_t *page, size_t size, DriveIdentity *ret) {
        enum { SIZE = 572, COMMAND = 56, IDENTIFY = 60, IDENTIFY_DEVICE = 0xEC };
        uint16_t id[256];

        /* The command that the data is the answer to: that of an ATAPI device is another. */
        if (size < SIZE || page[1] != 0x89 || page[COMMAND] != IDENTIFY_DEVICE)
                return false;

        for (size_t i = 0; i < ELEMENTSOF(id); i++)
                id[i] = (uint16_t) (page[IDENTIFY + 2 * i] | page[IDENTIFY + 2 * i + 1] << 8);
        if (!identify_checksum_ok(id))
                return false;

        identify_drive(id, ret);
        return ret->serial[0] != '\0';
}

bool identify_serial_agrees(const uint16_t id[static 256], const char *udev_serial) {
        char serial[21];
        const char *a = serial, *b = udev_serial;

        identify_text(id + 10, serial, sizeof serial);
        while (*a) {
                size_t n = strspn(a, ALPHANUMERIC);

                if (n != strspn(b, ALPHANUMERIC) || memcmp(a, b, n) != 0)
                        return false;
                a += n + strcspn(a + n, ALPHANUMERIC);
                b += n + strcspn(b + n, ALPHANUMERIC);
        }

        /* One that is empty was not udev's source. */
        return *b == '\0' || !serial[0];
}
