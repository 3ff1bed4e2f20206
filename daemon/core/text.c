/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdio.h>

#include "text.h"

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

/* Bytes in the character at `p`; 0 when it is not UTF-8 or not fit to be shown. */
static size_t shown_length(const char *p) {
        const unsigned char *b = (const unsigned char *) p;
        size_t n;

        if (b[0] < 0x20 || b[0] == 0x7f)
                return 0;

        n = utf8_length(p, strnlen(p, 4));

        /* U+0080…U+009F: control characters that some terminals obey. */
        if (n == 2 && b[0] == 0xc2 && b[1] < 0xa0)
                return 0;

        /* U+2028…U+202E and U+2066…U+2069: line breaks, and what turns the direction of writing. */
        if (n == 3 && b[0] == 0xe2 &&
            ((b[1] == 0x80 && b[2] >= 0xa8 && b[2] <= 0xae) || (b[1] == 0x81 && b[2] >= 0xa6 && b[2] <= 0xa9)))
                return 0;

        return n;
}

char *text_escape(const char *s, const char *also) {
        char *copy, *out;

        out = copy = malloc(strlen(s) * strlen("\\xNN") + 1);
        if (!copy)
                return NULL;

        while (*s) {
                size_t n = also && strchr(also, *s) ? 0 : shown_length(s);

                if (n == 0)
                        out += sprintf(out, "\\x%02x", (unsigned char) *s++);
                else {
                        out = mempcpy(out, s, n);
                        s += n;
                }
        }

        *out = '\0';
        return copy;
}

static bool is_shown(const char *s) {
        size_t n;

        for (; *s; s += n) {
                n = shown_length(s);
                if (n == 0)
                        return false;
        }

        return true;
}

const char *text_find_garbled_option(char *const *words) {
        for (; *words && !streq(*words, "--"); words++)
                if (**words == '-' && !is_shown(*words))
                        return *words;

        return NULL;
}

static int hex_digit(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return -EBADMSG;
}

int text_unescape(const char *s, char **ret) {
        _cleanup_free_ char *copy = NULL;
        char *out;

        out = copy = malloc(strlen(s) + 1);
        if (!copy)
                return -ENOMEM;

        while (*s) {
                int high, low;

                if (*s != '\\') {
                        *out++ = *s++;
                        continue;
                }

                /* Each look goes one byte further only when the one before it was not the NUL at the end. */
                if (s[1] != 'x')
                        return -EBADMSG;
                high = hex_digit(s[2]);
                if (high < 0)
                        return high;
                low = hex_digit(s[3]);
                if (low < 0)
                        return low;
                if (high + low == 0)
                        return -EBADMSG;

                *out++ = (char) (high << 4 | low);
                s += strlen("\\xNN");
        }

        *out = '\0';
        *ret = TAKE_PTR(copy);
        return 0;
}

char *text_strip(char *s) {
        size_t n;

        s += strspn(s, " \t\r");
        n = strlen(s);
        while (n > 0 && isspace((unsigned char) s[n - 1]))
                s[--n] = '\0';
        return s;
}
