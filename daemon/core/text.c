/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <limits.h>
#include <stdio.h>

#include "text.h"

int string_replace(char **field, const char *value) {
        char *copy = value ? strdup(value) : NULL;

        if (value && !copy)
                return -ENOMEM;

        free(*field);
        *field = copy;
        return 0;
}

uint64_t text_hash(const char *text, size_t size) {
        uint64_t hash = UINT64_C(0xcbf29ce484222325);

        for (const char *end = text + size; text < end; text++)
                hash = (hash ^ (unsigned char) *text) * UINT64_C(0x100000001b3);
        return hash;
}

/* Decodes the character at the start of `s`. Returns its length in bytes; 0: not UTF-8. */
static size_t utf8_decode(const char *s, size_t size, uint32_t *ret) {
        static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 }; /* lowest code point by length */
        const unsigned char *b = (const unsigned char *) s;
        uint32_t c;
        size_t n;

        if (size == 0)
                return 0;

        n = b[0] < 0x80 ? 1 : b[0] < 0xc0 ? 0 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : b[0] < 0xf8 ? 4 : 0;
        if (n == 0 || n > size)
                return 0;

        c = n == 1 ? b[0] : b[0] & (0x7fU >> n);
        for (size_t i = 1; i < n; i++) {
                if ((b[i] & 0xc0) != 0x80)
                        return 0;
                c = c << 6 | (b[i] & 0x3fU);
        }

        /* Rejects overlong forms, UTF-16 surrogates and code points above U+10FFFF. */
        if (c < least[n] || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
                return 0;

        *ret = c;
        return n;
}

bool text_is_utf8(const char *s, size_t size) {
        uint32_t c;

        for (size_t i = 0, n; i < size; i += n) {
                n = utf8_decode(s + i, size - i, &c);
                if (n == 0)
                        return false;
        }

        return true;
}

bool text_is_name(const char *s) {
        static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

        return *s && *s != '.' && s[strspn(s, characters)] == '\0';
}

const char *text_find_invisible(const char *s, size_t size, const char **ret_name) {
        static const struct {
                const char *bytes, *name;
        } invisible[] = {
                { "\xc2\xa0", "U+00A0, a no-break space" },
                { "\xc2\xad", "U+00AD, a soft hyphen" },
                { "\xe2\x80\x82", "U+2002, an en space" },
                { "\xe2\x80\x83", "U+2003, an em space" },
                { "\xe2\x80\x87", "U+2007, a figure space" },
                { "\xe2\x80\x89", "U+2009, a thin space" },
                { "\xe2\x80\x8b", "U+200B, a zero width space" },
                { "\xe2\x80\x8c", "U+200C, a zero width non-joiner" },
                { "\xe2\x80\x8d", "U+200D, a zero width joiner" },
                { "\xe2\x80\x8e", "U+200E, a left-to-right mark" },
                { "\xe2\x80\x8f", "U+200F, a right-to-left mark" },
                { "\xe2\x80\xaf", "U+202F, a narrow no-break space" },
                { "\xe2\x81\xa0", "U+2060, a word joiner" },
                { "\xe3\x80\x80", "U+3000, an ideographic space" },
                { "\xef\xbb\xbf", "U+FEFF, a byte order mark" },
        };

        for (const char *end = s + size; s < end; s++)
                for (size_t i = 0; (unsigned char) *s >= 0x80 && i < ELEMENTSOF(invisible); i++) {
                        size_t n = strlen(invisible[i].bytes);

                        if ((size_t) (end - s) >= n && memcmp(s, invisible[i].bytes, n) == 0) {
                                *ret_name = invisible[i].name;
                                return s;
                        }
                }

        return NULL;
}

/* Returns the length of the character at `p` in bytes. Returns 0 for bytes that are not UTF-8, for control characters
 * (also non-ASCII ones, which some terminals obey), for line breaks, and for characters that change the direction of
 * writing. */
static size_t printable_length(const char *p) {
        uint32_t c = 0;
        /* The size of 4 is safe: decoding stops at the NUL at the end. */
        size_t n = utf8_decode(p, 4, &c);

        return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ? 0
                                                                                                                   : n;
}

char *text_escape(const char *s, const char *also) {
        char *copy, *out;

        out = copy = malloc(strlen(s) * strlen("\\xNN") + 1);
        if (!copy)
                return NULL;

        while (*s) {
                size_t n = also && strchr(also, *s) ? 0 : printable_length(s);

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

const char *text_find_garbled_option(char *const *words) {
        for (; *words && !streq(*words, "--"); words++) {
                _cleanup_free_ char *shown = text_escape(*words, NULL);

                if (**words == '-' && !(shown && streq(shown, *words)))
                        return *words;
        }

        return NULL;
}

char text_escaped_character(const char *s) {
        if (s[0] != '\\' || s[1] != 'x' || !isxdigit((unsigned char) s[2]) || !isxdigit((unsigned char) s[3]))
                return '\0';

        return (char) strtoul((char[]){ s[2], s[3], '\0' }, NULL, 16);
}

int text_unescape(const char *s, char **ret) {
        _cleanup_free_ char *copy = NULL;
        char *out;

        out = copy = malloc(strlen(s) + 1);
        if (!copy)
                return -ENOMEM;

        while (*s) {
                char c = *s == '\\' ? text_escaped_character(s) : *s;

                if (c == '\0')
                        return -EBADMSG;
                *out++ = c;
                s += *s == '\\' ? strlen("\\xNN") : 1;
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

/* ---- mistyped words ---- */

/* A word with more characters than this is not compared. */
#define WORD_MAX 63U

static unsigned char fold(char c) {
        return c == '-' ? '_' : (unsigned char) tolower((unsigned char) c);
}

/* Returns the optimal string alignment distance: each insertion, deletion, replacement and swap of neighbours counts as
 * one. */
static unsigned word_distance(const char *a, size_t n, const char *b, size_t m) {
        uint8_t d[WORD_MAX + 1][WORD_MAX + 1];

        for (size_t i = 0; i <= n; i++)
                for (size_t j = 0; j <= m; j++) {
                        if (i == 0 || j == 0) {
                                d[i][j] = i + j;
                                continue;
                        }
                        d[i][j] = d[i - 1][j - 1] + (fold(a[i - 1]) != fold(b[j - 1]));
                        d[i][j] = MIN(d[i][j], MIN(d[i - 1][j], d[i][j - 1]) + 1);
                        if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]))
                                d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
                }

        return d[n][m];
}

/* Compares two words, which end at a blank or NUL. Ignores case, '-' and '_'. */
static bool is_same_word(const char *a, const char *b) {
        for (;; a++, b++) {
                a += strspn(a, "-_");
                b += strspn(b, "-_");
                if (!*a || *a == ' ' || !*b || *b == ' ')
                        return (!*a || *a == ' ') && (!*b || *b == ' ');
                if (tolower((unsigned char) *a) != tolower((unsigned char) *b))
                        return false;
        }
}

bool text_has_word(const char *words, const char *word) {
        for (const char *w = words; w; w = strchr(w, ' ')) {
                w += *w == ' ';
                if (is_same_word(w, word))
                        return true;
        }

        return false;
}

void nearest_offer(Nearest *n, const char *candidate) {
        size_t a = strlen(n->typed), b = strlen(candidate), shorter = MIN(a, b), longer = MAX(a, b), i;
        unsigned d, limit;

        if (shorter == 0 || longer > WORD_MAX)
                return;

        for (i = 0; i < shorter && fold(n->typed[i]) == fold(candidate[i]); i++)
                ;

        limit = b <= 4 ? 1 : b <= 8 ? 2 : 3;
        d = longer - shorter <= limit ? word_distance(n->typed, a, candidate, b) : UINT_MAX;
        if (i == shorter && shorter >= 4)
                d = MIN(d, limit); /* a prefix counts as near: "spindown" for "spindown_time" */

        if (d <= limit && (!n->word || d < n->distance)) {
                n->word = candidate;
                n->distance = d;
        }
}
