/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdint.h>

#include "utf8.h"

size_t utf8_length(const char *s, size_t size) {
        const unsigned char *b = (const unsigned char *) s;
        uint32_t c, least;
        size_t n;

        if (size == 0)
                return 0;
        if (b[0] < 0x80)
                return 1;

        if ((b[0] & 0xe0) == 0xc0) {
                n = 2;
                least = 0x80;
                c = b[0] & 0x1fU;
        } else if ((b[0] & 0xf0) == 0xe0) {
                n = 3;
                least = 0x800;
                c = b[0] & 0x0fU;
        } else if ((b[0] & 0xf8) == 0xf0) {
                n = 4;
                least = 0x10000;
                c = b[0] & 0x07U;
        } else
                return 0;

        if (n > size)
                return 0;

        for (size_t i = 1; i < n; i++) {
                if ((b[i] & 0xc0) != 0x80)
                        return 0;
                c = c << 6 | (b[i] & 0x3fU);
        }

        /* An overlong form, half of a UTF-16 pair, or beyond Unicode's end. */
        if (c < least || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
                return 0;

        return n;
}
