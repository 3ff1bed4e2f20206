/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Readers of files that contain commands, or values for files below /sys: shell scripts, systemd units, crontabs, tmpfiles.d, sysfs.conf
 * and Gentoo's /etc/conf.d/hdparm. */

#include <ctype.h>
#include <fnmatch.h>

#include "command.h"
#include "unit-lines.h"

void script_file_read(const char *text, Import *ret) {
        const Place place = { .import = ret };

        commands_read(&place, text, 1);
}

/* Replaces each doubled character, such as "$$", by a single one. */
static void undo_double(char *s, const char *two) {
        for (; (s = strstr(s, two)); s++)
                memmove(s, s + 1, strlen(s));
}

/* ---- systemd units ---- */

/* Undoes systemd-escape(1). The caller frees the result. */
static char *unescape(const char *name, size_t n) {
        char *text = must(malloc(n + 1)), *to = text;

        for (const char *s = name; s < name + n; s++) {
                if (s + 4 <= name + n && starts_with(s, "\\x") && isxdigit((unsigned char) s[2]) &&
                    isxdigit((unsigned char) s[3])) {
                        *to++ = (char) strtoul((char[]){ s[2], s[3], '\0' }, NULL, 16);
                        s += 3;
                } else
                        *to++ = *s == '-' ? '/' : *s;
        }
        *to = '\0';
        return text;
}

/* Replaces %i, %I and %f by the instance in the unit's file name. Sets *ret_open if another specifier remains. The caller frees the
 * result. */
static char *put_specifiers(const char *value, const char *file, bool *ret_open) {
        static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/-";
        const char *type = strstr(file, ".service"), *at = type ? memrchr(file, '@', (size_t) (type - file)) : NULL;
        size_t n = at ? (size_t) (type - at) - 1 : 0;
        _cleanup_free_ char *path = unescape(at ? at + 1 : "", n);
        char *text = NULL;
        size_t size;
        FILE *f = must(open_memstream(&text, &size));

        *ret_open = false;
        if (path[strspn(path, plain)])
                n = 0;
        for (const char *p = value; *p; p++)
                if (p[0] != '%' || !p[1] || p[1] == '%') {
                        fputc(*p, f);
                        p += p[0] == '%' && p[1] == '%';
                } else if (n > 0 && strchr("iIf", p[1])) {
                        fprintf(f, "%s%.*s", p[1] == 'f' ? "/" : "", (int) (p[1] == 'i' ? n : strlen(path)),
                                p[1] == 'i' ? at + 1 : path);
                        p++;
                } else {
                        fputc(*p, f);
                        *ret_open = true;
                }
        must_close(f);
        return text;
}

/* Returns true if the line decides whether the unit runs. A line that tests for the presence of a program or drive counts only if the test
 * is negated. `differs`: the test is negated by '!'. `value`: the line's value without systemd's prefixes. */
static bool is_condition(const UnitLine *l, const char *value, bool differs) {
        return streq(l->key, "ExecCondition") || ((starts_with(l->key, "Condition") || starts_with(l->key, "Assert")) &&
                                                  (differs || !word_is_program_or_drive(value)));
}

/* Keeps the rules for the drive at `path`, which the unit's condition tests, and comments out all other rules. */
static void comment_out_conditional(Import *i, const UnitLine *l, const char *path) {
        for (ImportRule *r = i->rules; r < i->rules + i->n_rules; r++)
                if (!command_is_for(r, path))
                        import_comment_out(r, "%.40s in line %u decides whether the unit runs", l->key, l->line);
}

void unit_read(const char *text, Import *ret) {
        _cleanup_(unit_lines_done) UnitLines lines = {};
        _cleanup_free_ char *reason = NULL;

        unit_lines_read(&lines, "", text);
        UNIT_LINES_FOREACH(l, &lines) {
                Place place = { .import = ret };
                bool open;
                _cleanup_free_ char *all = put_specifiers(l->value, ret->file, &open);
                char *value = all + strspn(all, "@-:+!|");

                undo_double(value, "$$");
                if (is_condition(l, value, value > all && value[-1] == '!'))
                        import_set_reason(&reason, "%.40s in line %u decides whether the unit runs%s", l->key, l->line,
                                          streq(l->key, "ConditionACPower") ? ": see on_battery" : "");
                if (streq(l->key, "OnCalendar") || (starts_with(l->key, "On") && ends_with(l->key, "Sec")))
                        import_note(ret, l->line, "a timer only starts another unit; import the file of that unit");
                if (!STR_IN_SET(l->key, "ExecStart", "ExecStartPre", "ExecStartPost"))
                        continue;
                if (!strstr(value, "sh ") && strpbrk(value, "|&<>*?[{"))
                        place.comment_reason = "systemd does not interpret the shell operators in this line";
                else if (open)
                        place.comment_reason = "the value of a systemd specifier is known only when the unit runs";
                commands_read(&place, value, l->line);
        }
        for (size_t i = 0; i < ret->n_rules && reason; i++)
                import_comment_out(&ret->rules[i], "%s", reason);
        UNIT_LINES_FOREACH(l, &lines) {
                bool open;
                _cleanup_free_ char *path = put_specifiers(l->value, ret->file, &open);

                if (!reason && (starts_with(l->key, "Condition") || starts_with(l->key, "Assert")))
                        comment_out_conditional(ret, l, path + strspn(path, "|!"));
        }
}

/* Returns the text after the first `n` words. */
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
                const char *reason =
                                "cron runs this command at certain times; a drivekeep setting applies from boot on";
                const Place place = { .import = ret, .comment_reason = starts_with(line, "@reboot") ? NULL : reason };

                size_t n = *line == '@' ? 1 : 5;

                /* In system crontabs, the user "root" follows the times. */
                n += fnmatch("root[ \t]*", skip_words(line, n), 0) == 0;
                /* A line that begins with none of these characters is a variable, a comment, or empty. */
                if (*line && strchr("@*0123456789", *line))
                        commands_read(&place, skip_words(line, n), l.line);
        }
}

/* Fields of a line: type, path, mode, user, group, age, argument (tmpfiles.d(5)). */
void tmpfiles_read(const char *text, Import *ret) {
        const Place place = { .import = ret };
        _cleanup_free_ char *line = NULL;
        Lines l = { .next = text };

        while (lines_next(&l, false, &line)) {
                char *path = skip_words(line, 1), *argument = skip_words(line, 6);
                bool quoted = *path == '"' || *path == '\'';

                path[strcspn(path, " \t")] = '\0';
                if (quoted && path[1]) {
                        path[strlen(path) - 1] = '\0';
                        path++;
                }
                if (*line == 'w' && *argument)
                        command_write(&place, l.line, path, argument);
        }
}

/* A line of sysfs.conf: block/sda/queue/scheduler = bfq */
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

/* NAME_args="FLAGS" sets the drive NAME. If a drive has no line of its own, sata_all_args applies, or all_args if sata_all_args is not
 * set. pata_all_args is ignored: current kernels have no /dev/hd* drives. */
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
                place.comment_reason =
                                "this line applies to the drives without a line of their own; name these drives in match";
        if (all)
                read_args(&place, all, "sd[a-z]", strlen("sd[a-z]"));
}
