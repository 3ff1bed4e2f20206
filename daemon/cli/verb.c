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

static error_t parse(int key, _unused_ char *argument, struct argp_state *state) {
        if (key == 'h')
                argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        else if (key == ARGP_KEY_NO_ARGS)
                argp_error(state, "say what to do");
        else
                return ARGP_ERR_UNKNOWN;
        return 0;
}

/* For a command line without a verb: help, the version, or a complaint about it. Complaints about arguments are argp's own words,
 * and it exits (argp_err_exit_status, main.c). The verbs stand in the help text as argp's own documentation rows, so that argp lays
 * them out. */
static int run_without_verb(int argc, char *argv[]) {
        struct argp_option rows[ELEMENTSOF(verbs) + 3] = {
                { .name = NULL, .doc = "Commands:", .group = 1 },
                { .key = 'h', .flags = OPTION_HIDDEN },
        };
        const struct argp argp = {
                .options = rows,
                .parser = parse,
                .args_doc = "COMMAND [ARGUMENT...]",
                .doc = "Shows and applies the drive settings that drivekeep.service keeps."
                       "\v'drivekeep COMMAND --help' tells about one command.",
        };

        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                rows[i + 2] = (struct argp_option){
                        .name = verbs[i]->name,
                        .doc = verbs[i]->summary,
                        .flags = OPTION_DOC | OPTION_NO_USAGE,
                        .group = 1,
                };

        (void) argp_parse(&argp, argc, argv, 0, NULL, NULL);
        return EXIT_BAD_INPUT;
}

int verb_dispatch(int argc, char *argv[]) {
        const char *garbled = text_find_garbled_option(argv + 1), *word = argv[1];
        _cleanup_free_ char *name = NULL;
        const Verb *verb = NULL;
        int r;

        if (garbled) {
                warn_escaped("there is no option '%s'; 'drivekeep --help' lists them", garbled);
                return EXIT_BAD_INPUT;
        }
        if (!word || *word == '-')
                return run_without_verb(argc, argv);

        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                if (streq(verbs[i]->name, word))
                        verb = verbs[i];
        if (!verb) {
                warn_escaped("there is no command '%s'; 'drivekeep --help' lists them", word);
                return EXIT_BAD_INPUT;
        }

        argv[1] = name = must_format("drivekeep %s", verb->name);
        r = verb_run(verb, argc - 1, argv + 1);
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
