/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <limits.h>

#include "macro.h"
#include "nearest.h"

/* Nobody types a key longer than this by mistake. */
#define WORD_MAX 63U

static unsigned char fold(char c) {
        return c == '-' ? '_' : (unsigned char) tolower((unsigned char) c);
}

/* Optimal string alignment: insertions, deletions, replacements and swapped neighbours count one each. */
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
                d = MIN(d, limit); /* "spindown" for "spindown_time": near, but a smaller slip is nearer */

        if (d <= limit && (!n->word || d < n->distance)) {
                n->word = candidate;
                n->distance = d;
        }
}
