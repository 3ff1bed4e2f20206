/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* laptop-mode-tools: one switch for each setting, and the same values for all drives of HD (modules/hdparm,
 * modules/intel-sata-powermgmt and their files of 1.74). */

#include "lines.h"
#include "rival.h"

#define CONF "/etc/laptop-mode/laptop-mode.conf"
#define SATA_CONF "/etc/laptop-mode/conf.d/intel-sata-powermgmt.conf"

typedef struct Switch {
        const char *name, *key;
        bool (*means)(const void *userdata, const Drive *d);
        unsigned line;
        bool on;
} Switch;

static bool turns(const void *userdata _unused_, const Drive *d) {
        return d->rotational;
}

static int match_drives(char *list, Match *ret) {
        int k = 0;

        for (char *saved, *w = strtok_r(list, " \t", &saved); w && k != -ENOMEM; w = strtok_r(NULL, " \t", &saved))
                k = match_add(ret, MATCH_NODE, NULL, w);
        return k == -ENOMEM ? k : 0;
}

static int read_conf(const char *text, Switch *switches, size_t n, Match *ret_drives, bool *ret_enabled) {
        _cleanup_free_ char *line = NULL;
        Lines lines = { .next = text };
        int k;

        for (k = lines_next(&lines, false, &line); k > 0; k = lines_next(&lines, false, &line)) {
                char *value;

                value = line_value(line, "HD");
                if (value && match_drives(value, ret_drives) < 0)
                        return -ENOMEM;
                value = value ? NULL : line_value(line, "ENABLE_LAPTOP_MODE_TOOLS");
                if (value)
                        *ret_enabled = !streq(value, "0");
                for (size_t i = 0; i < n; i++) {
                        value = line_value(line, switches[i].name);
                        if (!value)
                                continue;
                        switches[i].on = !streq(value, "0");
                        switches[i].line = lines.line;
                }
        }

        return k;
}

static bool is_sata(const void *userdata _unused_, const Drive *d) {
        return d->transport == TRANSPORT_SATA;
}

static int check_conf(const Rivals *r, Presence presence, const char *path, Switch *switches, size_t n, bool *enabled) {
        _cleanup_(match_done) Match drives = {};
        _cleanup_free_ char *text = NULL;
        size_t size;
        int k;

        k = tree_read(r->tree, path, &text, &size);
        if (k <= 0)
                return k;
        k = read_conf(text, switches, n, &drives, enabled);

        for (size_t i = 0; i < n && k >= 0 && *enabled; i++) {
                Claim c = {
                        .level = COMPLAINT_WARNING,
                        .who = "laptop-mode-tools",
                        .when = "at boot, after sleep and when the power source changes",
                        .cure = "a 0 here leaves it to drivekeep",
                        .file = path,
                        .text = text,
                        .line = switches[i].line,
                        .match = drives.n_criteria > 0 ? &drives : NULL,
                        .means = switches[i].means,
                        .key = switches[i].key,
                };

                if (!switches[i].on)
                        continue;
                claim_by_presence(&c, presence);
                k = claim_check(r, &c);
        }

        return k;
}

int rival_laptop_mode(const Rivals *r) {
        static const char *const units[] = { "laptop-mode.service", NULL };
        Switch disk[] = {
                { .name = "CONTROL_HD_POWERMGMT", .key = "apm", .means = turns },
                { .name = "CONTROL_HD_IDLE_TIMEOUT", .key = "spindown_time", .means = turns },
                { .name = "CONTROL_HD_WRITECACHE", .key = "write_cache" },
                { .name = "CONTROL_READAHEAD", .key = "read_ahead_kb" },
        };
        Switch sata[] = {
                { .name = "CONTROL_INTEL_SATA_POWER", .key = "link_power_management", .means = is_sata },
                { .name = "CONTROL_AHCI_RUNTIME_PM", .key = "runtime_pm", .means = is_sata },
        };
        bool enabled = true;
        Presence presence;
        int k;

        k = presence_of_units(r, units, &presence);
        if (k < 0 || presence == PRESENCE_INACTIVE)
                return k;

        k = check_conf(r, presence, CONF, disk, ELEMENTSOF(disk), &enabled);
        return k < 0 ? k : check_conf(r, presence, SATA_CONF, sata, ELEMENTSOF(sata), &enabled);
}
