/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "command.h"
#include "commands.h"
#include "udev-conditions.h"
#include "udev-rules.h"

#define JUMPS_MAX 64U

static void item_done(UdevItem *i) {
        free(i->key);
        free(i->attribute);
        free(i->value);
        free(i->label);
}

static void rule_done(UdevRule *rule) {
        for (size_t i = 0; i < rule->n_items; i++)
                item_done(&rule->items[i]);
        free(rule->items);
}

/* Its texts become the rule's. */
static int add_item(UdevRule *rule, UdevItem *item) {
        UdevItem *items = reallocarray(rule->items, rule->n_items + 1, sizeof(UdevItem));

        if (!items)
                return -ENOMEM;
        rule->items = items;
        rule->items[rule->n_items++] = *item;
        *item = (UdevItem){};
        return 0;
}

/* The value at `s`, behind its first quote, without the backslashes that protect quotes; *ret_used is its length there. */
static char *read_value(const char *s, size_t *ret_used) {
        char *value = malloc(strlen(s) + 1), *out = value;
        const char *p = s;

        if (!value)
                return NULL;
        while (*p && *p != '"') {
                if (p[0] == '\\' && p[1] == '"')
                        p++;
                *out++ = *p++;
        }
        *out = '\0';
        *ret_used = (size_t) (p - s) + (*p == '"');
        return value;
}

/* 1, or 0 at the end of what can be read. */
static int read_item(const char **p, UdevRule *rule) {
        _cleanup_(item_done) UdevItem item = {};
        const char *s = *p;
        size_t n, op, used;

        s += strspn(s, " \t,\r");
        n = strcspn(s, "{=!+-:\" \t");
        if (n == 0 || !s[n])
                return 0;

        item.key = strndup(s, n);
        s += n;
        if (*s == '{') {
                n = strcspn(++s, "}");
                item.attribute = strndup(s, n);
                if (!item.attribute)
                        return -ENOMEM;
                s += n + (s[n] == '}');
        }
        s += strspn(s, " \t");
        op = strspn(s, "=!+-:");
        if (op == 0 || op > 2)
                return 0;
        memcpy(item.op, s, op);
        s += op;
        s += strspn(s, " \tei");
        if (*s != '"')
                return 0;

        item.value = read_value(s + 1, &used);
        if (!item.key || !item.value)
                return -ENOMEM;
        *p = s + 1 + used;
        return add_item(rule, &item) < 0 ? -ENOMEM : 1;
}

/* ATTR{queue/scheduler}="bfq" */
static int read_attribute(const UdevItem *i, const Circumstances *circumstances, const Place *place) {
        _cleanup_free_ char *value = NULL, *shown = udev_item_shown(i), *below = NULL;
        Command c = { .line = place->line, .given = place->match };
        const char *key;
        int r;

        if (!shown || asprintf(&below, "device/%s", i->attribute) < 0) {
                below = NULL;
                return -ENOMEM;
        }
        r = command_write_host(place, i->attribute, i->value, shown);
        if (r != 0)
                return r < 0 ? r : 0;

        /* What a drive has below device/ is the SCSI device's own. */
        r = sysfs_setting(circumstances->other && circumstances->drives ? below : i->attribute, i->value, &key, &value);
        if (r < 0)
                return r;
        if (!key)
                return circumstances->drives ? command_unread(place, shown) : 0;

        r = import_add_rule(place->import, place->line, &c.rule);
        if (r >= 0)
                r = command_want(&c, key, value);
        return r < 0 ? r : command_settle(&c, place);
}

static const UdevItem *find_item(const UdevRule *rule, const char *key) {
        for (size_t i = 0; i < rule->n_items; i++)
                if (streq(rule->items[i].key, key))
                        return &rule->items[i];

        return NULL;
}

static void flip(UdevItem *i) {
        i->op[0] = i->op[0] == '=' ? '!' : '=';
}

/* The condition on which a GOTO jumps: NULL, when it has none or several. *ret_never: for our drives it never jumps. */
static const UdevItem *jump_condition(const UdevRule *rule, bool *ret_never) {
        const UdevItem *only = NULL;
        size_t n = 0;

        for (size_t i = 0; i < rule->n_items; i++) {
                UdevItem opposite = rule->items[i];

                if (!udev_condition(&opposite) || udev_holds_anyway(&opposite))
                        continue;
                only = &rule->items[i];
                n++;
                if (streq(opposite.key, "PROGRAM"))
                        return NULL;
                flip(&opposite);
                *ret_never = *ret_never || udev_holds_anyway(&opposite);
        }

        return n == 1 ? only : NULL;
}

/* Rules behind a GOTO, up to its label, are for what does not jump: the opposite of its condition. Of several conditions
 * together there is no such opposite, and GOTO itself stands for it. */
static int add_jump(UdevRule *jumps, const UdevRule *rule, const char *label) {
        bool never = false, full = jumps->n_items == JUMPS_MAX;
        const UdevItem *c = jump_condition(rule, &never);
        _cleanup_(item_done) UdevItem item = {};

        if ((never && !c) || jumps->n_items > JUMPS_MAX)
                return 0;
        if (full)
                c = NULL;

        /* One too many stands to the end. */
        item.label = strdup(full ? "" : label);
        item.key = strdup(c ? c->key : "GOTO");
        item.value = strdup(c ? c->value : label);
        if (c && c->attribute)
                item.attribute = strdup(c->attribute);
        if (!item.label || !item.key || !item.value || (c && c->attribute && !item.attribute))
                return -ENOMEM;
        memcpy(item.op, c ? c->op : "!=", 3);
        flip(&item);
        return add_item(jumps, &item);
}

static int follow_jumps(UdevRule *jumps, const UdevRule *rule) {
        const UdevItem *label = find_item(rule, "LABEL"), *jump = find_item(rule, "GOTO");

        for (size_t i = jumps->n_items; label && i-- > 0;)
                if (streq(jumps->items[i].label, label->value)) {
                        item_done(&jumps->items[i]);
                        memmove(jumps->items + i, jumps->items + i + 1, (--jumps->n_items - i) * sizeof(UdevItem));
                }

        return jump ? add_jump(jumps, rule, jump->value) : 0;
}

static int read_rule(const UdevRule *rule, const UdevRule *jumps, unsigned line, Import *ret) {
        _cleanup_(circumstances_done) Circumstances c = {};
        Place place = { .import = ret, .line = line };
        size_t first = ret->n_rules;
        int r;

        if (!find_item(rule, "RUN") && !find_item(rule, "ATTR"))
                return 0;
        r = circumstances_add(rule, &c);
        if (r >= 0)
                r = circumstances_add(jumps, &c);
        if (r < 0)
                return r;

        /* Without any condition on the drive, something in another file most often decides. */
        place.match = c.other ? NULL : &c.match;
        place.offered = c.foreign || c.match.n_criteria == 0;
        for (size_t i = 0; i < rule->n_items && r >= 0; i++) {
                const UdevItem *item = &rule->items[i];

                if (streq(item->key, "RUN") && !udev_condition(item))
                        r = commands_read_for(item->value, strlen(item->value), line, place.match, place.offered, ret);
                else if (streq(item->key, "ATTR") && item->attribute && !udev_condition(item))
                        r = read_attribute(item, &c, &place);
        }

        for (size_t i = first; i < ret->n_rules && r >= 0; i++)
                if (ret->rules[i].n_wishes > 0)
                        r = circumstances_remark(&c, &ret->rules[i]);

        return r;
}

int udev_rules_read(const char *text, size_t size, Import *ret) {
        _cleanup_(rule_done) UdevRule jumps = {};
        unsigned line = 1;
        int r = 0;

        while (*text && r >= 0) {
                _cleanup_(rule_done) UdevRule rule = {};
                _cleanup_free_ char *s = NULL;
                unsigned first = line;
                const char *p;
                size_t n = 0;

                while (text[n] && !(text[n] == '\n' && (n == 0 || text[n - 1] != '\\'))) {
                        line += text[n] == '\n';
                        n++;
                }
                s = strndup(text, n);
                if (!s)
                        return -ENOMEM;
                text += n + (text[n] == '\n');
                line++;
                for (char *c = s; *c; c++)
                        if (c[0] == '\\' && c[1] == '\n')
                                c[0] = c[1] = ' ';

                p = s + strspn(s, " \t");
                if (*p == '#')
                        continue;
                do
                        r = read_item(&p, &rule);
                while (r > 0);
                if (r >= 0)
                        r = read_rule(&rule, &jumps, first, ret);
                if (r >= 0)
                        r = follow_jumps(&jumps, &rule);
        }

        return r;
}
