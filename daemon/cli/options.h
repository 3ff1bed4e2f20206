/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the verbs can be told. Each verb lists the rows that it understands; all are parsed in one place. */

#include <argp.h>

#include "macro.h"

#define STATE_DIR "/run/drivekeep/drives"
#define CONFIG_ROOTS_MAX 8U

typedef struct Options {
        bool takes_names; /* of the verb: DRIVE… or the like may follow */
        char **names;     /* NULL-terminated, argv's own; NULL: none given */
        bool json, permanent, strict, verbose;
        const char *state_dir;
        const char *roots[CONFIG_ROOTS_MAX + 1]; /* where configuration is read from; options_roots() */
        size_t n_roots;
        const char *as, *identify, *format; /* NULL: not given */
        const char *root;                   /* of the file system in which `check` looks for other programs */
        const char **commands;              /* for import to read; borrowed texts */
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

/* The roots for config_load(): those that were given, or else the system's. NULL-terminated. */
const char *const *options_roots(const Options *o);
