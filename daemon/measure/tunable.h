/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Settings that have a value which is best: what each is for, what it may cost, and which values are tried. And settings
 * that save power: none of their values is best, but what each costs who reads first after a time without use can be measured. */

#include "drive.h"
#include "figure.h"
#include "setting.h"

typedef struct Tunable {
        const char *setting;
        const char *goal, *cost; /* keys of figures; cost NULL: nothing that is measured */
        bool ordered;            /* more of it is no better than enough */
        const char *const *
                        ladder; /* values that are tried, as the file has them; ends with NULL. NULL: the names that the kernel lists … */
        const char *attribute; /* … in this file of the queue's. With a ladder: the greatest value, in the setting's unit */
        bool stripes;          /* of an array that has stripes also so many of these */
        const char *const *resets; /* other settings that its change may reset, ends with NULL; NULL: none */
        bool saves_power;          /* measured after times without use */
        const char *caution;       /* of its being on, where that is picked; NULL: none */
} Tunable;

/* Ends with {}. */
extern const Tunable tunables[];
#define TUNABLES_FOREACH(t) for (const Tunable *t = tunables; t->setting; t++)

/* NULL: there is none. */
const Tunable *tunable_find(const char *setting);

/* It is measured in a file of its own, and not by reads alone. */
bool tunable_writes(const Tunable *t);

/* The words of "none [mq-deadline] bfq" in a file of the queue's, for the caller to free (names_free()). NULL: there is none. */
char **tunable_names(const char *classdir, const Drive *d, const char *attribute);

typedef struct Values {
        GROWING_ARRAY(Value, items);
        size_t current; /* which of them the drive has */
} Values;

/* All that are to be tried on this drive, the present one among them; those of an ordered setting rise. The caller frees
 * ret.items. */
Values tunable_values(const Tunable *t, const Setting *s, const char *classdir, const Drive *d, const Value *current);
