/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "options.h"

error_t options_parse(int key, char *argument, struct argp_state *state) {
        Options *o = state->input;

        switch (key) {
        case 'j':
                o->json = true;
                return 0;
        case OPTION_KEY_STATE_DIR:
                o->state_dir = argument;
                return 0;
        case 'h':
                argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
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
