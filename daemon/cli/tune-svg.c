/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was measured as a picture: a panel for each setting, each value against what the setting is for, with its interval. */

#include <math.h>
#include <stdio.h>

#include "must.h"
#include "svg.h"
#include "tuning.h"

/* In pixels. */
#define WIDTH 720U
#define LEFT 90U
#define PANEL 260U
#define HEAD 40U
#define HEIGHT 160U /* of what is drawn in a panel */

#define PICKED "#1a7f37"
#define OTHERS "#3b6fb6"

typedef struct Panel {
        const Tuning *t;
        Estimate *estimates; /* one for each value */
        double most;         /* what the upper edge stands for */
        unsigned top;        /* of what is drawn */
} Panel;

static double y_of(const Panel *p, double value) {
        return p->top + HEIGHT * (1 - (p->most > 0 ? value / p->most : 0));
}

static double x_of(const Panel *p, size_t trial) {
        return LEFT + (WIDTH - LEFT - 30.0) * ((double) trial + 0.5) / (double) p->t->tune.n_trials;
}

/* Opens the panel, which the caller ends. */
static void put_frame(FILE *f, const Panel *p, unsigned top, const char *most) {
        const Tuning *t = p->t;

        fprintf(f, "<g>\n<text x=\"10\" y=\"%u\" font-weight=\"bold\">%s: %s%s</text>\n", top + 20, t->tunable->setting,
                t->goal->title, t->goal->kind == FIGURE_LATENCY ? " (less is better)" : "");
        fprintf(f, "<path d=\"M%u %uV%uH%u\" stroke=\"#000\" fill=\"none\"/>\n", LEFT, p->top, p->top + HEIGHT,
                WIDTH - 20);
        fprintf(f, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\">%s</text>\n", LEFT - 6, p->top + 10, most);
        fprintf(f, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\">0</text>\n", LEFT - 6, p->top + HEIGHT);
}

static void put_trial(FILE *f, const Panel *p, size_t i) {
        const Tuning *t = p->t;
        const Estimate *e = p->estimates + i;
        bool picked = i == t->tune.pick.index && tuning_changes(t);
        const char *color = picked ? PICKED : OTHERS;
        double x = x_of(p, i), y = y_of(p, e->median);
        char text[VALUE_TEXT_MAX], median[FIGURE_TEXT_MAX], range[FIGURE_TEXT_MAX] = "";

        if (e->bounded) {
                (void) figure_format_range(t->goal->kind, e->low, e->high, range);
                fprintf(f, "<path d=\"M%g %gV%gM%g %gh12M%g %gh12\" stroke=\"%s\" fill=\"none\"/>\n", x,
                        y_of(p, e->low), y_of(p, e->high), x - 6, y_of(p, e->low), x - 6, y_of(p, e->high), color);
        }
        if (e->median > 0)
                fprintf(f, "<circle cx=\"%g\" cy=\"%g\" r=\"%u\" fill=\"%s\"><title>%s (%s)</title></circle>\n", x, y,
                        picked ? 6U : 4U, color, figure_format(t->goal->kind, e->median, median), range);
        fprintf(f, "<text x=\"%g\" y=\"%u\" text-anchor=\"middle\">", x, p->top + HEIGHT + 18);
        svg_put_text(f, tuning_format_value(t, i, text));
        fputs("</text>\n", f);
        if (picked || i == t->tune.contest.current)
                fprintf(f,
                        "<text x=\"%g\" y=\"%u\" text-anchor=\"middle\" font-weight=\"bold\" fill=\"%s\">%s</text>\n",
                        x, p->top + HEIGHT + 34, color, picked ? "best" : "now");
}

/* ---- a setting that saves power: a line for each value, over the times without use ---- */

static double time_x(const Panel *p, size_t time) {
        return LEFT + (WIDTH - LEFT - 120.0) * ((double) time + 0.5) / (double) p->t->tune.n_idle;
}

static void put_curve(FILE *f, const Panel *p, size_t trial) {
        static const char *const colors[] = { "#3b6fb6", "#d1242f", "#1a7f37", "#8250df", "#bf8700", "#57606a" };
        const char *color = colors[trial % ELEMENTSOF(colors)];
        const Tuning *t = p->t;
        char text[VALUE_TEXT_MAX];
        bool begun = false;

        fputs("<path d=\"", f);
        for (size_t k = 0; k < t->tune.n_idle; k++) {
                Estimate e = tuning_after(t, trial, k);

                if (e.n == 0)
                        continue;
                fprintf(f, "%c%g %gh0", begun ? 'L' : 'M', time_x(p, k), y_of(p, e.median));
                begun = true;
        }
        /* Each median is a dot as well, as round ends are drawn even of a line without length. */
        fprintf(f, "\" stroke=\"%s\" stroke-width=\"3\" stroke-linecap=\"round\" fill=\"none\"/>\n", color);
        /* One above the other, in the order of the values: curves may end at the same place. */
        fprintf(f, "<text x=\"%g\" y=\"%g\" fill=\"%s\">", WIDTH - 110.0, p->top + 12 + 16.0 * (double) trial, color);
        svg_put_text(f, tuning_format_value(t, trial, text));
        fprintf(f, "%s</text>\n", trial == t->tune.contest.current ? " (now)" : "");
}

static void put_curves(FILE *f, const Tuning *t, unsigned top) {
        Panel p = { .t = t, .top = top + HEAD };
        char text[FIGURE_TEXT_MAX];

        for (size_t i = 0; i < t->tune.n_trials; i++)
                for (size_t k = 0; k < t->tune.n_idle; k++)
                        p.most = fmax(p.most, tuning_after(t, i, k).median * 1.05);
        put_frame(f, &p, top, figure_format(t->goal->kind, p.most, text));
        for (size_t k = 0; k < t->tune.n_idle; k++)
                fprintf(f, "<text x=\"%g\" y=\"%u\" text-anchor=\"middle\">%u s</text>\n", time_x(&p, k),
                        p.top + HEIGHT + 18, idle_times[k]);
        for (size_t i = 0; i < t->tune.n_trials; i++)
                put_curve(f, &p, i);
        fputs("</g>\n", f);
}

static void put_panel(FILE *f, const Tuning *t, unsigned top) {
        _cleanup_free_ Estimate *estimates = must(calloc(t->tune.n_trials, sizeof *estimates));
        Panel p = { .t = t, .estimates = estimates, .top = top + HEAD };
        char text[FIGURE_TEXT_MAX];

        if (t->tunable->saves_power) {
                put_curves(f, t, top);
                return;
        }
        for (size_t i = 0; i < t->tune.n_trials; i++) {
                estimates[i] = tuning_goal(t, i);
                p.most = fmax(p.most, fmax(estimates[i].median, estimates[i].high) * 1.05);
        }

        put_frame(f, &p, top, figure_format(t->goal->kind, p.most, text));
        for (size_t i = 0; i < t->tune.n_trials; i++)
                put_trial(f, &p, i);
        fputs("</g>\n", f);
}

int tune_write_svg(const Subject *s, const Tunings *all) {
        _cleanup_free_ char *text = NULL, *title = must_format("%s: values of settings, measured", s->drive->name);
        unsigned n = 0;
        size_t size;
        FILE *f;

        for (const Tuning *t = all->items; t < all->items + all->n_items; t++)
                n += tuning_is_measured(t);
        f = must(open_memstream(&text, &size));
        svg_begin(f, WIDTH, n * PANEL + 10, title);
        n = 0;
        for (const Tuning *t = all->items; t < all->items + all->n_items; t++)
                if (tuning_is_measured(t))
                        put_panel(f, t, n++ * PANEL);
        fputs("</svg>\n", f);
        must_close(f);
        return svg_write(s->options->svg, text);
}
