/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which value of a setting is picked, by what was measured with each of them in turns. Pure. What was not shown to be better is not
 * picked: then the setting stays as it is. */

#include "statistics.h"

/* What was measured with one value. */
typedef struct Trial {
        double *goal; /* what the setting is for, a sample for each round; NAN: that one is missing … */
        double *cost; /* … and what it may cost; NULL: nothing that is measured */
} Trial;

/* Of goals or costs. */
typedef struct Scale {
        bool less_is_better;
        double error; /* Figure.error */
} Scale;

typedef struct Contest {
        const Trial *trials; /* one for each value … */
        size_t n_trials;
        bool ordered; /* … from the smallest value to the largest, of which a smaller one that is as good is preferred */
        size_t n_rounds;
        size_t current; /* the value that the drive has */
        Scale goal, cost;
} Contest;

typedef enum PickReason {
        PICK_UNKNOWN, /* there are too few samples to show any difference */
        PICK_CURRENT, /* none was shown to be better than the present one */
        PICK_BETTER,  /* the goal is better with it */
        PICK_CHEAPER, /* it costs less, and the goal was shown to be no worse than by 3 % */
} PickReason;

typedef struct Pick {
        PickReason reason;
        size_t index;          /* the present one where it stays */
        Difference goal, cost; /* from the present one to the one that is picked; corrected as below */
} Pick;

/* The chance that anything but the present value is picked where all are the same is 5 % or less: the picked one's differences are
 * among those of all values, of which all together are corrected for (S. Holm, "A simple sequentially rejective multiple test
 * procedure", 1979). */
Pick contest_decide(const Contest *c);
