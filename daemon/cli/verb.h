/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The commands (verbs) of `drivekeep`: one file per verb, and a table in verb.c. A new verb needs its file, a line here and a line in
 * the table. */

#include "macro.h"
#include "verdict-word.h"

#define STATE_DIR "/run/drivekeep/drives"
#define CONFIG_ROOTS_MAX 8U
#define COMMANDS_MAX 23U

/* Options that a verb accepts, in addition to the common options. options.c has a row for each option. */
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
        OPTION_BENCH = 1 << 17,   /* --compare */
        OPTION_MEASURE = 1 << 18, /* --budget, --file and --results */
        OPTION_TUNE = 1 << 19,    /* --force, --write and --plot=FILE */
        OPTION_SVG = 1 << 20,
        OPTION_METRICS = 1 << 21, /* --metrics and --output */
        OPTION_HOST = 1 << 22,
        OPTION_IMPORT = 1 << 23,  /* --write=NAME and --force */
        OPTION_WEAR = 1 << 24,    /* --wear and --setting */
        OPTION_EVENTS = 1 << 25,  /* --follow */
        OPTION_REWRITE = 1 << 26, /* --try */
} OptionFlags;

typedef struct Options {
        bool takes_names; /* the verb accepts DRIVE... or other names */
        char **names;     /* NULL-terminated, part of argv; NULL: none given */
        bool json, permanent, strict, verbose, quiet, no_legend, no_pager, on_battery, failed, wait, keep, undo, now,
                        summary, watch, plot, compare, force, write, metrics, wear, rewrite;
        const char *state_dir;
        const char *roots[CONFIG_ROOTS_MAX + 1]; /* for config_load(): the given roots, or the default ones */
        size_t n_roots;                          /* number of given roots */
        const char *as, *identify, *format, *svg, *budget, *file, *output, *host; /* NULL: option not given */
        const char *results, *write_to, *picture, *setting;
        GROWING_ARRAY(const char *, commands); /* command lines to import; borrowed */
} Options;

#define DRIVE_IS "DRIVE is a kernel name, a device node or a link to it, a serial number or a WWN"

typedef enum ExitStatus {
        EXIT_WANTED = 0,     /* all is as wanted */
        EXIT_BAD_INPUT = 1,  /* error in the command or the configuration, or a failure */
        EXIT_NOT_WANTED = 2, /* a setting is not as wanted */
        EXIT_NO_SERVICE = 3, /* drivekeep.service does not run */
        EXIT_LATER = 75,     /* nothing failed, but something is deferred (sysexits.h: EX_TEMPFAIL) */
} ExitStatus;

/* Returns the exit status for a setting with this verdict; EXIT_WANTED: the setting is fine. */
ExitStatus exit_of_verdict(Verdict v, bool optional);

/* Returns the worse of two exit statuses. A failure is worse than EXIT_LATER. */
ExitStatus exit_worse(ExitStatus a, ExitStatus b);

typedef struct Verb {
        const char *name;
        const char *summary;   /* one sentence about the verb, for `drivekeep --help` */
        const char *arguments; /* arguments in the usage line; NULL: none */
        const char *help;      /* text of the verb's own --help */
        OptionFlags options;   /* options that the verb accepts in addition to the common options */
        bool paged;            /* the output may be long */
        bool changes;          /* the verb changes something; `drivekeep --help` lists such verbs in a separate group */
        const struct Verb *const
                        *commands; /* at most COMMANDS_MAX verbs that --help lists, ended by NULL; NULL: no verbs */

        /* Returns an ExitStatus after it has reported errors on stderr, or a negative errno that is not reported yet. */
        int (*run)(const Options *o);
} Verb;

extern const Verb verb_alert, verb_apply, verb_bench, verb_cat, verb_check, verb_edit, verb_events, verb_explain,
                verb_import, verb_list, verb_plan, verb_release, verb_reload, verb_report, verb_settings, verb_show,
                verb_standby, verb_status, verb_try, verb_tune, verb_wakes;

/* Returns the verb: the first of `words` (NULL-terminated) that is neither an option nor an option's argument. Returns NULL if there is
 * no verb. */
char **verb_find_word(char **words);

/* Parses the verb's arguments and runs the verb; argv[0] is "drivekeep NAME". Returns as run() does. On errors in options, argp prints a
 * message and exits (argp_err_exit_status, main.c). */
int verb_run(const Verb *verb, int argc, char *argv[]);

/* Returns the command line of a program that does the verb's work: path, options, "--", the verb and the names. The caller frees the
 * result by words_free(). */
char **options_to_words(const Options *o, const Verb *verb, const char *program);
void words_free(char **words);

/* Runs the whole command: finds the verb, runs it, and returns the exit status. */
int verb_dispatch(int argc, char *argv[]);
