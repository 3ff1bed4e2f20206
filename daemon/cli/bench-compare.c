/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep bench --compare`: whether two measurements differ, as far as their samples can tell, and what else has changed. */

#include <math.h>

#include "bench-show.h"
#include "choice.h"
#include "output.h"
#include "records.h"
#include "statistics.h"

/* clang-format off */
static const Column columns[] = {
        { "title", "MEASURED" },
        { "before", "BEFORE", .right = true },
        { "after", "AFTER", .right = true },
        { "says", "DIFFERENCE", .wrap = true },
};
/* clang-format on */

/* ---- which two ---- */

/* By which results know the drive that this means: one that is here, or else as its results have it. */
static char *find_key(const char *state_dir, const Results *results, const char *argument) {
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(records_done) Records records = {};
        size_t n;

        for (size_t i = results->n_items; i-- > 0;) {
                const Result *r = results->items + i;

                if (streq_ptr(r->serial, argument) || streq(r->key, argument))
                        return must(strdup(r->key));
        }
        (void) must_not_fail(records_read_drives(state_dir, &inventory, &records));
        if (drives_choose(inventory.drives, inventory.n_drives, (char *[]){ (char *) argument, NULL }, &n) !=
            EXIT_WANTED)
                return NULL;
        return must(strdup(result_drive_key(inventory.drives[0])));
}

/* The last one, of the drive that is named, if one is; and the last one before it of the same drive. */
static int find_last_two(const Options *o, Results *results, const Result **ret_before, const Result **ret_after) {
        const Result *after = NULL, *before = NULL;
        _cleanup_free_ char *key = NULL;
        int r;

        r = bench_load_kept(o, results);
        if (r != EXIT_WANTED)
                return r;
        if (o->names) {
                key = find_key(o->state_dir, results, o->names[0]);
                if (!key)
                        return EXIT_BAD_INPUT;
        } else if (results->n_items > 0)
                key = must(strdup(results->items[results->n_items - 1].key));

        for (size_t i = results->n_items; i-- > 0 && !before;)
                if (streq(results->items[i].key, key)) {
                        if (after)
                                before = results->items + i;
                        else
                                after = results->items + i;
                }
        if (!before) {
                warn_escaped("there are no two measurements of %s in %s; 'drivekeep bench' lists what there is",
                             o->names ? o->names[0]
                             : after  ? after->drive
                                      : "any drive",
                             o->results);
                return EXIT_BAD_INPUT;
        }

        *ret_before = before;
        *ret_after = after;
        return EXIT_WANTED;
}

static int load_named(const Options *o, const char *name, Result *ret) {
        int r = result_load(o->results, name, ret);

        if (r >= 0)
                return EXIT_WANTED;
        if (r == -EBADMSG)
                warn_escaped("'%s' is no measurement that 'drivekeep bench' has written", name);
        else
                warn_escaped("the measurement '%s' cannot be read: %s; 'drivekeep bench' lists what there is", name,
                             strerror(-r));
        return EXIT_BAD_INPUT;
}

/* ---- what differs ---- */

char *difference_format(FigureKind kind, const Difference *d, size_t n) {
        static const char *const words[_FIGURE_KIND_MAX][2] = {
                [FIGURE_SPEED] = { "slower", "faster" },
                [FIGURE_LATENCY] = { "shorter", "longer" },
                [FIGURE_RATE] = { "fewer", "more" },
        };
        bool more = d->factor > 1;
        double middle = fabs(d->factor - 1) * 100, low = fabs((more ? d->low : d->high) - 1) * 100,
               high = fabs((more ? d->high : d->low) - 1) * 100;
        int digits = high < 10;

        if (!d->known)
                return must_format("not known: it takes %u samples of each", SAMPLES_MIN);
        if (!d->differs)
                return must_format("no difference that %zu samples could show", n);
        return must_format("%.*f %% %s (%.*f to %.*f %%)", digits, middle, words[kind][more], digits, low, digits,
                           high);
}

static void tell_figure(Output *out, const Measured *x, const Measured *y, unsigned n_compared) {
        Difference d = samples_compare(x->samples, x->n_samples, y->samples, y->n_samples, x->figure->error,
                                       n_compared);
        _cleanup_free_ char *says = difference_format(x->figure->kind, &d, MIN(x->n_samples, y->n_samples));
        char text[FIGURE_TEXT_MAX];

        output_row(out);
        output_text(out, "name", x->figure->key);
        output_cell(out, "title", x->figure->title);
        output_real(out, "before", x->n_samples > 0, d.before);
        output_cell(out, "before", x->n_samples > 0 ? figure_format(x->figure->kind, d.before, text) : NULL);
        output_real(out, "after", y->n_samples > 0, d.after);
        output_cell(out, "after", y->n_samples > 0 ? figure_format(y->figure->kind, d.after, text) : NULL);
        output_real(out, "factor", d.known, d.factor);
        output_real(out, "low", d.known, d.low);
        output_real(out, "high", d.known, d.high);
        output_boolean(out, "differs", d.known ? d.differs : -1);
        output_text(out, "says", says);
        output_end(out);
}

static const ResultSetting *find_setting(const Result *r, const ResultSetting *wanted) {
        for (const ResultSetting *s = r->settings; s < r->settings + r->n_settings; s++)
                if (streq(s->key, wanted->key) && streq(s->name, wanted->name))
                        return s;
        return NULL;
}

static void tell_change(Output *out, const char *drive, const char *what, const char *before, const char *after) {
        if (streq_ptr(before, after))
                return;
        output_object(out, NULL);
        output_text(out, "drive", drive);
        output_text(out, "name", what);
        output_text(out, "before", before);
        output_text(out, "after", after);
        output_end(out);
        output_note(out, "%s%s%s: %s before, %s after", drive ?: "", drive ? ", " : "", what, before ?: "not known",
                    after ?: "not known");
}

static void tell_changes(Output *out, const Result *before, const Result *after) {
        output_array(out, "changes");
        tell_change(out, NULL, "drive", before->key, after->key);
        tell_change(out, NULL, "firmware", before->firmware, after->firmware);
        tell_change(out, NULL, "host", before->host, after->host);
        tell_change(out, NULL, "kernel", before->kernel, after->kernel);
        for (const ResultSetting *s = after->settings; s < after->settings + after->n_settings; s++) {
                const ResultSetting *old = find_setting(before, s);

                tell_change(out, s->drive, s->name, old ? old->value : NULL, s->value);
        }
        for (const ResultSetting *s = before->settings; s < before->settings + before->n_settings; s++)
                if (!find_setting(after, s))
                        tell_change(out, s->drive, s->name, s->value, NULL);
        output_end(out);
}

static int compare(const Options *o, const Result *before, const Result *after) {
        _cleanup_(output_freep) Output *out = output_new(o->json, columns, ELEMENTSOF(columns));
        unsigned n_compared = 0;

        for (const Measured *m = before->bench.items; m < before->bench.items + before->bench.n_items; m++)
                n_compared += bench_find(&after->bench, m->figure) != NULL;

        output_document(out, NULL);
        output_text(out, "before", before->name);
        output_text(out, "after", after->name);
        output_array(out, "figures");
        for (const Measured *m = before->bench.items; m < before->bench.items + before->bench.n_items; m++) {
                const Measured *other = bench_find(&after->bench, m->figure);

                if (other)
                        tell_figure(out, m, other, n_compared);
        }
        output_end(out);
        output_note(out, "before: %s, after: %s", before->name, after->name);
        tell_changes(out, before, after);
        output_print(out);
        return EXIT_WANTED;
}

int bench_compare(const Options *o) {
        _cleanup_(results_done) Results results = {};
        _cleanup_(result_done) Result a = {}, b = {};
        const Result *before = &a, *after = &b;
        int r;

        if (o->names && o->names[1] && o->names[2]) {
                warnx("say which two: 'drivekeep bench --compare', '--compare DRIVE' or '--compare BEFORE AFTER'");
                return EXIT_BAD_INPUT;
        }
        if (o->names && o->names[1]) {
                r = load_named(o, o->names[0], &a);
                if (r == EXIT_WANTED)
                        r = load_named(o, o->names[1], &b);
        } else
                r = find_last_two(o, &results, &before, &after);
        return r == EXIT_WANTED ? compare(o, before, after) : r;
}
