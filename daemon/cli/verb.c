/* SPDX-License-Identifier: LGPL-2.1-or-later */

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
        NULL,
};
/* clang-format on */
_Static_assert(ELEMENTSOF(verbs) <= COMMANDS_MAX + 1, "options.c has no room for so many");

static int say_what(_unused_ const Options *o) {
        warnx("say what to do; 'drivekeep --help' lists the commands");
        return EXIT_BAD_INPUT;
}

/* A command line without a verb: help, the version, or a complaint about it. */
static const Verb no_verb = {
        .arguments = "COMMAND [ARGUMENT...]",
        .help = "Shows and applies the drive settings that drivekeep.service keeps."
                "\v'drivekeep COMMAND --help' tells about one command.",
        .commands = verbs,
        .run = say_what,
};

int verb_dispatch(int argc, char *argv[]) {
        const char *garbled = text_find_garbled_option(argv + 1), *word = argv[1];
        _cleanup_free_ char *name = NULL;
        const Verb *verb = &no_verb;
        int r;

        if (garbled) {
                warn_escaped("there is no option '%s'; 'drivekeep --help' lists them", garbled);
                return EXIT_BAD_INPUT;
        }
        if (word && *word != '-') {
                verb = NULL;
                for (const Verb *const *v = verbs; *v; v++)
                        if (streq((*v)->name, word))
                                verb = *v;
                if (!verb) {
                        warn_escaped("there is no command '%s'; 'drivekeep --help' lists them", word);
                        return EXIT_BAD_INPUT;
                }
                *++argv = name = must_format("drivekeep %s", word);
                argc--;
        }

        r = verb_run(verb, argc, argv);
        if (r < 0) {
                warnx("'%s' failed: %s", argv[0], strerror(-r));
                r = EXIT_BAD_INPUT;
        }

        /* A full disk or a closed pipe must not pass for success. */
        if (fflush(stdout) != 0 || ferror(stdout)) {
                warn("cannot write the output");
                r = EXIT_BAD_INPUT;
        }

        return r;
}
