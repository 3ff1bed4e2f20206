/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* TLP: its own defaults, /etc/tlp.d and /etc/tlp.conf, of which the last one to say something counts (tlp-readconfs and
 * func.d/15-tlp-func-disk of TLP 1.5 to 1.9). Lists of values go by the order of DISK_DEVICES, the last value for the rest. */

#include <ctype.h>
#include <stdio.h>

#include "rival.h"

#define DEFAULTS "/usr/share/tlp/defaults.conf"

typedef struct Parameter {
        char *name, *value, *file;
        unsigned line;
} Parameter;

typedef struct Parameters {
        const Rivals *rivals;
        Presence presence;
        Parameter *items;
        size_t n_items;
} Parameters;

static void parameters_done(Parameters *p) {
        for (size_t i = 0; i < p->n_items; i++) {
                free(p->items[i].name);
                free(p->items[i].value);
                free(p->items[i].file);
        }
        free(p->items);
}

static Parameter *find(const Parameters *p, const char *name) {
        for (size_t i = 0; i < p->n_items; i++)
                if (streq(p->items[i].name, name))
                        return &p->items[i];

        return NULL;
}

static int store(Parameters *p, const char *file, unsigned line, const char *name, const char *value, bool append) {
        Parameter *known = find(p, name), *items, one = { .line = line };

        if (known && append) {
                if (asprintf(&one.value, "%s %s", known->value, value) < 0)
                        one.value = NULL;
        } else
                one.value = strdup(value);
        one.name = strdup(name);
        one.file = strdup(file);
        if (!one.name || !one.value || !one.file)
                goto fail;

        if (known) {
                free(known->name);
                free(known->value);
                free(known->file);
                *known = one;
                return 0;
        }

        items = reallocarray(p->items, p->n_items + 1, sizeof(Parameter));
        if (!items)
                goto fail;
        p->items = items;
        p->items[p->n_items++] = one;
        return 0;

fail:
        free(one.name);
        free(one.value);
        free(one.file);
        return -ENOMEM;
}

/* NAME=value, NAME="value" or with +=, from the line's first byte; TLP reads nothing else. */
static int read_line(Parameters *p, const char *file, unsigned line, char *s) {
        size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"), end;
        char *value = s + n;
        bool append = value[0] == '+';

        value += append;
        if (n == 0 || *value != '=')
                return 0;
        s[n] = '\0';
        value++;

        for (end = strlen(value); end > 0 && isspace((unsigned char) value[end - 1]); end--)
                value[end - 1] = '\0';
        if (end > 1 && value[0] == '"' && value[end - 1] == '"') {
                value[end - 1] = '\0';
                value++;
        }
        return store(p, file, line, s, value, append);
}

static int read_file(void *userdata, const char *path) {
        Parameters *p = userdata;
        _cleanup_free_ char *text = NULL;
        unsigned line = 0;
        size_t size;
        int k;

        k = tree_read(p->rivals->tree, path, &text, &size);
        for (char *next, *s = text; k > 0 && s; s = next) {
                next = strchr(s, '\n');
                if (next)
                        *next++ = '\0';
                k = read_line(p, path, ++line, s) < 0 ? -ENOMEM : 1;
        }
        return k < 0 ? k : 0;
}

static int read_all(Parameters *p) {
        static const char *const drop_ins[] = { "/etc/tlp.d", NULL };
        const char *main_file = tree_exists(p->rivals->tree, "/etc/tlp.conf") ? "/etc/tlp.conf" : "/etc/default/tlp";
        int k;

        k = read_file(p, DEFAULTS);
        if (k >= 0)
                k = tree_each(p->rivals->tree, drop_ins, ".conf", read_file, p);
        return k < 0 ? k : read_file(p, main_file);
}

static bool is_ata(const void *userdata _unused_, const Drive *d) {
        return d->ata && d->transport != TRANSPORT_USB;
}

static bool is_apm(const void *userdata, const Drive *d) {
        const char *deny = userdata;

        return d->transport != TRANSPORT_NVME && !(d->transport == TRANSPORT_USB && deny && strstr(deny, "usb"));
}

typedef struct Row {
        const char *name, *key;
        bool by_device;
        bool (*means)(const void *userdata, const Drive *d);
} Row;

/* clang-format off */
static const Row rows[] = {
        { "DISK_APM_LEVEL_ON_AC",          "apm",                   true,  is_apm },
        { "DISK_APM_LEVEL_ON_BAT",         "apm_battery",           true,  is_apm },
        { "DISK_SPINDOWN_TIMEOUT_ON_AC",   "spindown_time",         true,  NULL   },
        { "DISK_SPINDOWN_TIMEOUT_ON_BAT",  "spindown_time",         true,  NULL   },
        { "DISK_IOSCHED",                  "scheduler",             true,  NULL   },
        { "SATA_LINKPWR_ON_AC",            "link_power_management", false, is_ata },
        { "SATA_LINKPWR_ON_BAT",           "link_power_management", false, is_ata },
        { "AHCI_RUNTIME_PM_ON_AC",         "runtime_pm",            false, is_ata },
        { "AHCI_RUNTIME_PM_ON_BAT",        "runtime_pm",            false, is_ata },
};
/* clang-format on */

static bool keeps(const char *value) {
        return streq(value, "keep") || streq(value, "_");
}

static int claim_value(const Parameters *p, const Parameter *x, const Row *row, const Match *match, const char *value) {
        char cure[128];
        const Parameter *deny = find(p, "DISK_APM_CLASS_DENYLIST");
        Claim c = {
                .level = COMPLAINT_WARNING,
                .who = "TLP",
                .when = strstr(row->name, "_ON_BAT")
                                        ? "on battery by this, at boot, after sleep and when the power source changes"
                        : strstr(row->name, "_ON_AC")
                                        ? "on mains by this, at boot, after sleep and when the power source changes"
                                        : "by this, at boot, after sleep and when the power source changes",
                .cure = cure,
                .file = x->file,
                .line = x->line,
                .match = match,
                .means = row->means,
                .userdata = deny ? deny->value : NULL,
                .key = row->key,
                .value = value,
        };

        (void) snprintf(cure, sizeof cure, "%s=\"%s\" in /etc/tlp.conf leaves it to drivekeep", row->name,
                        strncmp(row->name, "DISK_", 5) == 0 ? "keep" : "");
        claim_by_presence(&c, p->presence);
        return claim_check(p->rivals, &c);
}

/* A name below /dev, or one in /dev/disk/by-id, of which all have a '-'. */
static int match_device(Match *m, const char *device) {
        _cleanup_free_ char *node = NULL;
        int k;

        if (asprintf(&node, "/dev/%s%s", strchr(device, '-') ? "disk/by-id/" : "", device) < 0) {
                node = NULL;
                return -ENOMEM;
        }
        k = match_add(m, MATCH_NODE, NULL, node);
        return k == -ENOMEM ? k : 0;
}

static bool is_ata_only(const Row *row) {
        return !streq(row->key, "scheduler");
}

static int claim_by_device(const Parameters *p, const Parameter *x, const Row *row) {
        const Parameter *list = find(p, "DISK_DEVICES");
        _cleanup_free_ char *devices = strdup(list ? list->value : "nvme0n1 sda"), *values = strdup(x->value);
        const char *value;
        char *next_device, *next_value;
        int k = 0;

        if (!devices || !values)
                return -ENOMEM;
        value = strtok_r(values, " ", &next_value);

        for (char *d = strtok_r(devices, " ", &next_device); d && value && k >= 0;
             d = strtok_r(NULL, " ", &next_device)) {
                _cleanup_(match_done) Match match = {};
                const char *next;

                k = match_device(&match, d);
                if (k >= 0 && !keeps(value) && !(is_ata_only(row) && strncmp(d, "nvme", 4) == 0))
                        k = claim_value(p, x, row, &match, value);
                next = strtok_r(NULL, " ", &next_value);
                if (next)
                        value = next;
        }

        return k;
}

static int claim_all(const Parameters *p) {
        const Parameter *enable = find(p, "TLP_ENABLE");
        int k = 0;

        if (enable && !streq(enable->value, "1"))
                return 0;

        for (size_t i = 0; i < ELEMENTSOF(rows) && k >= 0; i++) {
                const Parameter *x = find(p, rows[i].name);
                size_t n;

                if (!x || *x->value == '\0')
                        continue;
                if (rows[i].by_device) {
                        k = claim_by_device(p, x, &rows[i]);
                        continue;
                }
                /* Of several link policies the first that the kernel takes; never alike on all ports. */
                n = strcspn(x->value, " ");
                if (!keeps(x->value))
                        k = claim_value(p, x, &rows[i], NULL, x->value[n] ? NULL : x->value);
        }

        return k;
}

int rival_tlp(const Rivals *r) {
        static const char *const units[] = { "tlp.service", NULL };
        _cleanup_(parameters_done) Parameters p = { .rivals = r };
        int k;

        k = presence_of_units(r, units, &p.presence);
        if (k < 0 || p.presence == PRESENCE_INACTIVE)
                return k;

        k = read_all(&p);
        return k < 0 ? k : claim_all(&p);
}
