/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep bench` and `drivekeep tune`: a program of its own measures, which a package of its own may have (measure/). */

#include <err.h>
#include <fcntl.h>

#include "output.h"
#include "verb.h"

static int measuring_run(const Options *o, const Verb *verb) {
        char **words = options_to_words(o, verb, TUNE_PROGRAM);

        /* --quiet has made it /dev/null, and the program would begin without it. */
        (void) fcntl(STDOUT_FILENO, F_SETFD, 0);
        (void) execv(words[0], words);
        if (errno == ENOENT)
                warnx("drivekeep %s needs a program of its own: install the package 'drivekeep-tune'", verb->name);
        else
                warn("%s cannot be started", words[0]);
        words_free(words);
        return EXIT_BAD_INPUT;
}

static int bench_run(const Options *o) {
        return measuring_run(o, &verb_bench);
}

const Verb verb_bench = {
        .name = "bench",
        .summary = "Measure how fast a drive is, and compare measurements",
        .arguments = "[DRIVE]\n--compare [DRIVE]\n--compare BEFORE AFTER",
        .help = "Measures how fast a drive is with the settings that it has, by reads alone, for three minutes, and keeps the "
                "figures. Without arguments: lists what is kept. Needs the package drivekeep-tune."
                "\v" DRIVE_IS ". "
                "--compare says whether the last two measurements of a drive differ, or BEFORE and AFTER, as the list names them. "
                "Measuring needs root.",
        .options = OPTION_BENCH | OPTION_MEASURE | OPTION_JSON | OPTION_STATE_DIR,
        .run = bench_run,
};

static int tune_run(const Options *o) {
        return measuring_run(o, &verb_tune);
}

const Verb verb_tune = {
        .name = "tune",
        .changes = true,
        .summary = "Measure which value of a setting is best",
        .arguments = "DRIVE [SETTING...]",
        .help = "Measures a drive with several values of each setting in turns, by reads alone (with --file also by writes to a file), for ten "
                "minutes, and prints the block for the configuration with those that are better. The drive has its own values again at "
                "the end, whatever happens. Needs the package drivekeep-tune."
                "\v" DRIVE_IS ". "
                "Without SETTING: all that have a best value, with --file also write_cache and wbt_lat_usec. A setting that saves power has "
                "none, and is measured where it is named: how long the first read takes after times without use, with each value. Needs "
                "root, and drivekeep.service.",
        .options = OPTION_TUNE | OPTION_MEASURE | OPTION_SVG | OPTION_JSON | OPTION_STATE_DIR | OPTION_CONFIG_ROOT,
        .run = tune_run,
};
