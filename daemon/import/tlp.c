/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads TLP's disk settings. Lists of values are in the order of DISK_DEVICES. The last value of a list also applies to the remaining
 * drives, but not if the list has schedulers (tlp.conf, func.d/15-tlp-func-disk of TLP 1.5 to 1.9). */

#include "reader.h"
#include "words.h"

/* LINK parameters apply to all SATA ports, all other parameters to the drives in DISK_DEVICES. */
typedef enum Scope {
        APM,  /* one value per drive, except for classes in DISK_APM_CLASS_DENYLIST */
        LIST, /* one value per drive */
        ONE,  /* one value for all drives */
        LINK,
} Scope;

static const struct {
        const char *name, *key;
        Scope scope;
} parameters[] = {
        { "DISK_APM_LEVEL_ON_AC", "apm", APM },
        { "DISK_APM_LEVEL_ON_BAT", "apm", APM },
        { "DISK_SPINDOWN_TIMEOUT_ON_AC", "spindown_time", LIST },
        { "DISK_SPINDOWN_TIMEOUT_ON_BAT", "spindown_time", LIST },
        { "DISK_IOSCHED", "scheduler", LIST },
        { "AHCI_RUNTIME_PM_ON_AC", "runtime_pm", ONE },
        { "AHCI_RUNTIME_PM_ON_BAT", "runtime_pm", ONE },
        { "SATA_LINKPWR_ON_AC", "link_power_management", LINK },
        { "SATA_LINKPWR_ON_BAT", "link_power_management", LINK },
};

/* Returns true if TLP accepts the line. */
static bool is_accepted(const Pair *p) {
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789+";

        return p->value && p->name[strspn(p->name, letters)] == '\0' &&
               (p->value[-1] == '"' || !strpbrk(p->value, "# "));
}

/* Collects the words of the last NAME= and of each later NAME+=. *ret_line: the line of the last of these assignments; 0: there is none. */
static void find_words(const Pairs *pairs, const char *name, Words *ret, unsigned *ret_line) {
        size_t n = strlen(name);

        *ret_line = 0;
        for (size_t i = 0; i < pairs->n_items; i++) {
                const Pair *p = &pairs->items[i];

                if (!is_accepted(p) || !starts_with(p->name, name) || (p->name[n] && !streq(p->name + n, "+")))
                        continue;
                if (p->name[n] == '\0')
                        words_done(ret);
                *ret_line = p->line;
                words_split(ret, p->value);
        }
}

/* Like find_words(), but uses the parameter's older name `older` if `name` is not set, and the default value `otherwise` if neither name is
 * set. Returns the line of the last assignment, or 0 for the default value. */
static unsigned find_list(const Pairs *pairs, const char *name, const char *older, const char *otherwise, Words *ret) {
        unsigned line;

        find_words(pairs, name, ret, &line);
        if (line == 0 && older)
                find_words(pairs, older, ret, &line);
        if (line == 0)
                words_split(ret, otherwise);
        return line;
}

/* ---- rules ---- */

/* Adds the wishes for runtime PM. TLP writes power/control and the autosuspend delay. With an empty timeout, TLP writes neither
 * power/control nor the delay. */
static void want_runtime_pm(const Pairs *pairs, ImportRule *rule, unsigned line, const char *value, bool on_battery) {
        _cleanup_(words_done) Words timeout = {};
        unsigned timeout_line = find_list(pairs, "AHCI_RUNTIME_PM_TIMEOUT", NULL, "15", &timeout);

        if (timeout.n_items == 0)
                return;
        import_add_wish(rule, line, "runtime_pm", must(strdup(value)), on_battery);
        if (!on_battery || !import_find_wish(rule, "autosuspend_delay", false))
                import_add_wish(rule, timeout_line ?: line, "autosuspend_delay", must_format("%ss", timeout.items[0]),
                                on_battery);
}

/* Adds the wishes of the parameters whose scope is in the range `from` to `to`. `place`: index of the drive in DISK_DEVICES. */
static void want_values(const Pairs *pairs, Import *import, ImportRule *rule, size_t place, bool nvme, Scope from,
                        Scope to) {
        for (size_t i = 0; i < ELEMENTSOF(parameters); i++) {
                const char *name = parameters[i].name, *key = parameters[i].key, *value;
                bool on_battery = ends_with(name, "_BAT"), scheduler = streq(key, "scheduler");
                _cleanup_(words_done) Words values = {};
                unsigned line;

                if (parameters[i].scope < from || parameters[i].scope > to)
                        continue;
                find_words(pairs, name, &values, &line);
                if (values.n_items == 0 || (scheduler && place >= values.n_items))
                        continue;
                /* With several link policies, TLP uses the first one that the kernel knows. */
                value = values.items[parameters[i].scope <= LIST ? MIN(place, values.n_items - 1) : 0];
                if (nvme && parameters[i].scope == ONE)
                        import_note(import, line, "drivekeep does not set %s of NVMe drives", key);
                /* "keep" and "_": TLP does not change the setting. */
                else if (STR_IN_SET(value, "keep", "_") || (nvme && !scheduler))
                        continue;
                else if (parameters[i].scope == ONE)
                        want_runtime_pm(pairs, rule, line, value, on_battery);
                else
                        import_add_wish(rule, line, key, must(strdup(value)), on_battery);
                if (rule->n_wishes > 0)
                        rule->line = rule->wishes[0].line;
        }
}

static ImportRule *add_rule(Import *import, const char *device) {
        ImportRule *rule = import_add_rule(import, 1);

        /* A device name with '-' is treated as a link in /dev/disk/by-id, where all names have a '-'. */
        (void) import_match(rule, MATCH_NODE, "/dev/%s%s", strchr(device, '-') ? "disk/by-id/" : "", device);
        return rule;
}

/* Limits APM to drives of classes that are not in `denied`. Only TLP's classes "ata", "sata" and "usb" have APM. */
static void match_classes(ImportRule *rule, const Words *denied, unsigned line) {
        static const char *const classes[][2] = { { "sata", "sata" }, { "ata", "pata" }, { "usb", "usb" } };
        bool any = false;

        for (size_t i = 0; i < ELEMENTSOF(classes) && denied->n_items > 0; i++)
                if (!words_have(denied, classes[i][0]))
                        any |= import_match(rule, MATCH_TRANSPORT, "%s", classes[i][1]);
        if (!any && denied->n_items > 0)
                import_comment_out_drives(rule, "DISK_APM_CLASS_DENYLIST in line %u excludes all drives", line);
}

static void add_link_rule(const Pairs *pairs, Import *import) {
        ImportRule *rule = import_add_rule(import, 1);
        _cleanup_(words_done) Words denied = {};
        unsigned line = find_list(pairs, "SATA_LINKPWR_DENYLIST", "SATA_LINKPWR_BLACKLIST", "", &denied);

        (void) import_match(rule, MATCH_TRANSPORT, "sata");
        if (denied.n_items > 0)
                import_comment_out_drives(rule, "line %u excludes adapter %.40s: name the remaining drives in match",
                                          line, denied.items[0]);
        want_values(pairs, import, rule, 0, false, LINK, LINK);
}

/* Adds a note about each line that TLP rejects, and about each disk parameter that is not imported. */
static void note_unknown_variables(const Pairs *pairs, Import *import) {
        static const char *const known[] = { "DISK_DEVICES",
                                             "DISK_APM_CLASS_DENYLIST",
                                             "DISK_IDLE_SECS_ON_AC", /* sets the page cache, not a drive */
                                             "DISK_IDLE_SECS_ON_BAT",
                                             "SATA_LINKPWR_DENYLIST",
                                             "SATA_LINKPWR_BLACKLIST",
                                             "AHCI_RUNTIME_PM_TIMEOUT",
                                             NULL };

        for (const Pair *p = pairs->items; p < pairs->items + pairs->n_items; p++) {
                _cleanup_free_ char *name = must_format("%.*s", (int) strcspn(p->name, "+"), p->name);
                bool is_known = str_in_set(name, known);

                for (size_t i = 0; i < ELEMENTSOF(parameters); i++)
                        is_known = is_known || streq(name, parameters[i].name);
                if (!is_accepted(p))
                        import_not_understood(import, p->line, "TLP ignores this line", p->name);
                else if (!is_known &&
                         (starts_with(name, "DISK_") || starts_with(name, "SATA_") || starts_with(name, "AHCI_")))
                        import_not_understood(import, p->line, NULL, name);
        }
}

void tlp_read(const char *text, Import *ret) {
        _cleanup_(pairs_done) Pairs pairs = pairs_read(text, false);
        const Pair *enable = pairs_last(&pairs, NULL, "TLP_ENABLE");
        const Pair *one_mode = pairs_last(&pairs, NULL, "TLP_PERSISTENT_DEFAULT");
        _cleanup_(words_done) Words devices = {}, denied = {};
        unsigned line;

        if (enable && !streq(enable->value, "1"))
                return;
        note_unknown_variables(&pairs, ret);
        (void) find_list(&pairs, "DISK_DEVICES", NULL, "nvme0n1 sda", &devices);
        line = find_list(&pairs, "DISK_APM_CLASS_DENYLIST", NULL, "usb ieee1394", &denied);
        for (size_t i = 0; i < devices.n_items; i++) {
                ImportRule *rule = add_rule(ret, devices.items[i]);

                match_classes(rule, &denied, line);
                want_values(&pairs, ret, rule, i, starts_with(devices.items[i], "nvme"), APM, APM);
        }
        for (size_t i = 0; i < devices.n_items; i++) {
                ImportRule *rule = add_rule(ret, devices.items[i]);

                want_values(&pairs, ret, rule, i, starts_with(devices.items[i], "nvme"), LIST, ONE);
        }
        add_link_rule(&pairs, ret);
        for (size_t i = 0; i < ret->n_rules && one_mode && streq(one_mode->value, "1"); i++)
                import_comment_out(&ret->rules[i],
                                   "TLP ignores the power source, because of TLP_PERSISTENT_DEFAULT in line %u",
                                   one_mode->line);
}
