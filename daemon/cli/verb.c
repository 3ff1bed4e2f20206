/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <argp.h>
#include <err.h>
#include <stdio.h>

#include "output.h"
#include "verb.h"

/* clang-format off */
static const Verb *const verbs[] = {
        &verb_list,
        &verb_status,
        &verb_plan,
        &verb_apply,
        &verb_release,
        &verb_reload,
        &verb_check,
        &verb_explain,
        &verb_show,
        &verb_settings,
        &verb_import,
};
/* clang-format on */

static const Verb *verb_find(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                if (streq(verbs[i]->name, name))
                        return verbs[i];

        return NULL;
}

/* Stops at the first word that is no option: what follows is the verb's. */
static error_t parse(int key, _unused_ char *argument, struct argp_state *state) {
        int *first = state->input;

        switch (key) {
        case 'h':
                argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
                return 0;
        case ARGP_KEY_ARG:
                *first = state->next - 1;
                state->next = state->argc;
                return 0;
        case ARGP_KEY_NO_ARGS:
                argp_error(state, "say what to do");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

/* The verbs stand in the help text as argp's own documentation rows, so that argp lays them out. */
static void find_first_word(int argc, char *argv[], int *ret) {
        struct argp_option rows[ELEMENTSOF(verbs) + 3] = {
                { .name = NULL, .doc = "Commands:", .group = 1 },
        };
        const struct argp argp = {
                .options = rows,
                .parser = parse,
                .args_doc = "COMMAND [ARGUMENT...]",
                .doc = "Shows and applies the drive settings that drivekeep.service keeps."
                       "\v'drivekeep COMMAND --help' tells about one command.",
        };

        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                rows[i + 1] = (struct argp_option){
                        .name = verbs[i]->name,
                        .doc = verbs[i]->summary,
                        .flags = OPTION_DOC | OPTION_NO_USAGE,
                        .group = 1,
                };
        rows[ELEMENTSOF(verbs) + 1] = (struct argp_option){ .key = 'h', .flags = OPTION_HIDDEN };

        /* Complaints about arguments are argp's own words, and it exits (argp_err_exit_status, main.c). */
        (void) argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, ret);
}

int verb_dispatch(int argc, char *argv[]) {
        _cleanup_free_ char *name = NULL;
        const Verb *verb;
        const char *garbled;
        int first, r;

        garbled = text_find_garbled_option(argv + 1);
        if (garbled) {
                warn_escaped("there is no option '%s'; 'drivekeep --help' lists them", garbled);
                return EXIT_BAD_INPUT;
        }

        find_first_word(argc, argv, &first);

        verb = verb_find(argv[first]);
        if (!verb) {
                warn_escaped("there is no command '%s'; 'drivekeep --help' lists them", argv[first]);
                return EXIT_BAD_INPUT;
        }

        argv[first] = name = must_format("drivekeep %s", verb->name);

        r = verb_run(verb, argc - first, argv + first);
        if (r < 0) {
                warnx("'%s' failed: %s", name, strerror(-r));
                r = EXIT_BAD_INPUT;
        }

        /* A full disk or a closed pipe must not pass for success. */
        if (fflush(stdout) != 0 || ferror(stdout)) {
                warn("cannot write the output");
                r = EXIT_BAD_INPUT;
        }

        return r;
}
