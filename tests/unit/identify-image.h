/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Makes IDENTIFY DEVICE data of a drive that supports all tested features. The checksum of the data is valid. */

#include <endian.h>

#include "macro.h"

typedef struct Image {
        uint16_t words[256]; /* little-endian, as sent by the drive */
} Image;

static inline void image_seal(Image *i) {
        const uint8_t *bytes = (const uint8_t *) i->words;
        uint8_t sum = 0xA5;

        for (size_t k = 0; k < 510; k++)
                sum += bytes[k];
        i->words[255] = htole16(0xA5 | (uint16_t) (uint8_t) -sum << 8);
}

/* Makes the data of a drive with these settings. If `apm` or `acoustic` is negative, the feature is off. Words 82 to 87
 * have the supported and enabled features, word 91 has the level of APM, and word 94 has the level of acoustic
 * management. */
static inline Image image_make(bool cache, bool lookahead, int apm, int acoustic) {
        Image i = {};

        i.words[0] = htole16(0x0040);
        i.words[49] = htole16(0x2000);
        i.words[82] = htole16(1 << 5 | 1 << 6 | 1 << 3);
        i.words[83] = htole16(0x4000 | 1 << 3 | 1 << 9 | 1 << 13);
        i.words[85] = htole16((cache ? 1 << 5 : 0) | (lookahead ? 1 << 6 : 0));
        i.words[86] = htole16((apm >= 0 ? 1 << 3 : 0) | (acoustic >= 0 ? 1 << 9 : 0));
        i.words[87] = htole16(0x4000);
        i.words[91] = htole16(0xA500 |
                              (apm >= 0 ? apm : 0x77)); /* arbitrary high byte; arbitrary low byte if APM is off */
        i.words[94] = htole16(0x8000 | (acoustic >= 0 ? acoustic : 0x33));
        i.words[206] = htole16(0x000D);
        image_seal(&i);
        return i;
}
