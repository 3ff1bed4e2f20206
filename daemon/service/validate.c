/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "validate.h"

bool bools_are_valid(const bool *first, const bool *last) {
        for (const uint8_t *p = (const uint8_t *) first; p <= (const uint8_t *) last; p++)
                if (*p > 1)
                        return false;
        return true;
}

bool text_ends(const char *text, size_t size) {
        return memchr(text, '\0', size);
}
