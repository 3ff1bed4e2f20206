/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <time.h>

#include "must.h"
#include "plot.h"
#include "svg.h"

/* In pixels. */
#define LEFT 100U
#define HOUR_WIDTH 30U
#define DAY_WIDTH (24 * HOUR_WIDTH)
#define WIDTH (LEFT + DAY_WIDTH + 190)
#define BAR 14U
#define ROW 22U
#define HEAD 46U /* of a drive: its name and the hours */
#define GAP 14U
#define LEGEND 34U

/* Told apart by height and pattern, too. */
static const struct {
        const char *name, *fill;
        unsigned height;
} looks[_STRIP_STATE_MAX] = {
        [STRIP_UNKNOWN] = { "not known", "url(#unknown)", BAR },
        [STRIP_AWAKE] = { "awake", "#e08a1e", BAR },
        [STRIP_ASLEEP] = { "asleep", "#3b6fb6", 4 },
};

static void put_bar(FILE *f, StripState state, double x, unsigned y, double width) {
        fprintf(f, "<rect x=\"%g\" y=\"%u\" width=\"%g\" height=\"%u\" fill=\"%s\"/>\n", x,
                y + BAR - looks[state].height, width, looks[state].height, looks[state].fill);
}

static void put_wake(FILE *f, double x, unsigned y) {
        fprintf(f, "<path d=\"M%g %uv%u\" stroke=\"#000\" stroke-width=\"2\"", x, y - 3, BAR + 3);
}

static void put_day(FILE *f, const Strip *s, uint64_t now, const StripDay *d, unsigned y) {
        const double cell = (double) DAY_WIDTH / STRIP_CELLS;
        StripCell sum = strip_day_sum(d, 0, STRIP_CELLS);
        char buf[STRIP_TEXT_MAX];
        const char *asleep = strip_cell_asleep(&sum, buf);

        fprintf(f, "<text x=\"10\" y=\"%u\">%s</text>\n", y + BAR - 2, d->label);
        for (size_t i = 0, n; i < STRIP_CELLS; i += n) {
                StripState state = strip_cell_state(d->cells + i);

                for (n = 1; i + n < STRIP_CELLS && strip_cell_state(d->cells + i + n) == state;)
                        n++;
                if (state != STRIP_NONE)
                        put_bar(f, state, LEFT + (double) i * cell, y, (double) n * cell);
        }
        for (size_t i = 0; i < s->n_wakes; i++) {
                const WakeRecord *w = s->wakes[i];
                time_t when = (time_t) (w->when / 1000000);
                int second = strip_day_second(d, now, w->when);
                char text[STRIP_TEXT_MAX];
                struct tm t = {};

                if (second < 0)
                        continue;
                (void) strftime(text, sizeof text, "%F %T", localtime_r(&when, &t));
                put_wake(f, LEFT + second * (double) HOUR_WIDTH / 3600, y);
                fprintf(f, "><title>%s: ", text);
                svg_put_text(f, w->who);
                fputs("</title></path>\n", f);
        }
        fprintf(f, "<text x=\"%u\" y=\"%u\">", LEFT + DAY_WIDTH + 10, y + BAR - 2);
        if (asleep || sum.n_wakes > 0)
                fprintf(f, "%zu wake%s", sum.n_wakes, sum.n_wakes == 1 ? "" : "s");
        if (asleep)
                fprintf(f, ", %s asleep", asleep);
        fputs("</text>\n", f);
}

static void put_drive(FILE *f, const Strip *s, uint64_t now, unsigned y) {
        fprintf(f, "<g>\n<text x=\"10\" y=\"%u\" font-weight=\"bold\">", y + 14);
        svg_put_text(f, s->name);
        if (s->serial) {
                fputs("  ", f);
                svg_put_text(f, s->serial);
        }
        fputs("</text>\n", f);
        for (unsigned hour = 0; hour <= 24; hour += 3)
                fprintf(f, "<text x=\"%u\" y=\"%u\" text-anchor=\"middle\">%u</text>\n", LEFT + hour * HOUR_WIDTH,
                        y + HEAD - 10, hour);
        for (unsigned ago = STRIP_DAYS; ago-- > 0;) {
                StripDay day;

                strip_day(s, now, ago, &day);
                put_day(f, s, now, &day, y + HEAD + (STRIP_DAYS - 1 - ago) * ROW);
        }
        fputs("</g>\n", f);
}

static void put_legend(FILE *f, unsigned y) {
        static const StripState order[] = { STRIP_ASLEEP, STRIP_AWAKE, STRIP_UNKNOWN };
        unsigned x = LEFT;

        for (size_t i = 0; i < ELEMENTSOF(order); i++, x += 120) {
                put_bar(f, order[i], x, y, 30);
                fprintf(f, "<text x=\"%u\" y=\"%u\">%s</text>\n", x + 36, y + BAR - 2, looks[order[i]].name);
        }
        put_wake(f, x, y);
        fprintf(f, "/>\n<text x=\"%u\" y=\"%u\">woken</text>\n", x + 6, y + BAR - 2);
}

char *plot_svg_format(const Strip *strips, size_t n, uint64_t now) {
        const unsigned drive_height = HEAD + STRIP_DAYS * ROW + GAP, height = (unsigned) n * drive_height + LEGEND;
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        svg_begin(f, WIDTH, height, "When drives were asleep and awake");
        (void) fputs("<defs><pattern id=\"unknown\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
                     "<path d=\"M0 6L6 0\" stroke=\"#aaa\"/></pattern></defs>\n",
                     f);
        for (size_t i = 0; i < n; i++)
                put_drive(f, strips + i, now, (unsigned) i * drive_height);
        put_legend(f, (unsigned) n * drive_height + 6);
        fputs("</svg>\n", f);
        must_close(f);
        return text;
}
