/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* TLP's disk settings: lists of values go by the order of DISK_DEVICES, the last value for the rest (tlp.conf,
 * func.d/15-tlp-func-disk of TLP 1.5 to 1.9). */

#include "reader.h"
#include "words.h"

/* Those of DISK are for the drives in DISK_DEVICES, the others for all SATA drives. */
static const char *const parameters[][2] = {
        { "DISK_APM_LEVEL_ON_AC", "apm" },
        { "DISK_APM_LEVEL_ON_BAT", "apm" },
        { "DISK_SPINDOWN_TIMEOUT_ON_AC", "spindown_time" },
        { "DISK_SPINDOWN_TIMEOUT_ON_BAT", "spindown_time" },
        { "DISK_IOSCHED", "scheduler" },
        { "SATA_LINKPWR_ON_AC", "link_power_management" },
        { "SATA_LINKPWR_ON_BAT", "link_power_management" },
        { "AHCI_RUNTIME_PM_ON_AC", "runtime_pm" },
        { "AHCI_RUNTIME_PM_ON_BAT", "runtime_pm" },
};

/* The words of the last NAME=, and of each NAME+= behind it; *ret_line is that of the last one. */
static void find_words(const Pairs *pairs, const char *name, Words *ret, unsigned *ret_line) {
        size_t n = strlen(name);

        for (size_t i = 0; i < pairs->n_items; i++) {
                const Pair *p = &pairs->items[i];

                if (!p->value || !starts_with(p->name, name) || (p->name[n] && !streq(p->name + n, "+")) ||
                    /* A line that TLP does not take. */
                    strpbrk(p->value[-1] == '"' ? strchr(p->value, '\0') + 1 : p->value, "# "))
                        continue;
                if (p->name[n] == '\0')
                        words_done(ret);
                *ret_line = p->line;
                words_split(ret, p->value);
        }
}

/* What is for word `place` of DISK_DEVICES, by the values in this place of their lists; behind the last: for all SATA drives. */
static void add_rule(const Pairs *pairs, Import *import, const Words *devices, size_t place) {
        const char *device = place < devices->n_items ? devices->items[place] : "";
        ImportRule *rule = import_add_rule(import, 1);

        /* All of /dev/disk/by-id have a '-'. */
        if (*device)
                (void) import_match(rule, MATCH_NODE, "/dev/%s%s", strchr(device, '-') ? "disk/by-id/" : "", device);
        else
                (void) import_match(rule, MATCH_TRANSPORT, "sata");

        for (size_t i = 0; i < ELEMENTSOF(parameters); i++) {
                const char *name = parameters[i][0], *key = parameters[i][1], *value;
                _cleanup_(words_done) Words values = {};
                unsigned line;

                if (starts_with(name, "DISK") != (*device != '\0') ||
                    (starts_with(device, "nvme") && !streq(key, "scheduler")))
                        continue;
                find_words(pairs, name, &values, &line);
                if (values.n_items == 0)
                        continue;
                /* Of several link policies TLP takes the first that the kernel knows. */
                value = values.items[*device ? MIN(place, values.n_items - 1) : 0];
                /* TLP's words for leaving it alone. */
                if (!STR_IN_SET(value, "keep", "_"))
                        import_add_wish(rule, line, key, must(strdup(value)), ends_with(name, "_BAT"));
        }
}

void tlp_read(const char *text, Import *ret) {
        _cleanup_(pairs_done) Pairs pairs = pairs_read(text, false);
        const Pair *enable = pairs_last(&pairs, NULL, "TLP_ENABLE");
        _cleanup_(words_done) Words devices = {};
        unsigned line = 0;

        if (enable && !streq(enable->value, "1"))
                return;
        find_words(&pairs, "DISK_DEVICES", &devices, &line);
        if (line == 0)
                words_split(&devices, "nvme0n1 sda"); /* its default */
        for (size_t i = 0; i <= devices.n_items; i++)
                add_rule(&pairs, ret, &devices, i);
}
