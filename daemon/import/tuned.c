/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads a tuned profile: the options of the disk and scsi_host plug-ins (tuned 2.20, plugins/plugin_disk.py and
 * plugin_scsi_host.py), and files in /sys. */

#include "command.h"

/* Adds devices such as "sd*", and excludes devices such as "!sda" or "-sda". If the list has only exclusions, adds the devices in `all`. */
static void add_devices(ImportRule *rule, const char *list, const char *all) {
        _cleanup_free_ char *words = must(strdup(list));
        bool any = false;

        for (char *saved, *w = strtok_r(words, " \t,", &saved); w; w = strtok_r(NULL, " \t,", &saved)) {
                bool leaves_out = *w == '!' || *w == '-';
                _cleanup_free_ char *node = must_format("/dev/%s", w + leaves_out);

                if (!import_match_add(leaves_out ? &rule->except : &rule->match, MATCH_NODE, NULL, node))
                        import_comment_out_drives(rule, "\"%.60s\" is not a drive name", node);
                any = any || !leaves_out;
        }
        if (!any && *all)
                add_devices(rule, all, "");
}

static const struct {
        const char *type, *option, *key;
        const char *devices; /* the default devices of a section; NULL: the adapters of SATA drives */
} options[] = {
        { "disk", "apm", "apm", "sd*" },
        { "disk", "spindown", "spindown_time", "sd*" },
        { "disk", "elevator", "scheduler", "sd* nvme* vd* mmcblk*" },
        { "disk", "readahead", "read_ahead_kb", "sd* nvme* vd* mmcblk*" },
        { "scsi_host", "alpm", "link_power_management", NULL },
};

/* Returns the option that decides whether a section applies, or which devices the section applies to. Returns NULL if the section has no
 * such option. */
static const Pair *find_condition(const Pairs *pairs, const char *section) {
        static const char *const names[] = { "devices_udev_regex", "uname_regex", "cpuinfo_regex", "enabled" };
        const Pair *found = NULL;

        for (size_t i = 0; i < ELEMENTSOF(names) && !found; i++)
                found = pairs_last(pairs, section, names[i]);
        return found;
}

/* Reads an option that is not in the table of options: adds a rule for a file in /sys, or a note if the option may set drives. */
static void read_other(const Pairs *pairs, const Pair *p, const char *type, Import *import) {
        static const char *const plain[] = { "type", "devices", "priority", "replace", "drop", NULL };
        _cleanup_free_ char *shown = must_format("[%s] %s=%s", p->section, p->name, p->value), *reason = NULL;
        const Pair *condition = find_condition(pairs, p->section);
        Place place = { .import = import };

        if (streq(type, "sysfs") && starts_with(p->name, "/sys/")) {
                if (condition)
                        place.comment_reason = reason =
                                        must_format("line %u decides whether tuned writes this value", condition->line);
                command_write(&place, p->line, p->name, p->value);
        } else if ((STR_IN_SET(type, "disk", "scsi_host") && p != condition && !str_in_set(p->name, plain)) ||
                   (streq(type, "main") && streq(p->name, "include")) || streq(type, "script"))
                import_not_understood(import, p->line, NULL, shown);
}

static void read_option(const Pairs *pairs, const Pair *p, Import *import) {
        const Pair *type = pairs_last(pairs, p->section, "type"), *devices = pairs_last(pairs, p->section, "devices");
        const Pair *open = NULL;
        const char *value = p->value + strspn(p->value, "><= ");
        size_t n = strcspn(value, " \t"), i = 0;
        ImportRule *rule;

        while (i < ELEMENTSOF(options) && !streq(options[i].option, p->name))
                i++;
        if (i == ELEMENTSOF(options) || !streq(options[i].type, type ? type->value : p->section)) {
                read_other(pairs, p, type ? type->value : p->section, import);
                return;
        }

        rule = import_add_rule(import, p->line);
        if (!options[i].devices)
                (void) import_match(rule, MATCH_TRANSPORT, "sata");
        else if (!devices || !strchr(devices->value, '$'))
                add_devices(rule, devices ? devices->value : "", options[i].devices);
        /* No match can express a list with exclusions ("sd*, !sda"), a variable, or a list of adapters. */
        if (devices && (rule->except.n_criteria > 0 || strchr(devices->value, '$') || !options[i].devices))
                open = devices;
        open = open ?: find_condition(pairs, p->section);
        if (open)
                import_comment_out_drives(rule, "drivekeep has no match for %s=%.60s", open->name, open->value);
        /* A value such as "4096 s" is in sectors of 512 bytes. A value without "s" is in KiB. */
        if (streq(p->name, "readahead") && value[n + strspn(value + n, " \t")] == 's')
                import_want(rule, p->line, options[i].key, "%lu", strtoul(value, NULL, 10) / 2);
        else
                import_want(rule, p->line, options[i].key, "%.*s", (int) n, value);
        if (value != p->value)
                import_comment_out(&rule->wishes[0], "in tuned, \"%.20s\" is a limit, not a value", p->value);
}

void tuned_read(const char *text, Import *ret) {
        _cleanup_(pairs_done) Pairs pairs = pairs_read(text, false);

        for (size_t i = 0; i < pairs.n_items; i++)
                if (pairs.items[i].section && pairs.items[i].value)
                        read_option(&pairs, &pairs.items[i], ret);
}
