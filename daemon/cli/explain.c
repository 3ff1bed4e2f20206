/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep explain`: which rules are for a drive, and where each of its values comes from. Asks no drive anything. */

#include <err.h>

#include "choice.h"
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

/* ---- a drive from its description ---- */

static int set_text(char **field, const char *value) {
        char *copy = strdup(value);

        if (!copy)
                return -ENOMEM;
        free(*field);
        *field = copy;
        return 0;
}

static int set_boolean(bool *field, bool *untold, const char *value) {
        if (!streq(value, "true") && !streq(value, "false"))
                return -EINVAL;
        *field = streq(value, "true");
        *untold = false;
        return 0;
}

static int set_fact(Drive *d, const char *key, const char *value) {
        bool none;

        if (streq(key, "raid"))
                return set_boolean(&d->raid, &none, value);

        switch (match_key_from_string(key)) {
        case MATCH_NODE:
                /* More of them are its links. */
                return d->node ? drive_add_link(d, value, LINK_OWN) : set_text(&d->node, value);
        case MATCH_MODEL:
                return set_text(&d->model, value);
        case MATCH_SERIAL:
                return set_text(&d->serial, value);
        case MATCH_WWN:
                return set_text(&d->wwn, value);
        case MATCH_FIRMWARE:
                return set_text(&d->firmware, value);
        case MATCH_VENDOR:
                return set_text(&d->vendor, value);
        case MATCH_TRANSPORT:
                d->transport = transport_from_string(value);
                return d->transport == _TRANSPORT_INVALID ? -EINVAL : 0;
        case MATCH_ROTATIONAL:
                return set_boolean(&d->rotational, &d->rotational_untold, value);
        case MATCH_REMOVABLE:
                return set_boolean(&d->removable, &d->removable_untold, value);
        case MATCH_PROPERTY:
        case _MATCH_KEY_MAX:
        case _MATCH_KEY_INVALID:
                break;
        }

        /* udev's are in capitals. */
        return strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(key) && *key
                               ? drive_add_property(d, key, value)
                               : -EINVAL;
}

/* A drive has one of each, but many names. `said`: a bit for each fact that there was. */
static bool is_said_again(const Drive *d, const char *key, unsigned *said) {
        MatchKey k = streq(key, "raid") ? _MATCH_KEY_MAX : match_key_from_string(key);
        unsigned bit;

        if (k == MATCH_NODE)
                return false;
        if (k == MATCH_PROPERTY || k == _MATCH_KEY_INVALID)
                return drive_property(d, key);

        bit = 1U << k;
        if (*said & bit)
                return true;
        *said |= bit;
        return false;
}

/* -EINVAL: said on stderr. */
static int drive_describe(const char *description, Drive **ret) {
        _cleanup_free_ char *copy = strdup(description);
        _cleanup_(drive_freep) Drive *d = calloc(1, sizeof *d);
        char *saved, *word;
        unsigned said = 0;
        int r = 0;

        if (!copy || !d)
                return -ENOMEM;

        d->rotational_untold = d->removable_untold = true;
        for (word = strtok_r(copy, ",", &saved); word && r >= 0; word = strtok_r(NULL, ",", &saved)) {
                char *value;

                word += strspn(word, " ");
                value = strchr(word, '=');
                if (value)
                        *value++ = '\0';
                if (value && is_said_again(d, word, &said)) {
                        warn_escaped("--as says %s twice, and a drive has one of them", word);
                        return -EINVAL;
                }
                r = value ? set_fact(d, word, value) : -EINVAL;
                if (r == -EINVAL)
                        warn_escaped("'%s%s%s' is nothing that can be said of a drive: write KEY=VALUE, with the keys of match in drivekeep.conf(5)",
                                     word, value ? "=" : "", value ?: "");
        }

        if (r >= 0 && !d->node)
                r = set_text(&d->node, "a drive");
        if (r < 0)
                return r;

        *ret = TAKE_PTR(d);
        return 0;
}

/* ---- one that is here ---- */

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
