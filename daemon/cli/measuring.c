/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep bench`, `drivekeep tune` and the plots of `drivekeep show`. They start a separate program (measure/), which distributions
 * can package separately. */

#include <err.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "measuring.h"
#include "output.h"

/* Width in columns if standard output is not a terminal. */
#define PIPE_WIDTH 80U

static int measuring_run(const Options *o, const Verb *verb, const char *what) {
        char **words = options_to_words(o, verb, TUNE_PROGRAM);

        /* With --quiet, descriptor 1 is /dev/null with O_CLOEXEC. The program must inherit the descriptor. */
        (void) fcntl(STDOUT_FILENO, F_SETFD, 0);
        (void) execv(words[0], words);
        if (errno == ENOENT)
                warnx("drivekeep %s needs the package drivekeep-tune, which is not installed", what);
        else
                warn("%s cannot be started", words[0]);
        words_free(words);
        return EXIT_BAD_INPUT;
}

/* Runs the program in a child process. If there is a pager, the child writes to the pager's file and cannot query the terminal. The
 * variable COLUMNS therefore tells the child the terminal's width. */
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
                must_work(setenv("PYTHONCOERCECLOCALE", "0", true)); /* keeps the user's locale */
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
        .summary = "Measure the speed of a drive, and compare measurements",
        .arguments = "[DRIVE]\n--compare [DRIVE]\n--compare BEFORE AFTER",
        .help = "Measure the speed of a drive with its current settings for three minutes, and store the result. Only read from the drive, "
                "except with --file. Without arguments: list the stored results. Needs the package drivekeep-tune."
                "\v" DRIVE_IS ". "
                "--compare shows whether two measurements differ: the last two of a drive, or BEFORE and AFTER from the list. "
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
        .arguments = "[DRIVE [SETTING...]]",
        .help = "For ten minutes, measure a drive with several values of each setting in turn. Print a configuration block with the "
                "better values. Only read from the drive, except with --file. The previous values are restored at the end, also after "
                "an error. Without arguments: list the last result of each drive and setting. Needs the package drivekeep-tune."
                "\v" DRIVE_IS ". "
                "Without SETTING, measure all settings that have a best value; write_cache and wbt_lat_usec need --file. Power-saving settings "
                "have no best value: if you name one, the first read after idle times is measured with each value. "
                "Measuring needs root, and drivekeep.service.",
        .options = OPTION_TUNE | OPTION_MEASURE | OPTION_SVG | OPTION_JSON | OPTION_STATE_DIR | OPTION_CONFIG_ROOT,
        .run = tune_run,
};
