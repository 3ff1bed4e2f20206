/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep bench`: measures a drive as it is, by reads alone, and keeps what came of it. */

#include <err.h>
#include <sys/stat.h>

#include "bench-show.h"
#include "output.h"
#include "subject.h"

/* ---- doing it ---- */

static int show_and_keep(const Subject *s) {
        const Options *o = s->options;
        const Result *r = &s->result;
        int status, k;

        status = bench_show(o, r);
        if (status != EXIT_WANTED)
                return status;
        if (bench_count_samples(&r->bench) == 0) {
                warn_escaped("nothing was measured of %s, so nothing is kept", s->drive->name);
                return EXIT_BAD_INPUT;
        }

        k = result_save(o->results, r);
        if (k < 0) {
                warn_escaped("the measurement cannot be kept in %s: %s", o->results, strerror(-k));
                return EXIT_BAD_INPUT;
        }
        if (!o->json && !o->no_legend)
                printf("\nKept as %s. 'drivekeep bench --compare' compares the last two of a drive.\n", r->name);
        return EXIT_WANTED;
}

static int measure_subject(Subject *s) {
        const BenchTask task = subject_task(s);
        int r;

        r = bench_run(&task, &s->result.bench);
        subject_hide_progress(s);
        return r < 0 ? r : show_and_keep(s);
}

static int measure(const Options *o) {
        Subject s;
        int r;

        if (o->names[1]) {
                warnx("one drive is measured at a time: 'drivekeep bench DRIVE'");
                return EXIT_BAD_INPUT;
        }
        r = subject_open(o, "bench", "3min", &s);
        if (r == EXIT_WANTED)
                r = subject_make_file(&s);
        if (r == EXIT_WANTED)
                r = measure_subject(&s);
        subject_close(&s);
        return r;
}

static int run(const Options *o) {
        if ((o->budget || o->file) && (o->compare || !o->names)) {
                warnx("--budget and --file are for a measurement: 'drivekeep bench DRIVE'");
                return EXIT_BAD_INPUT;
        }
        /* Others may read what is kept. */
        (void) umask(0022);
        if (o->compare)
                return bench_compare(o);
        return o->names ? measure(o) : bench_list(o);
}

const Verb verb_bench = {
        .name = "bench",
        .summary = "Measure how fast a drive is, and compare measurements",
        .arguments = "[DRIVE]\n--compare [DRIVE]\n--compare BEFORE AFTER",
        .help = "Measures how fast a drive is with the settings that it has, by reads alone, for three minutes, and keeps the "
                "figures. Without arguments: lists what is kept. Needs fio."
                "\v" DRIVE_IS ". "
                "--compare says whether the last two measurements of a drive differ, or BEFORE and AFTER, as the list names them. "
                "Measuring needs root.",
        .options = OPTION_BENCH | OPTION_MEASURE | OPTION_JSON | OPTION_STATE_DIR,
        .run = run,
};
