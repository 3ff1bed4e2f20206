/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "ata-identify.h"

bool identify_checksum_ok(const uint16_t id[static 256]) {
        bool all_equal = true;
        uint8_t sum = 0;

        for (size_t i = 0; i < 256; i++) {
                all_equal = all_equal && id[i] == id[0];
                sum += (id[i] & 0xFF) + (id[i] >> 8);
        }

        if (all_equal)
                return false;
        return (id[255] & 0xFF) != 0xA5 || sum == 0;
}

/* Bits 15:14 of a marked word are 01 when it is valid: a word of an old drive is 0000h or FFFFh. */
static bool marked(uint16_t word) {
        return (word & 0xC000) == 0x4000;
}

bool identify_word_valid(const uint16_t id[static 256], unsigned word) {
        switch (word) {
        case 82 ... 84:
                return marked(id[83]);
        case 85 ... 87:
                return marked(id[87]);
        case 119:
                return marked(id[86] & 0x8000 ? id[119] : 0);
        case 120:
                return marked(id[86] & 0x8000 ? id[120] : 0);
        case 76 ... 79:
                return id[76] != 0x0000 && id[76] != 0xFFFF;
        case 50:
                return marked(id[50]);
        case 206:
                return id[206] != 0xFFFF;
        default:
                return true;
        }
}

bool identify_bit(const uint16_t id[static 256], unsigned word, unsigned bit) {
        return identify_word_valid(id, word) && (id[word] & (1U << bit));
}

void identify_serial(const uint16_t id[static 256], char ret[static IDENTIFY_SERIAL_SIZE]) {
        char text[IDENTIFY_SERIAL_SIZE] = {};
        size_t start, end = IDENTIFY_SERIAL_SIZE - 1;

        /* The first character of each pair is in the high byte. */
        for (size_t i = 0; i < 20; i++)
                text[i] = (char) (i % 2 == 0 ? id[10 + i / 2] >> 8 : id[10 + i / 2] & 0xFF);

        while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\0'))
                end--;
        start = MIN(strspn(text, " "), end);

        memset(ret, 0, IDENTIFY_SERIAL_SIZE);
        memcpy(ret, text + start, end - start);
}

bool identify_serial_agrees(const uint16_t id[static 256], const char *udev_serial) {
        char serial[IDENTIFY_SERIAL_SIZE];
        const char *u = udev_serial;

        identify_serial(id, serial);
        for (const char *s = serial; *s; s++)
                if (!isalnum((unsigned char) *s) && !strchr(" _-.", *s))
                        return true;

        for (const char *s = serial; *s;) {
                if (*s == ' ' || *s == '_') {
                        if (*u != ' ' && *u != '_')
                                return false;
                        s += strspn(s, " _");
                        u += strspn(u, " _");
                        continue;
                }
                if (*s++ != *u++)
                        return false;
        }

        return *u == '\0';
}
