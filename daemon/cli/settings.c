/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* `drivekeep settings`: prints the settings that a configuration can name. Reads only the tables of settings, and no drive. */

#include "choice.h"
#include "output.h"
#include "settings.h"
#include "verb.h"

#define RANGE_MAX 512U

/* Name of each type in JSON, and the unit of its numbers. */
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

static const char *backend_of(const Setting *s) {
        return setting_is_written(s) ? backend_to_string(s->backend) : "none";
}

/* A longer list of values does not fit into a line of 80 columns, beside SETTING_BRIEF_MAX and the longest name. */
#define VALUES_MAX 15U

/* Formats the list of values, or the kind of value if the list is too long. */
static const char *values_in_brief(const ValueRange *r, char buf[static RANGE_MAX]) {
        static const char *const nouns[_VALUE_TYPE_MAX] = {
                [VALUE_INT] = "number",         [VALUE_DURATION] = "time", [VALUE_MICROSECONDS] = "time",
                [VALUE_STANDBY_TIMER] = "time", [VALUE_SIZE] = "size",     [VALUE_CELSIUS] = "degrees",
                [VALUE_NAME] = "word",          [VALUE_ANY] = "-",         [VALUE_BOOL] = "on, off",
        };

        (void) value_range_format(r, buf, RANGE_MAX);
        if (!nouns[r->type] || strlen(buf) <= VALUES_MAX)
                return buf;

        (void) snprintf(buf, RANGE_MAX, "%s%s", nouns[r->type],
                        r->type == VALUE_NAME ? ""
                        : r->words            ? " or word"
                        : r->has_off          ? " or off"
                                              : "");
        return buf;
}

/* clang-format off */
static const Column columns[] = {
        { "name", "SETTING" },
        { "brief", "WHAT IT DOES", .hide_rank = 1 },
        { "values", "VALUES" },
};
/* clang-format on */

/* Returns all values of a setting whose values are words. NULL: the values are not words, or only the kernel knows the words. */
static const ValueWord *choices_of(const ValueRange *r) {
        static const ValueWord boolean[] = { { "on", 1 }, { "off", 0 }, {} };

        if (r->type == VALUE_BOOL && !r->words)
                return boolean;
        return r->type == VALUE_BOOL || r->type == VALUE_NAME ? r->words : NULL;
}

static void print_choices(Output *o, const ValueWord *words) {
        if (!words) {
                output_text(o, "choices", NULL);
                return;
        }
        output_array(o, "choices");
        for (; words->word; words++)
                output_text(o, NULL, words->word);
        output_end(o);
}

static void print_setting(Output *o, const Setting *s) {
        ValueType type = s->range.type;
        bool is_number = type != VALUE_NAME && type != VALUE_ANY && type != VALUE_BOOL;
        char range[RANGE_MAX];

        output_object(o, NULL);
        output_text(o, "name", s->name);
        output_text(o, "brief", s->brief);
        output_fact(o, "meaning", "summary", s->summary);
        output_fact(o, "backend", "transport", backend_of(s));
        output_fact(o, s->flags & SETTING_ON_BATTERY ? "on battery" : "same as", "alias_of", s->alias_of);
        output_text(o, "type", value_types[type].type);
        output_fact(o, "values", "range", value_range_format(&s->range, range, sizeof range));
        print_choices(o, choices_of(&s->range));
        output_text(o, "unit", value_types[type].unit);
        output_fact(o, "danger", "danger", s->danger);
        output_fact(o, "requires", NULL, s->danger ? "allow_dangerous = true in the block" : NULL);
        output_fact(o, "known as", "equivalent", s->equivalent);
        output_fact(o, "lost by", "lost_by", s->lost_by);
        output_fact(o, "instead", "instead", s->instead);
        output_fact(o, "excludes", "excludes", s->excludes);
        output_fact(o, "only if", NULL, s->unless ? "the drive lacks this other setting:" : NULL);
        output_fact(o, "", "unless", s->unless);
        output_fact(o, "source", "source", s->source);
        output_number(o, "min", is_number, s->range.min);
        output_number(o, "max", is_number, s->range.max);
        output_boolean(o, "volatile", !(s->flags & SETTING_NONVOLATILE));
        output_boolean(o, "saveable", (s->flags & SETTING_SAVEABLE) != 0);
        output_boolean(o, "readable", !(s->flags & SETTING_UNREADABLE) && setting_is_written(s));
        output_boolean(o, "once", (s->flags & SETTING_AT_ATTACH) != 0);
        if (s->flags & SETTING_UNREADABLE)
                output_fact(o, "read back", NULL, "not possible; the value is sent once per boot, attach and resume");
        if (s->flags & SETTING_NONVOLATILE)
                output_fact(o, "kept by", NULL,
                            "the drive, over power cycles; only 'drivekeep apply --permanent' writes it");
        if (s->flags & SETTING_SAVEABLE)
                output_fact(o, "saved by", NULL,
                            "the drive, at 'drivekeep apply --permanent', if the block has permanent = true");
        output_end(o);
}

/* Prints the setting in full, for each kind of drive that has the setting. */
static void print_rows_of(Output *o, const char *name) {
        SETTING_TABLE_FOREACH(s, &all_settings)
                if (streq(s->name, name)) {
                        output_line(o, "%s", s->name);
                        print_setting(o, s);
                        output_line(o, "%s", "");
                }
}

/* Prints one line of the list. In a pipe the width is unlimited, so values are printed in full. */
static void print_brief_row(Output *o, const Setting *s) {
        char values[RANGE_MAX];

        /* Prints the setting once: its values are the same for all kinds of drives. */
        if (setting_find(&all_settings, s->name) != s)
                return;

        output_row(o);
        output_cell(o, "name", s->name);
        output_cell(o, "brief", s->brief);
        output_cell(o, "values",
                    isatty(STDOUT_FILENO) ? values_in_brief(&s->range, values)
                                          : value_range_format(&s->range, values, sizeof values));
        output_end(o);
}

static int settings_run(const Options *o) {
        _cleanup_(output_freep) Output *out = output_new(o->json, columns, ELEMENTSOF(columns));
        int r = EXIT_WANTED;

        /* Checks all names first, to report all errors in one run. */
        for (char *const *name = o->names; name && *name; name++)
                if (setting_choose(&all_settings, *name) != EXIT_WANTED)
                        r = EXIT_BAD_INPUT;
        if (r != EXIT_WANTED)
                return r;

        output_document(out, "settings");
        for (char *const *name = o->names; name && *name; name++)
                print_rows_of(out, *name);
        if (!o->names)
                SETTING_TABLE_FOREACH(s, &all_settings)
                        (o->json ? print_setting : print_brief_row)(out, s);
        if (!o->names && isatty(STDOUT_FILENO))
                output_note(out, "'drivekeep settings NAME' shows all details of a setting");
        output_print(out);
        return EXIT_WANTED;
}

const Verb verb_settings = {
        .name = "settings",
        .paged = true,
        .summary = "Show the settings that a configuration can name",
        .arguments = "[SETTING...]",
        .help = "List the settings that a configuration can name, or show all details of the named ones.",
        .options = OPTION_JSON,
        .run = settings_run,
};
