/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What several verbs are told in the same words. A verb lists the rows it understands in its own argp; one with more of
 * its own keeps Options as the first member of its state->input and passes on what it does not know. */

#include <argp.h>

#include "macro.h"

#define STATE_DIR "/run/drivekeep/drives"
#define CONFIG_ROOTS_MAX 8U

typedef struct Options {
        bool json;
        const char *state_dir;
        bool takes_names;                        /* set by the verb: DRIVE… may follow */
        char **names;                            /* NULL-terminated, argv's own; NULL: none given */
        const char *roots[CONFIG_ROOTS_MAX + 1]; /* where configuration is read from; options_roots() */
        size_t n_roots;
} Options;

#define OPTIONS_DEFAULT \
        { .state_dir = STATE_DIR }

enum {
        OPTION_KEY_STATE_DIR = 0x100, /* behind all characters: no short form */
        OPTION_KEY_CONFIG_ROOT,
};

/* clang-format off */
#define OPTION_JSON      { "json", 'j', NULL, 0, "Print JSON; drivekeep(1) documents its shape", 0 }
#define OPTION_STATE_DIR { "state-dir", OPTION_KEY_STATE_DIR, "DIR", 0, \
                           "Read the state files of DIR instead of " STATE_DIR " (for testing)", 0 }
#define OPTION_HELP      { NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0 } /* beside argp's --help and -? */
/* clang-format on */

#define OPTION_CONFIG_ROOT                                                                                                             \
        {                                                                                                                              \
                "config-root", OPTION_KEY_CONFIG_ROOT, "DIR", 0,                                                                       \
                                "Read DIR/drivekeep instead of that of /etc, /run and /usr/lib; given again: what stands first masks", \
                                0                                                                                                      \
        }

/* The roots for config_load(): those that were given, or else the system's. NULL-terminated. */
const char *const *options_roots(const Options *o);

/* An argp parser whose input is an Options. */
error_t options_parse(int key, char *argument, struct argp_state *state);
