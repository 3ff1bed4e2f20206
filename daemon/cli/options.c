/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "text.h"
#include "verb.h"

static error_t parse(int key, char *argument, struct argp_state *state) {
        Options *o = state->input;

        switch (key) {
        case 'j':
                o->json = true;
                return 0;
        case 'v':
                o->verbose = true;
                return 0;
        case OPTION_KEY_PERMANENT:
                o->permanent = true;
                return 0;
        case OPTION_KEY_STRICT:
                o->strict = true;
                return 0;
        case OPTION_KEY_STATE_DIR:
                o->state_dir = argument;
                return 0;
        case OPTION_KEY_ROOT:
                o->root = argument;
                return 0;
        case OPTION_KEY_AS:
                o->as = argument;
                return 0;
        case OPTION_KEY_IDENTIFY:
                o->identify = argument;
                return 0;
        case OPTION_KEY_FORMAT:
                o->format = argument;
                return 0;
        case 'c':
                if (!GREW(o->commands, o->n_commands))
                        return ENOMEM;
                o->commands[o->n_commands++] = argument;
                return 0;
        case 'h':
                argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
                return 0;
        case OPTION_KEY_CONFIG_ROOT:
                /* Mistyped, it would pass for a system that wants nothing. */
                if (access(argument, F_OK) < 0) {
                        _cleanup_free_ char *shown = text_escape(argument, NULL);

                        argp_failure(state, EXIT_BAD_INPUT, errno, "--config-root=%s", strna(shown));
                } else if (o->n_roots == CONFIG_ROOTS_MAX)
                        argp_error(state, "there may be no more than %u of --config-root", CONFIG_ROOTS_MAX);
                else {
                        o->roots[o->n_roots++] = argument;
                        o->roots[o->n_roots] = NULL; /* in place of the system's */
                }
                return 0;
        case ARGP_KEY_ARGS:
                if (!o->takes_names)
                        return ARGP_ERR_UNKNOWN;
                o->names = state->argv + state->next;
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

int verb_run(const Verb *verb, int argc, char *argv[]) {
        const struct argp argp = {
                .options = verb->options,
                .parser = parse,
                .args_doc = verb->arguments,
                .doc = verb->help,
        };
        Options o = { .takes_names = verb->arguments != NULL,
                      .state_dir = STATE_DIR,
                      .root = "/",
                      .roots = { "/etc", "/run", "/usr/lib" } };
        int r;

        r = -argp_parse(&argp, argc, argv, 0, NULL, &o);
        if (r >= 0)
                r = verb->run(&o);
        free(o.commands);
        return r;
}
