/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep` can be told to do: one file per verb, one table of them (verb.c). A new verb is its file, a line
 * here and a line in the table. */

#include "options.h"

typedef enum ExitStatus {
        EXIT_WANTED = 0,     /* all is as the files want it */
        EXIT_BAD_INPUT = 1,  /* the command or the configuration is in error, or something broke */
        EXIT_NOT_WANTED = 2, /* some setting is not as wanted */
        EXIT_NO_SERVICE = 3, /* drivekeep.service does not run */
} ExitStatus;

typedef struct Verb {
        const char *name;
        const char *summary;   /* one sentence, for `drivekeep --help` */
        const char *arguments; /* behind its name; NULL: it takes none */
        const char *help;      /* for its own --help */
        const struct argp_option *options;

        /* Returns an ExitStatus, having said why on stderr, or a negative errno that nobody has spoken of yet. */
        int (*run)(const Options *o);
} Verb;

extern const Verb verb_apply, verb_check, verb_explain, verb_import, verb_list, verb_plan, verb_release, verb_reload,
                verb_settings, verb_show, verb_status;

/* Parses the verb's arguments and runs it; argv[0] is "drivekeep NAME". Returns as run() does. */
int verb_run(const Verb *verb, int argc, char *argv[]);

/* The whole command: finds the verb, runs it, and returns the exit status. */
int verb_dispatch(int argc, char *argv[]);
