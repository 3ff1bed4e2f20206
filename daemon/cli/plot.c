/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "clock.h"
#include "file-replace.h"
#include "output.h"
#include "plot.h"
#include "wake-history.h"

/* What is no file, such as /dev/stdout, is not replaced by one. */
static int svg_write(const char *path, const char *text) {
        struct stat st;
        int r;

        if (streq(path, "-")) {
                (void) fputs(text, stdout);
                return EXIT_WANTED;
        }
        if (lstat(path, &st) >= 0 && !S_ISREG(st.st_mode)) {
                warn_escaped("%s is not a regular file, and is left as it is; '-' is standard output", path);
                return EXIT_BAD_INPUT;
        }

        r = must_not_fail(file_replace(AT_FDCWD, path, text, false));
        if (r >= 0)
                return EXIT_WANTED;
        warn_escaped("%s cannot be written: %s", path, strerror(-r));
        return EXIT_BAD_INPUT;
}

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
