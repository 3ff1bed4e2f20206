/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>
#include <stdio.h>

#include "output.h"
#include "verb.h"

static const Verb verb_help, verb_version;

/* clang-format off */
static const Verb *const verbs[] = {
        &verb_list,
        &verb_status,
        &verb_wakes,
        &verb_events,
        &verb_plan,
        &verb_apply,
        &verb_try,
        &verb_tune,
        &verb_edit,
        &verb_release,
        &verb_standby,
        &verb_reload,
        &verb_alert,
        &verb_check,
        &verb_cat,
        &verb_explain,
        &verb_show,
        &verb_report,
        &verb_bench,
        &verb_settings,
        &verb_import,
        &verb_help,
        &verb_version,
        NULL,
};
/* clang-format on */
_Static_assert(ELEMENTSOF(verbs) <= COMMANDS_MAX + 1, "COMMANDS_MAX is too small");

static const Verb *verb_find(const char *name) {
        Nearest n = { .typed = name };

        for (const Verb *const *v = verbs; *v; v++) {
                if (streq((*v)->name, name))
                        return *v;
                nearest_offer(&n, (*v)->name);
        }

        if (n.word)
                warn_escaped("there is no command '%s'; did you mean '%s'?", name, n.word);
        else
                warn_escaped("there is no command '%s'; 'drivekeep --help' lists all commands", name);
        return NULL;
}

/* Runs a command line without a verb: prints the general help or the status. */
static int run_without(int argc, char *argv[]) {
        Verb without = verb_status;

        without.arguments = "[COMMAND [ARGUMENT...]]";
        without.help = "Show and apply the drive settings that drivekeep.service keeps. Without COMMAND: show the status."
                       "\vExit status:\n"
                       "  0  all is as wanted\n"
                       "  1  the command failed, or the configuration has an error\n"
                       "  2  a setting is not as wanted\n"
                       "  3  drivekeep.service does not run\n"
                       " 75  nothing failed, but something is deferred, as for a drive in standby\n"
                       "\n"
                       "Files:\n"
                       "  /etc/drivekeep/drivekeep.conf, /etc/drivekeep/drivekeep.conf.d/*.conf\n"
                       "\n"
                       "'drivekeep COMMAND --help' and drivekeep(1) describe each command.";
        without.commands = verbs;
        return verb_run(&without, argc, argv);
}

static int run_help(const Options *o) {
        char *argv[] = { (char *) "drivekeep", (char *) "--help", NULL };
        _cleanup_free_ char *name = NULL;
        const Verb *verb;

        if (!o->names)
                return run_without(2, argv);

        verb = verb_find(o->names[0]);
        if (!verb)
                return EXIT_BAD_INPUT;

        argv[0] = name = must_format("drivekeep %s", verb->name);
        return verb_run(verb, 2, argv);
}

static int run_version(_unused_ const Options *o) {
        (void) puts("drivekeep " DRIVEKEEP_VERSION);
        return EXIT_WANTED;
}

static const Verb verb_help = {
        .name = "help",
        .summary = "Show help for all commands, or for one",
        .arguments = "[COMMAND]",
        .help = "Show the same as 'drivekeep --help' or 'drivekeep COMMAND --help'.",
        .run = run_help,
};

static const Verb verb_version = {
        .name = "version",
        .summary = "Show the version",
        .help = "Show the version of drivekeep.",
        .run = run_version,
};

int verb_dispatch(int argc, char *argv[]) {
        const char *garbled = text_find_garbled_option(argv + 1);
        char **word = verb_find_word(argv + 1);
        _cleanup_free_ char *name = NULL;
        const Verb *verb;
        int r;

        if (garbled) {
                warn_escaped("there is no option '%s'; 'drivekeep --help' lists all options", garbled);
                return EXIT_BAD_INPUT;
        }
        if (word) {
                verb = verb_find(*word);
                if (!verb)
                        return EXIT_BAD_INPUT;

                /* For argp, makes the verb a part of the program's name. Options before the verb are moved behind it. */
                name = must_format("drivekeep %s", *word);
                memmove(argv + 2, argv + 1, (size_t) (word - argv - 1) * sizeof *argv);
                *++argv = name;
                r = verb_run(verb, argc - 1, argv);
        } else
                r = run_without(argc, argv);

        if (r < 0) {
                warnx("'%s' failed: %s", argv[0], strerror(-r));
                r = EXIT_BAD_INPUT;
        }

        /* The command fails if stdout is a full disk or a closed pipe. */
        if (fflush(stdout) != 0 || ferror(stdout)) {
                warn("cannot write the output");
                r = EXIT_BAD_INPUT;
        }

        return r;
}

ExitStatus exit_of_verdict(Verdict v, bool optional) {
        return verdict_is_fine(v, optional) ? EXIT_WANTED : verdict_is_pending(v) ? EXIT_LATER : EXIT_NOT_WANTED;
}

ExitStatus exit_worse(ExitStatus a, ExitStatus b) {
        return a == EXIT_WANTED || (a == EXIT_LATER && b != EXIT_WANTED) ? b : a;
}
