/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep` can be told to do: one file per verb, one table of them (verb.c). A new verb is its file, a line
 * here and a line in the table. */

#include "macro.h"
#include "verdict-word.h"

#define STATE_DIR "/run/drivekeep/drives"
#define RESULT_DIR "/var/lib/drivekeep/bench" /* what `drivekeep bench` keeps */
#define CONFIG_ROOTS_MAX 8U
#define COMMANDS_MAX 21U

/* What a verb can be told, beside what all can: options.c has a row for each. */
typedef enum OptionFlags {
        OPTION_JSON = 1 << 0,
        OPTION_STATE_DIR = 1 << 1,
        OPTION_CONFIG_ROOT = 1 << 2,
        OPTION_PERMANENT = 1 << 3,
        OPTION_STRICT = 1 << 4,
        OPTION_VERBOSE = 1 << 5,
        OPTION_AS = 1 << 6,
        OPTION_IDENTIFY = 1 << 7,
        OPTION_FORMAT = 1 << 8,
        OPTION_COMMAND = 1 << 9,
        OPTION_ON_BATTERY = 1 << 10,
        OPTION_FAILED = 1 << 11,
        OPTION_WAIT = 1 << 12,
        OPTION_TRY = 1 << 13, /* --keep and --undo */
        OPTION_NOW = 1 << 14,
        OPTION_WAKES = 1 << 15, /* --summary and --watch */
        OPTION_PLOT = 1 << 16,
        OPTION_BENCH = 1 << 17,   /* --compare and --results */
        OPTION_MEASURE = 1 << 18, /* --budget and --file */
        OPTION_TUNE = 1 << 19,    /* --force, --write and --plot=FILE */
        OPTION_SVG = 1 << 20,
        OPTION_METRICS = 1 << 21, /* --metrics and --output */
        OPTION_HOST = 1 << 22,
        OPTION_IMPORT = 1 << 23, /* --write=NAME and --force */
        OPTION_WEAR = 1 << 24,   /* --wear and --setting */
} OptionFlags;

typedef struct Options {
        bool takes_names; /* of the verb: DRIVE… or the like may follow */
        char **names;     /* NULL-terminated, argv's own; NULL: none given */
        bool json, permanent, strict, verbose, quiet, no_legend, no_pager, on_battery, failed, wait, keep, undo, now,
                        summary, watch, plot, compare, force, write, metrics, wear;
        const char *state_dir;
        const char *roots[CONFIG_ROOTS_MAX + 1]; /* for config_load(): those that were given, or else the system's */
        size_t n_roots;                          /* how many were given */
        const char *as, *identify, *format, *svg, *budget, *file, *output, *host; /* NULL: not given */
        const char *results, *write_to, *picture, *setting;
        GROWING_ARRAY(const char *, commands); /* for import to read; borrowed texts */
} Options;

#define DRIVE_IS "DRIVE is a kernel name, a device node or a link to it, a serial number or a WWN"

typedef enum ExitStatus {
        EXIT_WANTED = 0,     /* all is as the files want it */
        EXIT_BAD_INPUT = 1,  /* the command or the configuration is in error, or something broke */
        EXIT_NOT_WANTED = 2, /* some setting is not as wanted */
        EXIT_NO_SERVICE = 3, /* drivekeep.service does not run */
        EXIT_LATER = 75,     /* nothing failed, and something is left for later (sysexits.h: EX_TEMPFAIL) */
} ExitStatus;

/* What a setting of this verdict adds to the exit status; EXIT_WANTED: nothing. */
ExitStatus exit_of_verdict(Verdict v, bool optional);

/* The worse of two exit statuses: a failure is worse than EXIT_LATER. */
ExitStatus exit_worse(ExitStatus a, ExitStatus b);

typedef struct Verb {
        const char *name;
        const char *summary;   /* one sentence, for `drivekeep --help` */
        const char *arguments; /* behind its name; NULL: it takes none */
        const char *help;      /* for its own --help */
        OptionFlags options;   /* beside those that all have */
        bool paged;            /* what it prints may be long */
        bool changes;          /* something: its place in `drivekeep --help` */
        const struct Verb *const
                        *commands; /* that its --help lists, at most COMMANDS_MAX, with a NULL behind; NULL: none */

        /* Returns an ExitStatus, having said why on stderr, or a negative errno that nobody has spoken of yet. */
        int (*run)(const Options *o);
} Verb;

extern const Verb verb_alert, verb_apply, verb_bench, verb_cat, verb_check, verb_edit, verb_explain, verb_import,
                verb_list, verb_plan, verb_release, verb_reload, verb_settings, verb_show, verb_standby, verb_status,
                verb_try, verb_tune, verb_wakes;

/* Which of these words (NULL at the end) is the verb: the first that is no option and no argument of one. NULL: none is. */
char **verb_find_word(char **words);

/* Parses the verb's arguments and runs it; argv[0] is "drivekeep NAME". Returns as run() does. Complaints about options are argp's own
 * words, and it exits (argp_err_exit_status, main.c). */
int verb_run(const Verb *verb, int argc, char *argv[]);

/* The command line of a program that does the verb's work: its path, the options, and behind -- the verb and the names. The caller frees it by
 * words_free(). */
char **options_to_words(const Options *o, const Verb *verb, const char *program);
void words_free(char **words);

/* The whole command: finds the verb, runs it, and returns the exit status. */
int verb_dispatch(int argc, char *argv[]);
