/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>

#include "must.h"
#include "pick.h"

#define MARGIN 0.03

static double goal_median(const Contest *c, size_t i) {
        Estimate e = samples_estimate(c->trials[i].goal, c->n_rounds, 0);

        return e.bounded ? e.median : NAN;
}

static Difference compare(const Contest *c, const double *from, const double *to, double error, unsigned n_compared) {
        return samples_compare_pairs(from, to, c->n_rounds, error, n_compared);
}

static bool is_better(const Scale *s, const Difference *d) {
        return d->differs && (d->factor < 1) == s->less_is_better;
}

static bool is_worse(const Scale *s, const Difference *d) {
        return d->differs && !is_better(s, d);
}

/* Is it shown to be no worse than by so much? */
static bool is_as_good(const Scale *s, const Difference *d) {
        return d->known && (s->less_is_better ? d->high <= 1 + MARGIN : d->low >= 1 - MARGIN);
}

/* The one with the best median; SIZE_MAX: there are too few samples of all. */
static size_t find_best(const Contest *c) {
        size_t best = SIZE_MAX;
        double level = NAN;

        for (size_t i = 0; i < c->n_trials; i++) {
                double median = goal_median(c, i);

                if (isnan(median) || (best != SIZE_MAX && (c->goal.less_is_better ? median >= level : median <= level)))
                        continue;
                best = i;
                level = median;
        }
        return best;
}

/* The smallest that was not shown to be worse than the best. */
static size_t find_knee(const Contest *c, size_t best) {
        for (size_t i = 0; i < best && c->ordered; i++) {
                Difference d = compare(c, c->trials[best].goal, c->trials[i].goal, c->goal.error, 1);

                if (d.known && !is_worse(&c->goal, &d))
                        return i;
        }
        return best;
}

/* All comparisons with the present value: goals, then costs. */
typedef struct Family {
        Difference *items;
        size_t n_items, n_goals;
} Family;

/* By Holm's steps: each comparison is corrected for all that have not shown a difference yet, until none shows one any more. */
static Family family_compare(const Contest *c) {
        Family f = { .n_goals = c->n_trials, .n_items = c->trials[c->current].cost ? 2 * c->n_trials : c->n_trials };
        size_t n_left = f.n_items / f.n_goals * (c->n_trials - 1), n_before;

        f.items = must(calloc(f.n_items, sizeof *f.items));
        do {
                unsigned n_compared = (unsigned) n_left;

                n_before = n_left;
                for (size_t i = 0; i < f.n_items; i++) {
                        size_t k = i % f.n_goals;
                        const Trial *from = c->trials + c->current, *to = c->trials + k;

                        if (k == c->current || f.items[i].differs)
                                continue;
                        f.items[i] = i < f.n_goals ? compare(c, from->goal, to->goal, c->goal.error, n_compared)
                                                   : compare(c, from->cost, to->cost, c->cost.error, n_compared);
                        n_left -= f.items[i].differs;
                }
        } while (n_left > 0 && n_left < n_before);
        return f;
}

static void take(Pick *p, const Family *f, PickReason reason, size_t i) {
        p->reason = reason;
        p->index = i;
        p->goal = f->items[i];
        p->cost = f->n_items > f->n_goals ? f->items[f->n_goals + i] : (Difference){};
}

Pick contest_decide(const Contest *c) {
        Pick p = { .index = c->current };
        size_t best = find_best(c), knee;
        Family f;

        if (best == SIZE_MAX || c->n_trials < 2)
                return p;
        f = family_compare(c);
        for (size_t i = 0; i < f.n_goals; i++)
                if (f.items[i].known)
                        p.reason = PICK_CURRENT;

        knee = find_knee(c, best);
        /* Of those from the knee to the best the first that is shown to be better. */
        for (size_t i = knee; i <= best && p.index == c->current; i++)
                if (is_better(&c->goal, f.items + i))
                        take(&p, &f, PICK_BETTER, i);
        if (p.reason == PICK_CURRENT && f.n_items > f.n_goals && knee != c->current &&
            is_as_good(&c->goal, f.items + knee) && is_better(&c->cost, f.items + f.n_goals + knee))
                take(&p, &f, PICK_CHEAPER, knee);
        free(f.items);
        return p;
}
