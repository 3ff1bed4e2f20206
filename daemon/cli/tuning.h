/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep tune` has measured of one drive, and what is made of that. */

#include "output.h"
#include "subject.h"
#include "tunable.h"
#include "tune.h"

/* A setting that a change of another one may reset, and what it is. */
typedef struct Beside {
        const Setting *setting;
        Value value;
} Beside;

/* One setting. */
typedef struct Tuning {
        Subject *subject; /* borrowed */
        const Tunable *tunable;
        const Setting *setting;
        const Figure *goal, *cost; /* cost NULL: nothing is measured of it */
        Values values;
        Beside *beside; /* the drive is to have these all the time, too */
        size_t n_beside;
        Tune tune;
        bool is_lost;   /* the drive has not kept what it was to hold */
        size_t held;    /* the value that the drive holds now; SIZE_MAX: none for this */
        char *left_out; /* values that cannot be had, and why: clauses; NULL: none */
        char *lacking;  /* nothing was measured, for this reason: a sentence's end; NULL: it was */
        int status;     /* ExitStatus of what has ended it early */
} Tuning;

typedef struct Tunings {
        GROWING_ARRAY(Tuning, items);
} Tunings;

/* How long the first read may take, as far as the times without use are planned by it. */
static inline unsigned tuning_wake_seconds(const Tuning *t) {
        return t->setting->spins_down ? 10 : 1;
}

static inline uint64_t tuning_job_share(const Figure *figure) {
        /* A first read is allowed more than a second, and as a rule needs less. */
        return MIN(figure_job(figure)->milliseconds, 1000U);
}

/* Its part of the time, beside those of others: how long all its values take once. 0: there is nothing to measure. */
static inline uint64_t tuning_share(const Tuning *t) {
        uint64_t share;

        if (t->lacking)
                return 0;
        share = tuning_job_share(t->goal);
        if (t->cost && figure_job(t->cost) != figure_job(t->goal))
                share += tuning_job_share(t->cost);
        return t->values.n_items * share;
}

static inline bool tuning_changes(const Tuning *t) {
        return !t->lacking && t->tune.pick.reason > PICK_CURRENT;
}

static inline bool tuning_is_measured(const Tuning *t) {
        const Tune *x = &t->tune;

        return !t->lacking && x->n_used + x->n_others + x->n_cached + x->n_failed > 0;
}

static inline const Value *tuning_picked(const Tuning *t) {
        return t->values.items + (tuning_changes(t) ? t->tune.values[t->tune.pick.index] : t->values.current);
}

/* Of what is picked; NULL: there is none. */
static inline const char *tuning_caution(const Tuning *t) {
        return tuning_changes(t) && tuning_picked(t)->number ? t->tunable->caution : NULL;
}

/* Of one of its values: what the setting is for, what it costs, and how the value is written. */
static inline Estimate tuning_goal(const Tuning *t, size_t trial) {
        return samples_estimate(t->tune.trials[trial].goal, t->tune.n_rounds, t->goal->error);
}

static inline Estimate tuning_cost(const Tuning *t, size_t trial) {
        return t->cost ? samples_estimate(t->tune.trials[trial].cost, t->tune.n_rounds, t->cost->error) : (Estimate){};
}

/* The same of a setting that saves power, after one of the times without use. */
static inline Estimate tuning_after(const Tuning *t, size_t trial, size_t time) {
        const Measured *m = t->tune.curves[trial].after + time;

        return samples_estimate(m->samples, m->n_samples, 0);
}

static inline const char *tuning_format_value(const Tuning *t, size_t trial, char buf[static VALUE_TEXT_MAX]) {
        return value_format(&t->setting->range, t->values.items + t->tune.values[trial], buf);
}

/* tune-held.c: what the drive has of a setting. Returns 0 or -ENODATA; why that is not known is the caller's to free then. */
int tune_read_value(const Subject *s, const Setting *row, Value *ret, char **ret_why);
void tune_find_beside(Tuning *t);

/* For TuneTask, of a Tuning. */
int tune_set_value(void *userdata, size_t value);
int tune_look_again(void *userdata, KnownNumber *ret_cycles);

/* The drive is to have again what it had. Returns EXIT_WANTED when it has, EXIT_NOT_WANTED, having said what it has, or EXIT_BAD_INPUT,
 * having said that it is gone. */
int tune_set_back(Tuning *t);

/* tune-show.c: all of it, to stdout. */
void tune_show(const Options *o, const Subject *s, const Tunings *t);

/* Of samples and values, as notes. */
void tune_tell_left_out(Output *out, const Tuning *t);

/* tune-curve.c: the same of a setting that saves power, as a table; and what the JSON has of each value. */
void tune_show_curves(const Tuning *t);
void tune_curve_json(Output *out, const Tuning *t, size_t trial);

/* tune-svg.c: to the file of --svg. Returns an ExitStatus. */
int tune_write_svg(const Subject *s, const Tunings *t);

/* tune-write.c: what is picked, as a block of the configuration; the caller frees it. NULL: all stays as it is. */
char *tune_format_block(const Subject *s, const Tunings *t);

/* Can the file be written at all? Returns an ExitStatus, having said why it cannot. */
int tune_may_write(const Subject *s);

/* Puts it into drivekeep.conf.d/60-tuned.conf, where the blocks of other drives stay as they are, and has the service read that.
 * Returns an ExitStatus. */
int tune_write(const Subject *s, const Tunings *t);
