/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep settings`: what there is to write into the file. Reads nothing but its own rows. */

#include <stdio.h>

#include "choice.h"
#include "output.h"
#include "settings.h"
#include "verb.h"

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

/* ---- all of them: a table, or JSON ---- */

/* clang-format off */
static const Column columns[] = {
        { "name", "SETTING" },
        { "transport", "HELD BY" },
        { "range", "VALUES", .wrap = true },
        { "equivalent", "KNOWN AS", .wrap = true, .spared = true },
        { "lost_by", "LOST BY", .spared = true },
        { "remark", "REMARK" },
};
/* clang-format on */

static void tell_setting(Output *o, const Setting *s) {
        char range[RANGE_MAX];

        output_row(o);
        output_text(o, "name", s->name);
        output_text(o, "summary", s->summary);
        output_text(o, "transport", held_by(s));
        output_text(o, "alias_of", s->alias_of);
        output_text(o, "type", value_types[s->range.type].type);
        output_text(o, "range", value_range_format(&s->range, range, sizeof range));
        output_text(o, "unit", value_types[s->range.type].unit);
        output_text(o, "danger", s->danger);
        output_text(o, "equivalent", s->equivalent);
        output_text(o, "lost_by", s->lost_by);
        output_text(o, "instead", s->instead);
        output_text(o, "excludes", s->excludes);
        output_text(o, "unless", s->unless);
        output_text(o, "source", s->source);
        if (s->range.type == VALUE_NAME || s->range.type == VALUE_ANY || s->range.type == VALUE_BOOL) {
                output_text(o, "min", NULL);
                output_text(o, "max", NULL);
        } else {
                output_number(o, "min", s->range.min);
                output_number(o, "max", s->range.max);
        }
        output_boolean(o, "volatile", !(s->flags & SETTING_NONVOLATILE));
        output_boolean(o, "saveable", s->flags & SETTING_SAVEABLE);
        output_boolean(o, "readable", !(s->flags & SETTING_UNREADABLE) && setting_is_written(s));
        output_cell(o, "remark", remark(s));
        output_end(o);
}

/* ---- all that is known of one ---- */

static void put(const char *title, const char *text) {
        if (text)
                printf("%12s: %s\n", title, text);
}

/* *any: is there something above it? */
static void explain_setting(const char *name, bool *any) {
        SETTING_TABLE_FOREACH(s, &all_settings) {
                char range[RANGE_MAX];

                if (!streq(s->name, name))
                        continue;

                printf("%s%s: %s\n", *any ? "\n" : "", s->name, s->summary);
                put(s->flags & SETTING_ON_BATTERY ? "on battery" : "same as", s->alias_of);
                put("held by", held_by(s));
                put("values", value_range_format(&s->range, range, sizeof range));
                put("known as", s->equivalent);
                put("lost by", s->lost_by);
                put("instead", s->instead);
                put("danger", s->danger);
                if (s->danger)
                        put("so", "needs allow_dangerous = true in its block");
                if (s->flags & SETTING_UNREADABLE)
                        put("read back", "nothing can read it; sent once per boot, attach and resume");
                if (s->flags & SETTING_NONVOLATILE)
                        put("kept by", "the drive, over power cycles; written by 'drivekeep apply --permanent' only");
                if (s->flags & SETTING_SAVEABLE)
                        put("saved by",
                            "the drive, where the block says permanent = true, by 'drivekeep apply --permanent'");
                put("excludes", s->excludes);
                put("only where", s->unless ? "this other setting cannot be had:" : NULL);
                put("", s->unless);
                put("source", s->source);
                *any = true;
        }
}

static int run(const Options *o) {
        int r = EXIT_WANTED;
        bool any = false;

        /* All names are looked up first, so that one run complains of all. */
        for (char *const *name = o->names; name && *name; name++)
                if (setting_choose(&all_settings, *name) != EXIT_WANTED)
                        r = EXIT_BAD_INPUT;
        if (r != EXIT_WANTED)
                return r;

        if (o->json || !o->names) {
                _cleanup_(output_freep) Output *out = output_new(o->json, columns, ELEMENTSOF(columns));

                output_array(out, NULL);
                SETTING_TABLE_FOREACH(s, &all_settings)
                        if (!o->names || str_in_set(s->name, (const char *const *) o->names))
                                tell_setting(out, s);
                output_print(out);
                return EXIT_WANTED;
        }

        for (char *const *name = o->names; *name; name++)
                explain_setting(*name, &any);
        return EXIT_WANTED;
}

const Verb verb_settings = {
        .name = "settings",
        .summary = "Show the settings that a configuration can name",
        .arguments = "[SETTING...]",
        .help = "Lists the settings that a configuration can name, or tells all about some of them.",
        .options = OPTION_JSON,
        .run = run,
};
