/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How often each of some words has come up, as one text for a drive's record (record.h): "boot 1 resume 3". Pure. */

#include "macro.h"

/* Words beyond that number are counted together, as this one. */
#define TALLY_WORDS_MAX 24U
#define TALLY_REST "other"

typedef struct TallyEntry {
        const char *word; /* of the text, without a NUL behind it */
        size_t len;
        uint64_t n;
} TallyEntry;

/* One more of this word; *tally is NULL, or a text that is freed. A blank in the word stands as \x20. -ENOMEM: nothing is changed. */
int tally_add(char **tally, const char *word);

/* The entry that *rest (NULL: none) begins with; *rest is then what follows. False: there is none, or the text is not a tally. */
bool tally_next(const char **rest, TallyEntry *ret);
