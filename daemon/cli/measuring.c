/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep bench`, `drivekeep tune` and what `drivekeep show` draws: the work of a program of its own, which a package of its own may
 * have (measure/). */

#include <err.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "measuring.h"
#include "output.h"

/* Columns, where standard output is no terminal. */
#define PIPE_WIDTH 80U

static int measuring_run(const Options *o, const Verb *verb, const char *what) {
        char **words = options_to_words(o, verb, TUNE_PROGRAM);

        /* --quiet has made it /dev/null, and the program would begin without it. */
        (void) fcntl(STDOUT_FILENO, F_SETFD, 0);
        (void) execv(words[0], words);
        if (errno == ENOENT)
                warnx("drivekeep %s needs a program of its own: install the package 'drivekeep-tune'", what);
        else
                warn("%s cannot be started", words[0]);
        words_free(words);
        return EXIT_BAD_INPUT;
}

/* In a child: what it prints goes to the pager, where there is one, and descriptor 1 is the terminal, which it is to fit. */
int measuring_draw(const Options *o) {
        static const Verb drawn = { .name = "show", .options = OPTION_PLOT | OPTION_SVG | OPTION_STATE_DIR };
        _cleanup_(output_freep) Output *out = output_new(false, NULL, 0);
        _cleanup_free_ char *width = must_format("%zu", output_width(out) ?: PIPE_WIDTH);
        int status = 0;
        pid_t pid;

        (void) fflush(stdout);
        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                must_work(setenv("COLUMNS", width, true));
                must_work(setenv("PYTHONCOERCECLOCALE", "0", true)); /* the locale says which characters there are */
                must_work(dup2(fileno(stdout), STDOUT_FILENO));
                _exit(measuring_run(o, &drawn, "show --plot"));
        }
        (void) TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
        return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_BAD_INPUT;
}

static int bench_run(const Options *o) {
        return measuring_run(o, &verb_bench, "bench");
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
        return measuring_run(o, &verb_tune, "tune");
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
