/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <langinfo.h>
#include <locale.h>

#include "output.h"
#include "plot.h"

#define LABEL_WIDTH 12U
#define SUMS_WIDTH 15U
#define PIPE_WIDTH 80U

typedef struct Glyphs {
        const char *states[_STRIP_STATE_MAX], *wake;
} Glyphs;

/* All else that the command prints needs no more than ASCII. */
static const Glyphs ascii = { { "?", "#", "_" }, "|" }, utf8 = { { "\xe2\x96\x91", "\xe2\x96\x88", "\xe2\x96\x81" },
                                                                 "\xe2\x86\x91" }; /* U+2591, 2588, 2581, 2191 */

/* The user's locale, which is not the one that main() has set. */
static bool locale_is_utf8(void) {
        locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t) 0);
        bool is = l && streq(nl_langinfo_l(CODESET, l), "UTF-8");

        if (l)
                freelocale(l);
        return is;
}

/* How many cells of a day become one: as few as there is room for. */
static size_t cells_per_glyph(size_t width) {
        size_t n = 1;

        while (n < 8 && LABEL_WIDTH + STRIP_CELLS / n + SUMS_WIDTH > width)
                n *= 2;
        return n;
}

static void print_hours(Output *o, size_t per_glyph) {
        /* A number of two digits and a blank have room. */
        unsigned step = per_glyph == 8 ? 6 : 3;
        int width = (int) (step * STRIP_CELLS_PER_HOUR / per_glyph);
        _cleanup_free_ char *line = NULL;
        size_t size;
        FILE *f = must(open_memstream(&line, &size));

        for (unsigned hour = 0; hour < 24; hour += step)
                fprintf(f, "%-*u", width, hour);
        must_close(f);
        output_line(o, "%*s%s  %5s  %6s", (int) LABEL_WIDTH, "", line, "WAKES", "ASLEEP");
}

static void print_day(Output *o, const StripDay *d, size_t per_glyph, const Glyphs *glyphs) {
        StripCell sum = strip_day_sum(d, 0, STRIP_CELLS);
        char buf[STRIP_TEXT_MAX];
        const char *asleep = strip_cell_asleep(&sum, buf);
        _cleanup_free_ char *line = NULL, *wakes = must_format("%zu", sum.n_wakes);
        size_t size;
        FILE *f = must(open_memstream(&line, &size));

        for (size_t i = 0; i < STRIP_CELLS; i += per_glyph) {
                StripCell c = strip_day_sum(d, i, per_glyph);
                StripState state = strip_cell_state(&c);

                (void) fputs(c.n_wakes > 0 ? glyphs->wake : state == STRIP_NONE ? " " : glyphs->states[state], f);
        }
        must_close(f);
        output_line(o, "%-*s%s  %5s  %6s", (int) LABEL_WIDTH, d->label, line, asleep || sum.n_wakes > 0 ? wakes : "-",
                    asleep ?: "-");
}

void plot_text_print(const Strip *strips, size_t n, uint64_t now, bool legend) {
        _cleanup_(output_freep) Output *o = output_new(false, NULL, 0);
        const Glyphs *glyphs = locale_is_utf8() ? &utf8 : &ascii;
        size_t per_glyph = cells_per_glyph(output_width(o) ?: PIPE_WIDTH);

        for (const Strip *s = strips; s < strips + n; s++) {
                if (s > strips)
                        output_line(o, "%s", "");
                output_line(o, "%s%s%s", s->name, s->serial ? "  " : "", s->serial ?: "");
                if (legend)
                        print_hours(o, per_glyph);
                for (unsigned ago = STRIP_DAYS; ago-- > 0;) {
                        StripDay day;

                        strip_day(s, now, ago, &day);
                        print_day(o, &day, per_glyph, glyphs);
                }
        }
        if (n > 0 && legend)
                output_line(o, "%s asleep  %s awake  %s woken  %s not known", glyphs->states[STRIP_ASLEEP],
                            glyphs->states[STRIP_AWAKE], glyphs->wake, glyphs->states[STRIP_UNKNOWN]);
}
