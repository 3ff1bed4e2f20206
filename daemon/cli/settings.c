/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep settings`: what there is to write into the file. Reads nothing but its own rows. */

#include <stdio.h>

#include "options.h"
#include "settings-view.h"
#include "settings.h"
#include "verb.h"
#include "warning.h"

static const struct argp_option options[] = { OPTION_JSON, OPTION_HELP, {} };

static const struct argp argp = {
        .options = options,
        .parser = options_parse,
        .args_doc = "[SETTING...]",
        .doc = "Lists the settings that a configuration can name, or tells all about some of them.",
};

/* All names are looked up first, so that one run complains of all. */
static int check_names(char *const *names) {
        int r = EXIT_WANTED;

        for (; names && *names; names++) {
                const char *nearest;

                if (setting_find(&all_settings, *names))
                        continue;

                nearest = setting_nearest(&all_settings, *names);
                if (nearest)
                        warn_escaped("there is no setting '%s'; did you mean '%s'?", *names, nearest);
                else
                        warn_escaped("there is no setting '%s'; 'drivekeep settings' lists them", *names);
                r = EXIT_BAD_INPUT;
        }

        return r;
}

static int run(int argc, char *argv[]) {
        Options o = { .takes_names = true };
        int r;

        (void) argp_parse(&argp, argc, argv, 0, NULL, &o);

        r = check_names(o.names);
        if (r != EXIT_WANTED)
                return r;

        if (o.json) {
                _cleanup_(json_putp) struct json_object *array = NULL;

                r = settings_view_json(&all_settings, o.names, &array);
                return r < 0 ? r : json_print(array);
        }

        if (!o.names) {
                _cleanup_(table_freep) Table *t = NULL;

                r = settings_view_table(&all_settings, &t);
                return r < 0 ? r : table_print(t);
        }

        for (char *const *name = o.names; *name; name++) {
                if (name != o.names)
                        putchar('\n');
                r = settings_view_explain(&all_settings, *name, stdout);
                if (r < 0)
                        return r;
        }

        return EXIT_WANTED;
}

const Verb verb_settings = {
        .name = "settings",
        .summary = "Show the settings that a configuration can name",
        .run = run,
};
