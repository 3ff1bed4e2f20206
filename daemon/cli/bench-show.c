/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A measurement as a table, or as JSON: then with every sample. And the list of those that are kept. */

#include <stdio.h>

#include "bench-show.h"
#include "clock.h"
#include "output.h"
#include "statistics.h"

/* clang-format off */
static const Column figure_columns[] = {
        { "title", "MEASURED" },
        { "median", "MEDIAN", .right = true },
        { "interval", "95 % INTERVAL", .right = true },
        { "samples", "SAMPLES", .right = true },
        { "left_out", "LEFT OUT", .wrap = true },
};
/* clang-format on */

/* "2 (others used the drive), 1 (in the page cache)". NULL: none. */
static char *format_left_out(const Measured *m) {
        const struct {
                size_t n;
                const char *why;
        } all[] = {
                { m->n_others, "others used the drive" },
                { m->n_cached, "in the page cache" },
                { m->n_failed, m->complaint },
        };
        char *text = NULL;

        for (size_t i = 0; i < ELEMENTSOF(all); i++)
                if (all[i].n > 0) {
                        char *longer = must_format("%s%s%zu (%s)", text ?: "", text ? ", " : "", all[i].n,
                                                   all[i].why ?: "errors");

                        free(text);
                        text = longer;
                }
        return text;
}

static void tell_figure(Output *out, const Measured *m) {
        _cleanup_free_ char *left_out = format_left_out(m);
        char median[FIGURE_TEXT_MAX], interval[FIGURE_TEXT_MAX];
        Estimate e = samples_estimate(m->samples, m->n_samples, m->figure->error);

        output_row(out);
        output_cell(out, "title", m->figure->title);
        output_cell(out, "median", m->n_samples > 0 ? figure_format(m->figure->kind, e.median, median) : NULL);
        output_cell(out, "interval", e.bounded ? figure_format_range(m->figure->kind, e.low, e.high, interval) : NULL);
        output_textf(out, "samples", "%zu", m->n_samples);
        output_cell(out, "left_out", left_out);
        output_end(out);
}

int bench_show(const Options *o, const Result *r) {
        _cleanup_(output_freep) Output *out = NULL;

        if (o->json) {
                _cleanup_free_ char *text = result_format(r);

                (void) fputs(text, stdout);
                return EXIT_WANTED;
        }

        out = output_new(false, figure_columns, ELEMENTSOF(figure_columns));
        for (const Measured *m = r->bench.items; m < r->bench.items + r->bench.n_items; m++)
                tell_figure(out, m);
        if (!r->bench.counted)
                output_note(out,
                            "the kernel does not count what %s is used for, so what others did meanwhile was not seen",
                            r->drive);
        output_print(out);
        return EXIT_WANTED;
}

/* clang-format off */
static const Column list_columns[] = {
        { "name", "NAME" },
        { "drive", "DRIVE" },
        { "model", "MODEL", .wrap = true },
        { "serial", "SERIAL", .spared = 1 },
        { "when", "WHEN" },
        { "samples", "SAMPLES", .right = true },
};
/* clang-format on */

int bench_load_kept(const Options *o, Results *ret) {
        int r = results_load(o->results, ret);

        if (r >= 0)
                return EXIT_WANTED;
        warn_escaped("%s cannot be read: %s", o->results, strerror(-r));
        return EXIT_BAD_INPUT;
}

int bench_list(const Options *o) {
        _cleanup_(output_freep) Output *out = output_new(o->json, list_columns, ELEMENTSOF(list_columns));
        _cleanup_(results_done) Results results = {};
        char text[HUMAN_MAX];
        int r;

        r = bench_load_kept(o, &results);
        if (r != EXIT_WANTED)
                return r;
        if (results.n_items == 0)
                warn_escaped("nothing is kept in %s; 'drivekeep bench DRIVE' measures a drive", o->results);

        output_document(out, "measurements");
        for (const Result *x = results.items; x < results.items + results.n_items; x++) {
                size_t n = bench_count_samples(&x->bench);
                _cleanup_free_ char *count = must_format("%zu", n);

                output_row(out);
                output_text(out, "name", x->name);
                output_text(out, "host", x->host);
                output_text(out, "boot_id", x->boot_id);
                output_text(out, "drive", x->drive);
                output_text(out, "model", x->model);
                output_text(out, "serial", x->serial);
                if (o->json)
                        output_text(out, "when", time_format_rfc3339(x->when, text));
                else
                        output_cell(out, "when", time_format_short(x->when, now_usec(), text));
                output_number(out, "samples", true, (int64_t) n);
                output_cell(out, "samples", count);
                output_end(out);
        }
        output_print(out);
        return EXIT_WANTED;
}
