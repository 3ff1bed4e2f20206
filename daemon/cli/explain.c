/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep explain`: which rules are for a drive, and where each of its values comes from. Asks no drive anything. */

#include <err.h>

#include "choice.h"
#include "describe.h"
#include "explain-view.h"
#include "inventory.h"
#include "json-add.h"
#include "options.h"
#include "power-supply.h"
#include "settings.h"
#include "verb.h"
#include "warning.h"

typedef struct ExplainOptions {
        Options common; /* options_parse()'s; first */
        const char *as;
} ExplainOptions;

enum {
        OPTION_KEY_AS = 0x400,
};

static const struct argp_option options[] = {
        { "as", OPTION_KEY_AS, "KEY=VALUE,...", 0,
          "Explain for a drive that is not here, which says this of itself: keys as in match, node for its name", 0 },
        OPTION_JSON,
        OPTION_CONFIG_ROOT,
        OPTION_HELP,
        {},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
        ExplainOptions *o = state->input;

        if (key != OPTION_KEY_AS)
                return options_parse(key, argument, state);

        o->as = argument;
        return 0;
}

static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "DRIVE [SETTING]\n--as KEY=VALUE,... [SETTING]",
        .doc = "Tells which rules are for a drive and which are not, and why, and where each value comes from."
               "\vDRIVE is a kernel name, a node, a link to it, a serial number or a WWN.",
};

static int find_drive(const Inventory *inventory, char *name, const Drive **ret) {
        _cleanup_free_ bool *chosen = NULL;
        int r;

        r = drives_choose(inventory->drives, inventory->n_drives, (char *[]){ name, NULL }, &chosen);
        if (r < 0)
                return r;

        for (size_t i = 0; i < inventory->n_drives; i++)
                if (chosen[i])
                        *ret = inventory->drives[i];
        return 0;
}

static int check_setting(const char **setting) {
        const Setting *s;
        const char *nearest;

        if (!*setting)
                return 0;

        s = setting_find(&all_settings, *setting);
        if (s) {
                *setting = setting_state(s);
                return 0;
        }

        nearest = setting_nearest(&all_settings, *setting);
        warn_escaped("there is no setting '%s'%s%s%s", *setting, nearest ? "; did you mean '" : "", nearest ?: "",
                     nearest ? "'?" : "");
        return -EINVAL;
}

static int explain(const ExplainOptions *o, const Drive *d, const char *setting) {
        _cleanup_(json_putp) struct json_object *json = NULL;
        _cleanup_(config_freep) Config *c = NULL;
        int r;

        r = config_new(&c);
        if (r >= 0)
                r = config_load(c, &all_settings, options_roots(&o->common));
        if (r < 0)
                return r;

        if (c->complaints.n_errors > 0)
                warnx("the configuration has errors, which 'drivekeep check' shows; what they withhold is not written");

        const Explanation e = {
                .config = c,
                .settings = &all_settings,
                .drive = d,
                .on_battery = power_on_battery(POWER_SUPPLY_CLASSDIR) > 0,
                .setting = setting,
        };

        if (!o->common.json)
                return explain_print(&e, stdout);

        r = explain_json(&e, &json);
        return r < 0 ? r : json_print(json);
}

static int run(int argc, char *argv[]) {
        ExplainOptions o = { .common.takes_names = true };
        _cleanup_(inventory_done) Inventory inventory = {};
        _cleanup_(drive_freep) Drive *described = NULL;
        const char *setting;
        const Drive *d = NULL;
        size_t n = 0;
        int r;

        (void) argp_parse(&argp, argc, argv, 0, NULL, &o);

        while (o.common.names && o.common.names[n])
                n++;
        if (n + (o.as != NULL) < 1 || n + (o.as != NULL) > 2) {
                warnx("say which drive, and perhaps which setting: 'drivekeep explain DRIVE [SETTING]'");
                return EXIT_BAD_INPUT;
        }
        setting = n + (o.as != NULL) == 2 ? o.common.names[n - 1] : NULL;

        r = check_setting(&setting);
        if (r >= 0 && o.as) {
                r = drive_describe(o.as, &described);
                d = described;
        } else if (r >= 0) {
                r = inventory_read(NULL, &inventory);
                if (r >= 0)
                        r = find_drive(&inventory, o.common.names[0], &d);
        }
        if (r >= 0)
                r = explain(&o, d, setting);

        return r == -EINVAL ? EXIT_BAD_INPUT : r < 0 ? r : EXIT_WANTED;
}

const Verb verb_explain = {
        .name = "explain",
        .summary = "Tell which rules are for a drive, and where its values come from",
        .run = run,
};
