/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "settings-view.h"

#define RANGE_MAX 512U

/* What its values are, and what their numbers count. */
static const struct {
        const char *type, *unit;
} value_types[_VALUE_TYPE_MAX] = {
        [VALUE_BOOL] = { "boolean", NULL },
        [VALUE_INT] = { "integer", NULL },
        [VALUE_DURATION] = { "duration", "ms" },
        [VALUE_MICROSECONDS] = { "duration", "us" },
        [VALUE_SIZE] = { "size", "bytes" },
        [VALUE_STANDBY_TIMER] = { "standby-timer", NULL },
        [VALUE_CELSIUS] = { "temperature", "celsius" },
        [VALUE_NAME] = { "name", NULL },
        [VALUE_ANY] = { "any", NULL },
        [VALUE_STRIPES] = { "size", "stripes" },
};

static bool setting_is_written(const Setting *s) {
        return !(s->flags & (SETTING_DEAD | SETTING_EXCLUDED));
}

static const char *held_by(const Setting *s) {
        return setting_is_written(s) ? backend_to_string(s->backend) : "none";
}

/* In a word or two, what makes the row a special one. */
static const char *remark(const Setting *s) {
        if (s->flags & SETTING_EXCLUDED)
                return "never written";
        if (s->flags & SETTING_DEAD)
                return "has no effect today";
        if (s->danger)
                return s->flags & SETTING_NONVOLATILE ? "dangerous, kept by the drive" : "dangerous";
        if (s->flags & SETTING_NONVOLATILE)
                return "kept by the drive";
        if (s->flags & SETTING_UNREADABLE)
                return "cannot be read";
        return NULL;
}

int settings_view_table(const SettingTable *t, Table **ret) {
        /* clang-format off */
        static const Column columns[] = {
                { .name = "SETTING" },
                { .name = "HELD BY" },
                { .name = "VALUES", .wrap = true },
                { .name = "KNOWN AS", .wrap = true, .spared = true },
                { .name = "LOST BY", .spared = true },
                { .name = "REMARK" },
        };
        /* clang-format on */
        _cleanup_(table_freep) Table *table = NULL;
        int r;

        r = table_new(columns, ELEMENTSOF(columns), &table);
        if (r < 0)
                return r;

        SETTING_TABLE_FOREACH(s, t) {
                char range[RANGE_MAX];

                (void) value_range_format(&s->range, range, sizeof range);
                r = table_add(table, (const char *const[ELEMENTSOF(columns)]){ s->name, held_by(s), range,
                                                                               s->equivalent, s->lost_by, remark(s) });
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(table);
        return 0;
}

static void put(FILE *f, const char *title, const char *text) {
        if (text)
                fprintf(f, "%12s: %s\n", title, text);
}

int settings_view_explain(const SettingTable *t, const char *name, FILE *f) {
        bool any = false;

        SETTING_TABLE_FOREACH(s, t) {
                char range[RANGE_MAX];

                if (!streq(s->name, name))
                        continue;

                fprintf(f, "%s%s: %s\n", any ? "\n" : "", s->name, s->summary);
                put(f, s->flags & SETTING_ON_BATTERY ? "on battery" : "same as", s->alias_of);
                put(f, "held by", held_by(s));
                put(f, "values", value_range_format(&s->range, range, sizeof range));
                put(f, "known as", s->equivalent);
                put(f, "lost by", s->lost_by);
                put(f, "instead", s->instead);
                put(f, "danger", s->danger);
                if (s->danger)
                        put(f, "so", "needs allow_dangerous = true in its block");
                if (s->flags & SETTING_UNREADABLE)
                        put(f, "read back", "nothing can read it; sent once per boot, attach and resume");
                if (s->flags & SETTING_NONVOLATILE)
                        put(f, "kept by",
                            "the drive, over power cycles; written by 'drivekeep apply --permanent' only");
                if (s->flags & SETTING_SAVEABLE)
                        put(f, "saved by",
                            "the drive, where the block says permanent = true, by 'drivekeep apply --permanent'");
                put(f, "excludes", s->excludes);
                put(f, "only where", s->unless ? "this other setting cannot be had:" : NULL);
                put(f, "", s->unless);
                put(f, "source", s->source);
                any = true;
        }

        return ferror(f) ? -EIO : 0;
}

static int add_boolean(struct json_object *o, const char *key, bool b) {
        struct json_object *child = json_object_new_boolean(b);

        return json_add(o, key, child);
}

static int add_bound(struct json_object *o, const char *key, bool has, int64_t n) {
        if (!has)
                return json_add_text(o, key, NULL);
        return json_add(o, key, json_object_new_int64(n));
}

/* This shape is documented in drivekeep(1) and stays as it is; more keys may be added. */
static int setting_json(const Setting *s, struct json_object **ret) {
        _cleanup_(json_putp) struct json_object *o = NULL;
        bool numbers = s->range.type != VALUE_NAME && s->range.type != VALUE_ANY && s->range.type != VALUE_BOOL;
        char range[RANGE_MAX];
        const JsonText texts[] = {
                { "name", s->name },
                { "summary", s->summary },
                { "transport", held_by(s) },
                { "alias_of", s->alias_of },
                { "type", value_types[s->range.type].type },
                { "range", value_range_format(&s->range, range, sizeof range) },
                { "unit", value_types[s->range.type].unit },
                { "danger", s->danger },
                { "equivalent", s->equivalent },
                { "lost_by", s->lost_by },
                { "instead", s->instead },
                { "excludes", s->excludes },
                { "unless", s->unless },
                { "source", s->source },
        };
        int r;

        r = json_object_of_texts(texts, ELEMENTSOF(texts), &o);
        if (r >= 0)
                r = add_bound(o, "min", numbers, s->range.min);
        if (r >= 0)
                r = add_bound(o, "max", numbers, s->range.max);
        if (r >= 0)
                r = add_boolean(o, "volatile", !(s->flags & SETTING_NONVOLATILE));
        if (r >= 0)
                r = add_boolean(o, "saveable", s->flags & SETTING_SAVEABLE);
        if (r >= 0)
                r = add_boolean(o, "readable", !(s->flags & SETTING_UNREADABLE) && setting_is_written(s));
        if (r < 0)
                return r;

        *ret = TAKE_PTR(o);
        return 0;
}

static bool is_chosen(const Setting *s, char *const *chosen) {
        if (!chosen)
                return true;
        for (; *chosen; chosen++)
                if (streq(s->name, *chosen))
                        return true;

        return false;
}

int settings_view_json(const SettingTable *t, char *const *chosen, struct json_object **ret) {
        _cleanup_(json_putp) struct json_object *array = NULL;

        array = json_object_new_array();
        if (!array)
                return -ENOMEM;

        SETTING_TABLE_FOREACH(s, t) {
                struct json_object *o;
                int r;

                if (!is_chosen(s, chosen))
                        continue;

                r = setting_json(s, &o);
                if (r >= 0)
                        r = json_append(array, o);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(array);
        return 0;
}
