/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree.h"
#include "udev-fit.h"

typedef enum Answer {
        NO,
        YES,
        UNKNOWN,
} Answer;

typedef struct Query {
        const char *root;
        const Drive *drive;
        const ImportCondition *condition;
} Query;

static Answer answer(const ImportCondition *c, const char *value) {
        return import_condition_fits(c->value, value) != c->negated ? YES : NO;
}

/* Compares an attribute of the device whose path below /sys is `device`. In udev, a missing attribute meets neither
 * operator. */
static Answer query_attribute(const Query *a, const char *device) {
        _cleanup_free_ char *path = must_format("%s/%s", device, a->condition->attribute);
        _cleanup_free_ char *below_root = must_format("%s%s", a->root, path), *text = NULL;

        if (access(below_root, F_OK) < 0)
                return errno == ENOENT || errno == ENOTDIR ? NO : UNKNOWN;
        text = tree_read(a->root, path, false);
        if (!text)
                return UNKNOWN;
        for (size_t n = strlen(text); n > 0 && strchr(" \t\r\n", text[n - 1]); n--)
                text[n - 1] = '\0';
        return answer(a->condition, text);
}

/* Compares the base name of the target of `link`. The target is the device's driver or subsystem. */
static Answer query_link(const Query *a, const char *device, const char *link) {
        _cleanup_free_ char *path = must_format("%s/%s", device, link), *target = tree_target(a->root, path);

        return target ? answer(a->condition, base_name(target)) : NO;
}

/* Checks the condition for the drive's device and then for its parents, until one device meets the condition. */
static Answer query_parents(const Query *a) {
        _cleanup_free_ char *device = must(strdup(a->drive->syspath));
        const char *key = a->condition->key;
        Answer result = NO, r;

        for (char *end; result != YES && (end = strrchr(device, '/')) && end != device; *end = '\0') {
                _cleanup_free_ char *uevent = must_format("%s%s/uevent", a->root, device);

                /* Skips directories that are not devices. */
                if (access(uevent, F_OK) < 0)
                        continue;
                r = streq(key, "KERNELS")      ? answer(a->condition, base_name(device))
                    : streq(key, "SUBSYSTEMS") ? query_link(a, device, "subsystem")
                    : streq(key, "DRIVERS")    ? query_link(a, device, "driver")
                                               : query_attribute(a, device);
                result = r == NO ? result : r;
        }
        return result;
}

static Answer query_file(const Query *a) {
        const char *value = a->condition->value;
        _cleanup_(words_done) Words found =
                        tree_glob(a->root, *value == '/' ? "" : a->drive->syspath, *value == '/' ? "" : "/", value);

        return (found.n_items > 0) != a->condition->negated ? YES : NO;
}

/* Checks the condition by the facts about the drive that are known without sysfs. */
static Answer query_facts(const Query *a) {
        const Drive *d = a->drive;

        if (!STR_IN_SET(a->condition->key, "ATTR", "ATTRS"))
                return UNKNOWN;
        if (streq(a->condition->attribute, "queue/rotational") && !d->rotational_unknown)
                return answer(a->condition, d->rotational ? "1" : "0");
        if (streq(a->condition->attribute, "removable") && !d->removable_unknown)
                return answer(a->condition, d->removable ? "1" : "0");
        return UNKNOWN;
}

/* Compares a property in udev's database. Properties whose name begins with '.' are not in the database. */
static Answer query_property(const Query *a) {
        const char *name = a->condition->attribute;

        return a->drive->properties && *name != '.' ? answer(a->condition, drive_property(a->drive, name) ?: "")
                                                    : UNKNOWN;
}

static Answer query_condition(const Query *a) {
        const ImportCondition *c = a->condition;
        _cleanup_free_ char *device = NULL;

        if (streq(c->key, "KERNEL"))
                return answer(c, a->drive->name);
        if (streq(c->key, "ENV"))
                return query_property(a);
        if (!STR_IN_SET(c->key, "ATTR", "ATTRS", "TEST", "KERNELS", "SUBSYSTEMS", "DRIVERS") ||
            strpbrk(c->value, "$%") || strpbrk(c->attribute, "[$%"))
                return UNKNOWN;

        device = must_format("%s%s/uevent", a->root, strna(a->drive->syspath));
        if (!a->drive->syspath || access(device, F_OK) < 0)
                return query_facts(a);
        return streq(c->key, "TEST")   ? query_file(a)
               : streq(c->key, "ATTR") ? query_attribute(a, a->drive->syspath)
                                       : query_parents(a);
}

/* Returns YES if all conditions are met. `some`: true if the conditions may be met at only one of the events "add" and
 * "change"; false if they must be met at both events. */
static Answer query_conditions(const char *root, const ImportConditions *c, const Drive *d, bool some) {
        Answer result = YES;

        for (size_t i = 0; i < c->n_items && result != NO; i++) {
                const Query a = { root, d, &c->items[i] };
                Answer r = some && streq(a.condition->key, "ACTION") ? YES : query_condition(&a);

                result = r == YES ? result : r;
        }
        return result;
}

bool udev_applies(const char *root, const Import *i, const ImportRule *r, const Drive *d) {
        Answer own = r->never ? NO : query_conditions(root, &r->conditions, d, true);

        if (own == NO || ((own == UNKNOWN || !r->jumps) && !match_drive(&r->match, d, NULL)))
                return false;
        for (const ImportJump *j = i->jumps; r->jumps && j < i->jumps + i->n_jumps; j++)
                if (j->line < r->line && r->line < j->until && (r->runs || !j->runs) &&
                    query_conditions(root, &j->conditions, d, false) == YES)
                        return false;
        return true;
}
