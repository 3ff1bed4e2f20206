/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clock.h"
#include "output.h"
#include "plot.h"
#include "svg.h"
#include "wake-history.h"

int plot_show(const Options *o) {
        _cleanup_(wake_history_done) WakeHistory history = {};
        _cleanup_free_ Strip *strips = NULL;
        uint64_t now = now_usec(), told;
        size_t n = 0, n_wakes = 0;
        int r;

        r = wake_history_read(&history, o);
        if (r != EXIT_WANTED)
                return r;

        told = history.here.served ? now : history.here.changed;
        strips = must(calloc(MAX(history.n_chosen, 1U), sizeof *strips));
        for (const Candidate *c = history.drives; c < history.drives + history.n_chosen; c++) {
                strips[n] = strip_make(&history.records, c->name, c->serial, c->item, told);
                n_wakes += strips[n].n_wakes;
                if (o->names || strips[n].n_wakes > 0 || strips[n].n_spans > 0)
                        n++;
        }
        if (n_wakes == 0)
                wake_history_tell_nothing(o);

        if (o->svg) {
                _cleanup_free_ char *text = plot_svg_format(strips, n, now);

                r = svg_write(o->svg, text);
        } else
                plot_text_print(strips, n, now, !o->no_legend);
        while (n-- > 0)
                strip_done(strips + n);
        return r;
}
