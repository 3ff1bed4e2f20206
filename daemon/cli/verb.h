/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `drivekeep` can be told to do: one file per verb, one table of them (verb.c). A new verb is its file, a line
 * here and a line in the table. */

#include <argp.h>

#include "macro.h"

/* What the verbs can be told (options.c). Each lists the rows that it understands; all are parsed in one place. */

#define STATE_DIR "/run/drivekeep/drives"
#define CONFIG_ROOTS_MAX 8U

typedef struct Options {
        bool takes_names; /* of the verb: DRIVE… or the like may follow */
        char **names;     /* NULL-terminated, argv's own; NULL: none given */
        bool json, permanent, strict, verbose;
        const char *state_dir;
        const char *roots[CONFIG_ROOTS_MAX + 1]; /* for config_load(): those that were given, or else the system's */
        size_t n_roots;                          /* how many were given */
        const char *as, *identify, *format;      /* NULL: not given */
        const char *root;                        /* of the file system in which `check` looks for other programs */
        const char **commands;                   /* for import to read; borrowed texts */
        size_t n_commands;
} Options;

enum {
        OPTION_KEY_STATE_DIR = 0x100, /* behind all characters: no short form */
        OPTION_KEY_CONFIG_ROOT,
        OPTION_KEY_PERMANENT,
        OPTION_KEY_STRICT,
        OPTION_KEY_ROOT,
        OPTION_KEY_AS,
        OPTION_KEY_IDENTIFY,
        OPTION_KEY_FORMAT,
};

/* clang-format off */
#define OPTION_JSON      { "json", 'j', NULL, 0, "Print JSON; drivekeep(1) documents its shape", 0 }
#define OPTION_STATE_DIR { "state-dir", OPTION_KEY_STATE_DIR, "DIR", 0, \
                           "Read the state files of DIR instead of " STATE_DIR " (for testing)", 0 }
#define OPTION_CONFIG_ROOT { "config-root", OPTION_KEY_CONFIG_ROOT, "DIR", 0, \
                             "Read DIR/drivekeep instead of that of /etc, /run and /usr/lib; given again: what stands first masks", 0 }
#define OPTION_HELP      { NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0 } /* beside argp's --help and -? */
/* clang-format on */

#define DRIVE_IS "DRIVE is a kernel name, a node, a link to it, a serial number or a WWN"

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
