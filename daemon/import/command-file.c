/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Commands, and lines that write below /sys, in the files of those who run them: a shell, systemd, cron, systemd-tmpfiles,
 * sysfsutils, Gentoo's init script. */

#include <fnmatch.h>

#include "command.h"
#include "unit-lines.h"

void script_file_read(const char *text, Import *ret) {
        const Place place = { .import = ret };

        commands_read(&place, text, 1);
}

/* Two of a sign are one to what is run. */
static void undo_double(char *s, const char *two) {
        for (; (s = strstr(s, two)); s++)
                memmove(s, s + 1, strlen(s));
}

/* `value` stands behind the signs that systemd has in front of a path or program. */
static bool is_condition(const UnitLine *l, const char *value) {
        return streq(l->key, "ExecCondition") ||
               ((starts_with(l->key, "Condition") || starts_with(l->key, "Assert")) &&
                ((value > l->value && value[-1] == '!') || !word_is_program_or_drive(value)));
}

void unit_read(const char *text, Import *ret) {
        _cleanup_(unit_lines_done) UnitLines lines = {};
        _cleanup_free_ char *held = NULL;

        unit_lines_read(&lines, "", text);
        UNIT_LINES_FOREACH(l, &lines) {
                Place place = { .import = ret };
                char *value = l->value + strspn(l->value, "@-:+!|");

                undo_double(value, "$$");
                undo_double(value, "%%");
                if (is_condition(l, value))
                        import_say_why(&held, "%.40s in line %u decides whether the unit runs%s", l->key, l->line,
                                       streq(l->key, "ConditionACPower") ? ": see on_battery" : "");
                if (!STR_IN_SET(l->key, "ExecStart", "ExecStartPre", "ExecStartPost"))
                        continue;
                if (!strstr(value, "sh ") && strpbrk(value, "|&<>*?[{"))
                        place.held = "systemd takes a shell's signs for words";
                commands_read(&place, value, l->line);
        }
        for (size_t i = 0; i < ret->n_rules && held; i++)
                import_hold(&ret->rules[i], "%s", held);
}

/* What stands behind the first `n` words. */
static char *skip_words(char *s, size_t n) {
        for (; n > 0; n--) {
                s += strcspn(s, " \t");
                s += strspn(s, " \t");
        }
        return s;
}

void crontab_read(const char *text, Import *ret) {
        _cleanup_free_ char *line = NULL;
        Lines l = { .next = text };

        while (lines_next(&l, false, &line)) {
                const char *held = "cron runs it at its times, and a setting of drivekeep holds from boot on";
                const Place place = { .import = ret, .held = starts_with(line, "@reboot") ? NULL : held };

                size_t n = *line == '@' ? 1 : 5;

                /* Only in some crontabs is there a user behind the times. */
                n += fnmatch("root[ \t]*", skip_words(line, n), 0) == 0;
                /* Else it is a variable, a comment, or empty. */
                if (*line && strchr("@*0123456789", *line))
                        commands_read(&place, skip_words(line, n), l.line);
        }
}

/* Type, path, mode, user, group, age, argument. */
void tmpfiles_read(const char *text, Import *ret) {
        const Place place = { .import = ret };
        _cleanup_free_ char *line = NULL;
        Lines l = { .next = text };

        while (lines_next(&l, false, &line)) {
                char *path = skip_words(line, 1), *argument = skip_words(line, 6);

                path[strcspn(path, " \t")] = '\0';
                if (*line == 'w' && *argument)
                        command_write(&place, l.line, path, argument);
        }
}

/* block/sda/queue/scheduler = bfq */
void sysfs_conf_read(const char *text, Import *ret) {
        _cleanup_(pairs_done) Pairs pairs = pairs_read(text, false);
        const Place place = { .import = ret };

        for (size_t i = 0; i < pairs.n_items; i++) {
                const Pair *p = &pairs.items[i];
                _cleanup_free_ char *path = must_format("/sys/%s", p->name);

                if (p->value)
                        command_write(&place, p->line, path, p->value);
        }
}

/* ---- Gentoo's /etc/conf.d/hdparm (init.d/hdparm of sys-apps/hdparm) ---- */

static void read_args(const Place *p, const Pair *args, const char *name, size_t n) {
        _cleanup_free_ char *command = must_format("hdparm %s /dev/%.*s", args->value, (int) n, name);

        commands_read(p, command, args->line);
}

/* NAME_args="FLAGS" for one drive; sata_all_args, or else all_args, for those that have no line of their own. pata_all_args is for
 * drives that no kernel of today calls so. */
void conf_d_read(const char *text, Import *ret) {
        _cleanup_(pairs_done) Pairs pairs = pairs_read(text, true);
        const Pair *all = pairs_last(&pairs, NULL, "sata_all_args");
        Place place = { .import = ret };

        for (size_t i = 0; i < pairs.n_items; i++) {
                const Pair *p = &pairs.items[i];

                if (ends_with(p->name, "_args") && !ends_with(p->name, "all_args") &&
                    pairs_last(&pairs, NULL, p->name) == p)
                        read_args(&place, p, p->name, strlen(p->name) - strlen("_args"));
        }
        if (!all || !*all->value)
                all = pairs_last(&pairs, NULL, "all_args");
        if (ret->n_rules > 0)
                place.held = "it is for the drives that have no line of their own: say which";
        if (all)
                read_args(&place, all, "sd[a-z]", strlen("sd[a-z]"));
}
