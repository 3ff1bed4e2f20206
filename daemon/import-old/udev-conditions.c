/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <stdio.h>

#include "shell-condition.h"
#include "udev-conditions.h"

/* Where these stand, a value is more than its characters. */
#define GLOB "*?[|\\"

/* A program that fails ends the rule, whatever stands between. */
bool udev_condition(const UdevItem *i) {
        return streq(i->op, "==") || streq(i->op, "!=") || streq(i->key, "PROGRAM");
}

static bool is_item(const UdevItem *i, const char *key, const char *attribute) {
        return streq(i->key, key) && (!attribute || streq_ptr(i->attribute, attribute));
}

/* "a|b*": does one of them fit the word? With `all`: does each of them? */
static bool value_fits(const UdevItem *i, const char *word, bool all) {
        _cleanup_free_ char *copy = strdup(i->value);
        bool fits = all;

        for (char *saved, *value = copy ? strtok_r(copy, "|", &saved) : NULL; value;
             value = strtok_r(NULL, "|", &saved)) {
                bool one = fnmatch(value, word, 0) == 0;

                fits = all ? fits && one : fits || one;
        }
        return copy && fits;
}

static bool is_for(const UdevItem *i, const char *word) {
        return value_fits(i, word, false) == streq(i->op, "==");
}

/* Drives come with "add", and a "change" is done to them too; a rule for when they go is another matter. */
static bool action_holds(const UdevItem *i) {
        return (is_for(i, "add") || is_for(i, "change")) && (!is_for(i, "remove") || streq(i->value, "*"));
}

/* Conditions that every drive of ours meets when drivekeep visits it. */
bool udev_holds_anyway(const UdevItem *i) {
        if (!streq(i->op, "==") && !streq(i->op, "!="))
                return false;
        if (is_item(i, "ACTION", NULL))
                return action_holds(i);
        if (is_item(i, "SUBSYSTEM", NULL))
                return is_for(i, "block");
        if (is_item(i, "ENV", "DEVTYPE"))
                return is_for(i, "disk");
        /* A parent may be of any other: "!=" says that none is. */
        if (is_item(i, "SUBSYSTEMS", NULL))
                return streq(i->op, "==") && is_for(i, "block");

        /* Is the program there? And does the drive have the attribute that the rule writes? drivekeep looks for itself. */
        return is_item(i, "TEST", NULL) && streq(i->op, "==") &&
               ((strchr(i->value, '/') && condition_is_tool(base_name(i->value))) || starts_with(i->value, "queue/") ||
                starts_with(i->value, "device/"));
}

static const Criterion *find_criterion(const Match *m, MatchKey key, const char *property) {
        for (size_t i = 0; i < m->n_criteria; i++)
                if (m->criteria[i].key == key && streq_ptr(m->criteria[i].property, property))
                        return &m->criteria[i];

        return NULL;
}

/* Do both begin with what is no glob, and not alike? Then nothing fits both. */
static bool are_apart(const char *a, const char *b) {
        size_t n = MIN(strcspn(a, GLOB), strcspn(b, GLOB));

        return strncmp(a, b, n) != 0;
}

/* Does everything that fits the criterion meet the condition too? False: that cannot be said. */
static bool is_implied(const UdevItem *i, const Criterion *c) {
        for (size_t k = 0; k < c->n_patterns; k++) {
                const char *pattern = c->patterns[k] + (c->key == MATCH_NODE ? strlen("/dev/") : 0);
                bool implied;

                if (streq(i->op, "=="))
                        implied = streq(pattern, i->value) || (!strpbrk(pattern, GLOB) && is_for(i, pattern));
                else
                        implied = !strpbrk(i->value, "|") && are_apart(pattern, i->value);
                if (!implied)
                        return false;
        }

        return true;
}

/* What drivekeep matches by for a condition. */
static MatchKey condition_key(const UdevItem *i) {
        static const struct {
                const char *attribute;
                MatchKey key;
        } facts[] = {
                { "queue/rotational", MATCH_ROTATIONAL },
                { "removable", MATCH_REMOVABLE },
                { "model", MATCH_MODEL },
                { "device/model", MATCH_MODEL },
                { "vendor", MATCH_VENDOR },
                { "device/vendor", MATCH_VENDOR },
        };

        if (streq(i->key, "KERNEL"))
                return MATCH_NODE;
        /* Below a host's "usb3" there are no drives but USB drives. Of other buses that cannot be said. */
        if (streq(i->key, "SUBSYSTEMS") && streq(i->value, "usb"))
                return MATCH_TRANSPORT;
        if (!i->attribute)
                return _MATCH_KEY_INVALID;
        /* Of a drive these two say "disk" and nothing. */
        if (streq(i->key, "ENV"))
                return streq(i->attribute, "DEVTYPE") || strncmp(i->attribute, "POWER_SUPPLY_", 13) == 0 ||
                                                       match_key_from_string(i->attribute) != MATCH_PROPERTY
                                       ? _MATCH_KEY_INVALID
                                       : MATCH_PROPERTY;

        for (size_t k = 0; k < ELEMENTSOF(facts); k++)
                if (strncmp(i->key, "ATTR", 4) == 0 && streq(i->attribute, facts[k].attribute))
                        return facts[k].key;

        return _MATCH_KEY_INVALID;
}

/* Its part of the match; 1, or 0 when there is none. */
static int condition_match(const UdevItem *i, Match *m) {
        _cleanup_free_ char *copy = strdup(i->value);
        MatchKey key = condition_key(i);
        const char *property = key == MATCH_PROPERTY ? i->attribute : NULL;
        const Criterion *there = key < 0 ? NULL : find_criterion(m, key, property);
        int r = 0;

        if (!copy)
                return -ENOMEM;
        /* Of two conditions both must hold; of two patterns of one key, one must. */
        if (there)
                return (key == MATCH_NODE || key == MATCH_PROPERTY) && is_implied(i, there);
        if (!streq(i->op, "==") || strpbrk(i->value, "$%") || key < 0)
                return 0;

        /* "a|b": any of them. */
        for (char *saved, *value = strtok_r(copy, "|", &saved); value && r >= 0; value = strtok_r(NULL, "|", &saved)) {
                _cleanup_free_ char *node = NULL;

                if (key == MATCH_NODE && asprintf(&node, "/dev/%s", value) < 0) {
                        node = NULL;
                        return -ENOMEM;
                }
                r = import_match(m, key, property, node ?: value);
        }

        return r == -EINVAL ? 0 : r < 0 ? r : find_criterion(m, key, property) != NULL;
}

void circumstances_done(Circumstances *c) {
        match_done(&c->match);
}

/* Those of a drive itself ("block"), and of what is above it. */
static bool is_about_drives(const UdevItem *i) {
        static const char *const subsystems[] = { "block", "scsi", "scsi_device", "scsi_disk", "scsi_host", "nvme" };
        static const char *const names[] = { "sda", "hda", "nvme0n1", "mmcblk0", "md0", "host0" };

        for (size_t k = 0; k < ELEMENTSOF(subsystems) && is_item(i, "SUBSYSTEM", NULL); k++)
                if (is_for(i, subsystems[k]))
                        return true;
        for (size_t k = 0; k < ELEMENTSOF(names) && is_item(i, "KERNEL", NULL); k++)
                if (is_for(i, names[k]))
                        return true;

        return false;
}

int circumstances_add(const UdevRule *rule, Circumstances *c) {
        int r;

        for (size_t k = 0; k < rule->n_items; k++) {
                const UdevItem *i = &rule->items[k];

                if (!udev_condition(i))
                        continue;
                c->drives = c->drives || is_about_drives(i);
                if (udev_holds_anyway(i))
                        continue;
                r = condition_match(i, &c->match);
                if (r < 0)
                        return r;
                if (r == 0)
                        c->foreign = i;

                if (is_item(i, "SUBSYSTEM", NULL) || (i->attribute && strncmp(i->attribute, "POWER_SUPPLY_", 13) == 0))
                        c->other = i;
                c->power = c->power || (c->other == i && (i->attribute || is_for(i, "power_supply")));
        }

        return 0;
}

/* KEY{ATTRIBUTE}OP"VALUE"; the caller frees it. */
char *udev_item_shown(const UdevItem *i) {
        char *shown;

        if (asprintf(&shown, "%.40s%s%.60s%s%s\"%.60s\"", i->key, i->attribute ? "{" : "", i->attribute ?: "",
                     i->attribute ? "}" : "", i->op, i->value) < 0)
                return NULL;
        return shown;
}

int circumstances_remark(const Circumstances *c, ImportRule *rule) {
        _cleanup_free_ char *shown = NULL;
        const UdevItem *i = c->other ?: c->foreign;
        bool guessed;

        if (i) {
                shown = udev_item_shown(i);
                if (!shown)
                        return -ENOMEM;
        }

        guessed = rule->offered;
        rule->offered = rule->offered || i || c->match.n_criteria == 0;
        if (c->power)
                return remark(&rule->remarks,
                              "this is done when the power supply changes (%s), not when the drive appears: drivekeep "
                              "has on_battery = { … } for that; write it so and take the block out of the comment",
                              shown);
        if (c->other)
                return remark(&rule->remarks, "the rule is for something else than drives (%s)%s", shown,
                              guessed ? "" : ": put the match right and take the block out of the comment");
        if (c->foreign)
                return remark(&rule->remarks,
                              "drivekeep has no match like %s: put it right and take the block out of the comment",
                              shown);
        if (rule->match.n_criteria == 0)
                return remark(&rule->remarks,
                              "this rule is for every drive that comes so far in its file: say which, and take the "
                              "block out of the comment");
        return 0;
}
