/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which known word a mistyped one was meant to be. Offer the candidates one by one; `word` is the best so far. */

typedef struct Nearest {
        const char *typed;
        const char *word; /* NULL: nothing is near */
        unsigned distance;
} Nearest;

void nearest_offer(Nearest *n, const char *candidate);
