/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was measured of a setting that saves power: how long the first read takes after times without use, with each value. */

#include <stdio.h>

#include "statistics.h"
#include "tuning.h"

#define TIMES_MAX 16U

/* ---- a table for people ---- */

static void tell_curve(Output *out, const Tuning *t, size_t i, const Column *times) {
        const Curve *c = t->tune.curves + i;
        char value[VALUE_TEXT_MAX], latency[FIGURE_TEXT_MAX];

        output_row(out);
        output_cell(out, "value", tuning_format_value(t, i, value));
        output_cell(out, "mark", i == t->tune.contest.current ? "now" : NULL);
        for (size_t k = 0; k < t->tune.n_idle; k++) {
                Estimate e = tuning_after(t, i, k);

                output_cell(out, times[k].key, e.n > 0 ? figure_format(t->goal->kind, e.median, latency) : NULL);
        }
        if (c->cycles.known && c->n_waits > 0)
                output_textf(out, "cycles", "%lld in %u waits", (long long) c->cycles.number, c->n_waits);
        output_end(out);
}

static bool any_is_slow(const Tuning *t, size_t i) {
        const double limit = tune_slow_limit(&t->tune);

        for (const Measured *m = t->tune.curves[i].after, *end = m + t->tune.n_idle; m < end; m++)
                if (measured_count_slow(m, limit) > 0)
                        return true;
        return false;
}

static void tell_slow(Output *out, const Tuning *t, size_t i) {
        const Tune *x = &t->tune;
        const size_t slow = tune_find_slow(x, i), last = x->n_idle - 1;
        Estimate e = tuning_after(t, i, MIN(slow, last)), end = tuning_after(t, i, last);
        char value[VALUE_TEXT_MAX], latency[FIGURE_TEXT_MAX], at_end[FIGURE_TEXT_MAX];
        const char *name = t->tunable->setting;

        (void) tuning_format_value(t, i, value);
        if (e.n < 2)
                output_note(out, "%s = %s: there are too few samples to tell", name, value);
        else if (slow < last)
                output_note(out,
                            "%s = %s: from %u s without use on, the first read is slow: it takes %s then, and %s after %u s",
                            name, value, idle_times[slow], figure_format(t->goal->kind, e.median, latency),
                            figure_format(t->goal->kind, end.median, at_end), idle_times[last]);
        else if (slow == last)
                output_note(out, "%s = %s: after %u s without use, the first read is slow: it takes %s", name, value,
                            idle_times[slow], figure_format(t->goal->kind, e.median, latency));
        else if (any_is_slow(t, i))
                output_note(out,
                            "%s = %s: some first reads are slow, and others after as long a time or a longer one are not",
                            name, value);
        else
                output_note(out, "%s = %s: up to %u s without use, no first read is slow", name, value,
                            idle_times[last]);
}

/* The times that the budget has no room for. */
static void tell_room(Output *out, const Tuning *t) {
        size_t n = t->tune.n_idle;
        uint64_t hours = 1;
        unsigned longest;

        if (idle_times[n] == 0)
                return;
        while (idle_times[n] > 0)
                n++;
        longest = idle_times[n - 1];
        while (idle_times_fit(hours * 60 * 60 * 1000 * 1000, t->values.n_items, tuning_wake_seconds(t)) < n)
                hours++;
        output_note(out, "of %s alone, --budget=%lluh has room for times without use up to %u s", t->tunable->setting,
                    (unsigned long long) hours, longest);
}

void tune_show_curves(const Tuning *t) {
        char titles[TIMES_MAX][16], present[VALUE_TEXT_MAX];
        Column columns[TIMES_MAX + 3] = { { "value", t->tunable->setting, .right = true }, { "mark", "" } };
        _cleanup_(output_freep) Output *out = NULL;
        size_t n = 2;

        for (size_t k = 0; k < t->tune.n_idle; k++) {
                (void) snprintf(titles[k], sizeof titles[k], "%u s", idle_times[k]);
                columns[n++] = (Column){ titles[k], titles[k], .right = true };
        }
        columns[n++] = (Column){ "cycles", "LOAD CYCLES", .right = true };

        printf("%s: %s, by how long that time is\n", t->tunable->setting, t->goal->title);
        out = output_new(false, columns, n);
        for (size_t i = 0; i < t->tune.n_trials; i++)
                tell_curve(out, t, i, columns + 2);
        for (size_t i = 0; i < t->tune.n_trials; i++)
                tell_slow(out, t, i);
        output_note(out,
                    "what saves more power makes the first read slower, so no value is best: it stays as it is (%s)",
                    value_format(&t->setting->range, t->values.items + t->values.current, present));
        tell_room(out, t);
        tune_tell_left_out(out, t);
        output_print(out);
        (void) putchar('\n');
}

/* ---- JSON ---- */

void tune_curve_json(Output *out, const Tuning *t, size_t trial) {
        const Tune *x = &t->tune;
        const Curve *c = x->curves ? x->curves + trial : NULL;
        size_t slow = c ? tune_find_slow(x, trial) : 0;

        output_array(out, "idle");
        for (size_t k = 0; c && k < x->n_idle; k++) {
                Estimate e = tuning_after(t, trial, k);

                output_object(out, NULL);
                output_number(out, "seconds", true, idle_times[k]);
                output_real(out, "median", e.n > 0, e.median);
                output_array(out, "samples");
                for (size_t i = 0; i < c->after[k].n_samples; i++)
                        output_real(out, NULL, true, c->after[k].samples[i]);
                output_end(out);
                output_end(out);
        }
        output_end(out);
        output_number(out, "slow_after", c && slow < x->n_idle, c && slow < x->n_idle ? idle_times[slow] : 0);
        output_number(out, "load_cycles", c && c->cycles.known && c->n_waits > 0, c ? c->cycles.number : 0);
        output_number(out, "waits", c, c ? c->n_waits : 0);
}
