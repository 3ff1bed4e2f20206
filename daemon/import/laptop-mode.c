/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the disk settings of laptop-mode-tools 1.74 (laptop-mode.conf(8), modules hdparm, laptop-mode and intel-sata-powermgmt). The
 * settings depend on the power source, and on whether laptop mode is on. Values for a critical battery level are not imported. */

#include "reader.h"
#include "words.h"

#define ON_AC "ENABLE_LAPTOP_MODE_ON_AC"
#define ON_BATTERY "ENABLE_LAPTOP_MODE_ON_BATTERY"
#define LID_CLOSED "ENABLE_LAPTOP_MODE_WHEN_LID_CLOSED"

typedef enum Scope {
        DISKS, /* the drives in the variable HD */
        LINKS, /* all SATA ports */
} Scope;

/* clang-format off */
static const struct {
        const char *control, *key;
        Scope scope;
        const char *names[2][2]; /* [on battery][laptop mode is on] */
} parameters[] = {
        { "CONTROL_HD_POWERMGMT", "apm", DISKS,
          { { "NOLM_AC_HD_POWERMGMT", "LM_AC_HD_POWERMGMT" }, { "BATT_HD_POWERMGMT", "BATT_HD_POWERMGMT" } } },
        { "CONTROL_HD_IDLE_TIMEOUT", "spindown_time", DISKS,
          { { "NOLM_HD_IDLE_TIMEOUT_SECONDS", "LM_AC_HD_IDLE_TIMEOUT_SECONDS" },
            { "NOLM_HD_IDLE_TIMEOUT_SECONDS", "LM_BATT_HD_IDLE_TIMEOUT_SECONDS" } } },
        { "CONTROL_HD_WRITECACHE", "write_cache", DISKS,
          { { "NOLM_AC_HD_WRITECACHE", "LM_HD_WRITECACHE" }, { "NOLM_BATT_HD_WRITECACHE", "LM_HD_WRITECACHE" } } },
        { "CONTROL_READAHEAD", "read_ahead_kb", DISKS,
          { { "NOLM_READAHEAD", "LM_READAHEAD" }, { "NOLM_READAHEAD", "LM_READAHEAD" } } },
        { "CONTROL_INTEL_SATA_POWER", "link_power_management", LINKS,
          { { "NOLM_AC_SATA_POLICY", "LM_AC_SATA_POLICY" }, { "BATT_SATA_POLICY", "BATT_SATA_POLICY" } } },
};
/* clang-format on */

/* Returns the variable's last assignment, because its value is the value in a shell. Returns NULL if there is no assignment, or if the
 * value is empty. */
static const Pair *find_value(const Pairs *pairs, const char *name) {
        const Pair *p = pairs_last(pairs, NULL, name);

        return p && *p->value && *p->value != '#' ? p : NULL;
}

/* Removes the comment after each value that has no quotes. */
static void cut_comments(Pairs *pairs) {
        for (Pair *p = pairs->items; p < pairs->items + pairs->n_items; p++)
                if (p->value && !strchr("\"'", p->value[-1]))
                        p->value[strcspn(p->value, " \t;")] = '\0';
}

static bool is_set(const Pairs *pairs, const char *name, bool otherwise) {
        const Pair *p = find_value(pairs, name);

        return p ? !streq(p->value, "0") : otherwise;
}

static bool is_controlled(const Pairs *pairs, const char *control) {
        const Pair *p = find_value(pairs, control);

        if (!p || !STR_IN_SET(p->value, "1", "auto"))
                return false;
        return streq(p->value, "1") || is_set(pairs, "ENABLE_AUTO_MODULES", true);
}

static void want_value(const Pairs *pairs, ImportRule *rule, size_t i, bool on_battery) {
        const char *const *names = parameters[i].names[on_battery], *mode = on_battery ? ON_BATTERY : ON_AC;
        bool active = is_set(pairs, mode, on_battery), seconds = streq(parameters[i].key, "spindown_time");
        const Pair *p = find_value(pairs, names[active]), *other = find_value(pairs, names[!active]);
        ImportWish *w;

        if (!p)
                return;
        w = import_add_wish(rule, p->line, parameters[i].key, must_format("%s%s", p->value, seconds ? "s" : ""),
                            on_battery);
        if (other && streq(other->value, p->value))
                other = NULL;
        if (other && !find_value(pairs, mode))
                import_comment_out(w, "%s in another file decides between this line and line %u", mode, other->line);
        else if (other && !active && is_set(pairs, LID_CLOSED, false))
                import_comment_out(w, "line %u applies while the lid is closed", other->line);
        else if (streq(parameters[i].key, "read_ahead_kb"))
                import_comment_out(
                                w,
                                "laptop-mode-tools sets the read-ahead only while a file system of the disk is mounted");
        rule->line = rule->wishes[0].line;
}

static void want_values(const Pairs *pairs, ImportRule *rule, Scope scope) {
        for (size_t i = 0; i < ELEMENTSOF(parameters); i++)
                for (size_t b = 0; b < 2 && parameters[i].scope == scope && is_controlled(pairs, parameters[i].control);
                     b++)
                        want_value(pairs, rule, i, b);
}

/* Adds the rule for drives. The rule is limited to rotational ATA drives, since laptop-mode-tools sets no other drives. */
static void add_disks_rule(const Pairs *pairs, Import *import) {
        const Pair *disks = find_value(pairs, "HD");
        unsigned line = disks ? disks->line : 1;
        ImportRule *rule = import_add_rule(import, 1);
        _cleanup_(words_done) Words words = {};

        words_split(&words, disks ? disks->value : "");
        for (size_t i = 0; i < words.n_items; i++)
                if (!strpbrk(words.items[i], "$`"))
                        (void) import_match(rule, MATCH_NODE, "%s", words.items[i]);
                else
                        import_comment_out_drives(rule, "only a shell can expand \"%.40s\" in line %u", words.items[i],
                                                  line);
        (void) import_match(rule, MATCH_ROTATIONAL, "true");
        (void) import_match(rule, MATCH_TRANSPORT, "sata");
        (void) import_match(rule, MATCH_TRANSPORT, "pata");
        if (words.n_items == 0)
                import_comment_out_drives(rule, "the variable HD in another file names the drives");
        want_values(pairs, rule, DISKS);
}

static void add_links_rules(const Pairs *pairs, Import *import) {
        const Pair *suspends = find_value(pairs, "CONTROL_AHCI_RUNTIME_PM");
        ImportRule *rule = import_add_rule(import, 1);

        (void) import_match(rule, MATCH_TRANSPORT, "sata");
        want_values(pairs, rule, LINKS);
        if (!is_controlled(pairs, "CONTROL_INTEL_SATA_POWER") || !suspends || !streq(suspends->value, "1"))
                return;
        rule = import_add_rule(import, suspends->line);
        (void) import_match(rule, MATCH_NODE, "/dev/sd*");
        import_want(rule, suspends->line, "runtime_pm", "on");
        import_add_wish(rule, suspends->line, "runtime_pm", must(strdup("auto")), true);
}

/* Adds a note about each variable that concerns drives and is not imported. */
static void note_unknown_variables(const Pairs *pairs, Import *import) {
        static const char *const words[] = { "HD", "DISK", "SATA", "AHCI", "CONTROL_RUNTIME_AUTOSUSPEND" };
        static const char *const known[] = { "HD", "ASSUME_SCSI_IS_SATA", "CONTROL_AHCI_RUNTIME_PM",
                                             "BATT_ACTIVATE_SATA_POWER", NULL };

        for (const Pair *p = pairs->items; p < pairs->items + pairs->n_items; p++) {
                bool is_known = str_in_set(p->name, known), is_about_drives = false;

                for (size_t i = 0; i < ELEMENTSOF(parameters); i++)
                        is_known = is_known || streq(p->name, parameters[i].control) ||
                                   STR_IN_SET(p->name, parameters[i].names[0][0], parameters[i].names[0][1],
                                              parameters[i].names[1][0], parameters[i].names[1][1]);
                for (size_t i = 0; i < ELEMENTSOF(words); i++)
                        is_about_drives = is_about_drives || strstr(p->name, words[i]);
                if (p->value && *p->value && !streq(p->value, "0") && is_about_drives && !is_known)
                        import_not_understood(import, p->line, NULL, p->name);
        }
}

void laptop_mode_read(const char *text, Import *ret) {
        _cleanup_(pairs_done) Pairs pairs = pairs_read(text, true);
        size_t i = 0;

        cut_comments(&pairs);
        if (!is_set(&pairs, "ENABLE_LAPTOP_MODE_TOOLS", true))
                return;
        note_unknown_variables(&pairs, ret);
        add_disks_rule(&pairs, ret);
        add_links_rules(&pairs, ret);
        while (i < pairs.n_items && pairs.items[i].value)
                i++;
        for (size_t k = 0; k < ret->n_rules && i < pairs.n_items; k++)
                import_comment_out(&ret->rules[k], "only a shell can evaluate line %u: %.60s", pairs.items[i].line,
                                   pairs.items[i].name);
}
