/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep settings`: what there is to write into the file. Reads nothing but its own rows. */

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
        ValueType type = s->range.type;
        bool is_number = type != VALUE_NAME && type != VALUE_ANY && type != VALUE_BOOL;
        char range[RANGE_MAX];

        output_row(o);
        output_text(o, "name", s->name);
        output_text(o, "summary", s->summary);
        output_fact(o, "held by", "transport", held_by(s));
        output_fact(o, s->flags & SETTING_ON_BATTERY ? "on battery" : "same as", "alias_of", s->alias_of);
        output_text(o, "type", value_types[type].type);
        output_fact(o, "values", "range", value_range_format(&s->range, range, sizeof range));
        output_text(o, "unit", value_types[type].unit);
        output_fact(o, "danger", "danger", s->danger);
        output_fact(o, "so", NULL, s->danger ? "needs allow_dangerous = true in its block" : NULL);
        output_fact(o, "known as", "equivalent", s->equivalent);
        output_fact(o, "lost by", "lost_by", s->lost_by);
        output_fact(o, "instead", "instead", s->instead);
        output_fact(o, "excludes", "excludes", s->excludes);
        output_fact(o, "only where", NULL, s->unless ? "this other setting cannot be had:" : NULL);
        output_fact(o, "", "unless", s->unless);
        output_fact(o, "source", "source", s->source);
        output_number(o, "min", is_number, s->range.min);
        output_number(o, "max", is_number, s->range.max);
        output_boolean(o, "volatile", !(s->flags & SETTING_NONVOLATILE));
        output_boolean(o, "saveable", (s->flags & SETTING_SAVEABLE) != 0);
        output_boolean(o, "readable", !(s->flags & SETTING_UNREADABLE) && setting_is_written(s));
        if (s->flags & SETTING_UNREADABLE)
                output_fact(o, "read back", NULL, "nothing can read it; sent once per boot, attach and resume");
        if (s->flags & SETTING_NONVOLATILE)
                output_fact(o, "kept by", NULL,
                            "the drive, over power cycles; written by 'drivekeep apply --permanent' only");
        if (s->flags & SETTING_SAVEABLE)
                output_fact(o, "saved by", NULL,
                            "the drive, where the block says permanent = true, by 'drivekeep apply --permanent'");
        output_cell(o, "remark", remark(s));
        output_end(o);
}

/* All that is known of the rows of that name. */
static void tell_all_of(Output *o, const char *name) {
        SETTING_TABLE_FOREACH(s, &all_settings)
                if (streq(s->name, name)) {
                        output_line(o, "%s: %s", s->name, s->summary);
                        tell_setting(o, s);
                        output_line(o, "%s", "");
                }
}

static int run(const Options *o) {
        /* One that was asked for by its name has no row, but a line for each thing that is known of it. */
        _cleanup_(output_freep) Output *out = output_new(o->json, columns, o->names ? 0 : ELEMENTSOF(columns));
        int r = EXIT_WANTED;

        /* All names are looked up first, so that one run complains of all. */
        for (char *const *name = o->names; name && *name; name++)
                if (setting_choose(&all_settings, *name) != EXIT_WANTED)
                        r = EXIT_BAD_INPUT;
        if (r != EXIT_WANTED)
                return r;

        output_array(out, NULL);
        for (char *const *name = o->names; name && *name; name++)
                tell_all_of(out, *name);
        if (!o->names)
                SETTING_TABLE_FOREACH(s, &all_settings)
                        tell_setting(out, s);
        output_print(out);
        return EXIT_WANTED;
}

const Verb verb_settings = {
        .name = "settings",
        .paged = true,
        .summary = "Show the settings that a configuration can name",
        .arguments = "[SETTING...]",
        .help = "Lists the settings that a configuration can name, or tells all about some of them.",
        .options = OPTION_JSON,
        .run = run,
};
