/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was measured with each value, as a table for each setting and a sentence about what is picked; or as JSON with every sample. */

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "bench-show.h"
#include "output.h"
#include "tuning.h"

#define PLOT_WIDTH 20U

static const char *const reasons[] = {
        [PICK_UNKNOWN] = "unknown",
        [PICK_CURRENT] = "present",
        [PICK_BETTER] = "better",
        [PICK_CHEAPER] = "cheaper",
};

/* ---- a table for people ---- */

static double largest(const Tuning *t) {
        double most = 0;

        for (size_t i = 0; i < t->tune.n_trials; i++)
                most = fmax(most, tuning_goal(t, i).median);
        return most;
}

static void tell_trial(Output *out, const Tuning *t, size_t i, double most) {
        static const char bar[PLOT_WIDTH + 1] = "####################";
        char value[VALUE_TEXT_MAX], goal[FIGURE_TEXT_MAX], cost[FIGURE_TEXT_MAX], interval[FIGURE_TEXT_MAX];
        const Pick *p = &t->tune.pick;
        Estimate g = tuning_goal(t, i), c = tuning_cost(t, i);

        output_row(out);
        output_cell(out, "value", tuning_format_value(t, i, value));
        output_cell(out, "mark",
                    i == p->index && tuning_changes(t) ? "best"
                    : i == t->tune.contest.current     ? "now"
                                                       : NULL);
        output_cell(out, "goal", g.n > 0 ? figure_format(t->goal->kind, g.median, goal) : NULL);
        output_cell(out, "interval", g.bounded ? figure_format_range(t->goal->kind, g.low, g.high, interval) : NULL);
        output_textf(out, "plot", "%.*s", most > 0 ? (int) lround(g.median / most * PLOT_WIDTH) : 0, bar);
        output_cell(out, "cost", c.n > 0 ? figure_format(t->cost->kind, c.median, cost) : NULL);
        output_textf(out, "samples", "%zu", g.n);
        output_end(out);
}

static void tell_pick(Output *out, const Tuning *t) {
        const Pick *p = &t->tune.pick;
        const char *name = t->tunable->setting;
        char now[VALUE_TEXT_MAX], then[VALUE_TEXT_MAX];
        _cleanup_free_ char *goal = difference_format(t->goal->kind, &p->goal, t->tune.n_used), *cost = NULL;

        (void) value_format(&t->setting->range, t->values.items + t->values.current, now);
        (void) value_format(&t->setting->range, tuning_picked(t), then);
        if (t->cost)
                cost = difference_format(t->cost->kind, &p->cost, t->tune.n_used);

        switch (p->reason) {
        case PICK_UNKNOWN:
                output_note(out, "%s: leave it as it is (%s): %s", name, now,
                            t->tune.n_trials < 2 ? "no other value can be had"
                                                 : "there are too few samples to tell; --budget gives it more time");
                break;
        case PICK_CURRENT:
                output_note(out, "%s: leave it as it is (%s): %zu samples show no other value to be better", name, now,
                            t->tune.n_used);
                break;
        case PICK_BETTER:
                output_note(out, "%s: %s is better than %s: %s, %s", name, then, now, t->goal->title, goal);
                if (cost && p->cost.differs)
                        output_note(out, "beside that: %s, %s", t->cost->title, cost);
                break;
        case PICK_CHEAPER:
                assert(t->cost);
                output_note(out, "%s: %s is as good as %s, and costs less: %s, %s", name, then, now, t->cost->title,
                            cost);
                break;
        }
        if (tuning_caution(t))
                output_note(out, "%s: %s", name, tuning_caution(t));
}

void tune_tell_left_out(Output *out, const Tuning *t) {
        const Tune *x = &t->tune;

        if (x->n_others + x->n_cached + x->n_failed > 0)
                output_note(out,
                            "samples that are left out: %zu as others used the drive, %zu from the page cache, %zu for errors%s%s",
                            x->n_others, x->n_cached, x->n_failed, x->complaint ? ": " : "", x->complaint ?: "");
        if (t->left_out)
                output_note(out, "values that cannot be had: %s", t->left_out);
        if (!x->counted)
                output_note(out,
                            "the kernel does not count what %s is used for, so what others did meanwhile was not seen",
                            t->subject->drive->name);
}

static void show_table(const Tuning *t) {
        const Column columns[] = {
                { "value", t->tunable->setting, .right = true },
                { "mark", "" },
                { "goal", t->goal->title, .right = true, .wrap = true },
                { "interval", "95 % INTERVAL", .right = true },
                { "plot", "", .spared = 1 },
                { "cost", t->cost ? t->cost->title : "", .right = true, .wrap = true },
                { "samples", "SAMPLES", .right = true },
        };
        _cleanup_(output_freep) Output *out = output_new(false, columns, ELEMENTSOF(columns));
        double most = largest(t);

        for (size_t i = 0; i < t->tune.n_trials; i++)
                tell_trial(out, t, i, most);
        tell_pick(out, t);
        tune_tell_left_out(out, t);
        output_print(out);
        (void) putchar('\n');
}

/* ---- JSON ---- */

static void json_samples(Output *out, const Tuning *t, const char *key, const Figure *figure, const double *samples) {
        Estimate e = samples_estimate(samples, t->tune.n_rounds, figure->error);

        output_object(out, key);
        output_real(out, "median", e.n > 0, e.median);
        output_real(out, "low", e.bounded, e.low);
        output_real(out, "high", e.bounded, e.high);
        output_array(out, "samples");
        for (size_t i = 0; i < t->tune.n_rounds; i++)
                output_real(out, NULL, !isnan(samples[i]), samples[i]);
        output_end(out);
        output_end(out);
}

static void json_setting(Output *out, const Tuning *t) {
        const Tune *x = &t->tune;
        char text[VALUE_TEXT_MAX];

        output_object(out, NULL);
        output_text(out, "setting", t->tunable->setting);
        output_text(out, "lacking", t->lacking);
        if (!t->lacking) {
                output_text(out, "present",
                            value_format(&t->setting->range, t->values.items + t->values.current, text));
                output_text(out, "picked", value_format(&t->setting->range, tuning_picked(t), text));
                output_text(out, "reason", t->tunable->saves_power ? "curve" : reasons[x->pick.reason]);
                output_text(out, "caution", tuning_caution(t));
                output_text(out, "goal", t->goal->key);
                output_text(out, "cost", t->cost ? t->cost->key : NULL);
                output_number(out, "others", true, (int64_t) x->n_others);
                output_number(out, "cached", true, (int64_t) x->n_cached);
                output_number(out, "errors", true, (int64_t) x->n_failed);
                output_text(out, "left_out", t->left_out);
                output_array(out, "values");
                for (size_t i = 0; i < x->n_trials && x->n_rounds > 0; i++) {
                        output_object(out, NULL);
                        output_text(out, "value", tuning_format_value(t, i, text));
                        json_samples(out, t, "goal", t->goal, x->trials[i].goal);
                        if (t->cost)
                                json_samples(out, t, "cost", t->cost, x->trials[i].cost);
                        tune_curve_json(out, t, i);
                        output_end(out);
                }
                output_end(out);
        }
        output_end(out);
}

static void json_block(Output *out, char *block) {
        const char *line;

        output_array(out, "block");
        while ((line = strsep(&block, "\n")))
                if (*line)
                        output_text(out, NULL, line);
        output_end(out);
}

static void show_json(const Subject *s, const Tunings *all) {
        _cleanup_(output_freep) Output *out = output_new(true, NULL, 0);
        _cleanup_free_ char *block = tune_format_block(s, all);

        output_document(out, NULL);
        output_text(out, "drive", s->drive->name);
        output_text(out, "model", s->drive->model);
        output_text(out, "serial", s->drive->serial);
        output_array(out, "settings");
        for (const Tuning *t = all->items; t < all->items + all->n_items; t++)
                json_setting(out, t);
        output_end(out);
        json_block(out, block);
        output_print(out);
}

void tune_show(const Options *o, const Subject *s, const Tunings *all) {
        _cleanup_free_ char *block = NULL;

        if (o->json) {
                show_json(s, all);
                return;
        }

        for (const Tuning *t = all->items; t < all->items + all->n_items; t++)
                if (!tuning_is_measured(t)) {
                        _cleanup_free_ char *why = format_escaped("%s", t->lacking ?: "it ended before");

                        printf("%s: not measured: %s\n\n", t->tunable->setting, why);
                } else if (t->tunable->saves_power)
                        tune_show_curves(t);
                else
                        show_table(t);
        block = tune_format_block(s, all);
        if (block && !o->write)
                printf("To keep what is better: 'drivekeep tune --write', or this in the configuration:\n\n%s", block);
        else if (!block)
                (void) puts("All stays as it is.");
}
