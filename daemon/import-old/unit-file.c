/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <stdio.h>

#include "commands.h"
#include "unit-file.h"

#define ENVIRONMENT_MAX 2048U

/* A line with its continuations; *text goes behind it. The caller frees it. */
static char *next_line(const char **text, unsigned *line) {
        const char *s = *text;
        char *copy;
        size_t n = 0;

        while (s[n] && !(s[n] == '\n' && (n == 0 || s[n - 1] != '\\'))) {
                *line += s[n] == '\n';
                n++;
        }
        *text = s + n + (s[n] == '\n');
        ++*line;

        copy = strndup(s, n);
        for (char *p = copy; p && *p; p++)
                if (p[0] == '\\' && p[1] == '\n')
                        p[0] = p[1] = ' ';
        return copy;
}

/* What stands behind "KEY = " for one of these; NULL: the line is another. */
static char *value_of(char *s, const char *const *keys) {
        size_t n;

        s += strspn(s, " \t");
        n = strcspn(s, " \t=");
        for (size_t i = 0; keys[i]; i++)
                if (strlen(keys[i]) == n && strncmp(s, keys[i], n) == 0) {
                        s += n + strspn(s + n, " \t");
                        return *s == '=' ? s + 1 + strspn(s + 1, " \t") : NULL;
                }

        return NULL;
}

/* Takes away the signs in front of the program, and the name that it gets for its own ("@"), which is no argument. */
static char *skip_signs(char *command) {
        size_t signs = strspn(command, "@-:+!"), program, name;
        bool renamed = memchr(command, '@', signs);

        command += signs;
        if (!renamed)
                return command;
        program = strcspn(command, " \t");
        name = program + strspn(command + program, " \t");
        name += strcspn(command + name, " \t");
        memmove(command + program, command + name, strlen(command + name) + 1);
        return command;
}

/* "$$" and "%%" are one of each to what is run. */
static void undo_doubles(char *s) {
        char *to = s;

        for (; *s; s++) {
                if ((s[0] == '$' || s[0] == '%') && s[1] == s[0])
                        s++;
                *to++ = *s;
        }
        *to = '\0';
}

/* All that Environment= says, as a shell would have it in front of a command; the caller frees it. */
static int read_environment(const char *text, char **ret) {
        static const char *const key[] = { "Environment", NULL }, *const file[] = { "EnvironmentFile", NULL };
        unsigned line = 1;
        size_t size, length = 0;
        bool known = true;
        FILE *f;

        f = open_memstream(ret, &size);
        if (!f)
                return -ENOMEM;
        while (*text) {
                _cleanup_free_ char *s = next_line(&text, &line);
                const char *value = s ? value_of(s, key) : NULL, *more = s ? value_of(s, file) : NULL;

                known = known && !(more && *more) && !(value && !*value);
                length += value ? strlen(value) : 0;
                if (value && length < ENVIRONMENT_MAX)
                        fprintf(f, "%s ", value);
        }
        fputs("\n", f);
        if (fclose(f) != 0)
                return -ENOMEM;
        /* What stands in a file counts before it, and an empty one takes back those before. */
        if (!known || length >= ENVIRONMENT_MAX)
                **ret = '\0';
        return 0;
}

int unit_file_read(const char *text, size_t size, Import *ret) {
        static const char *const commands[] = { "ExecStart", "ExecStartPre", "ExecStartPost", "ExecReload", NULL };
        static const char *const conditions[] = { "ConditionACPower", "AssertACPower", NULL };
        _cleanup_free_ char *environment = NULL;
        size_t n_rules = ret->n_rules;
        unsigned line = 1, condition = 0;
        int r;

        r = read_environment(text, &environment);
        while (*text && r >= 0) {
                unsigned first = line;
                _cleanup_free_ char *s = next_line(&text, &line);
                _cleanup_free_ char *all = NULL;
                char *command, *asked;

                if (!s)
                        return -ENOMEM;
                asked = value_of(s, conditions);
                if (asked)
                        condition = *asked ? first : 0; /* an empty one takes back those before it */
                command = value_of(s, commands);
                if (!command)
                        continue;
                command = skip_signs(command);
                undo_doubles(command);
                if (asprintf(&all, "%s%s", environment, command) < 0) {
                        all = NULL;
                        return -ENOMEM;
                }
                /* The environment is a line of its own. */
                r = commands_read(all, strlen(all), *environment ? first - 1 : first, ret);
        }

        if (r < 0 || condition == 0)
                return r;
        return import_hold(
                        ret, n_rules,
                        "by line %u the unit runs only on mains, or only on battery: take it out of the comment where it "
                        "is right for both; for battery power there is on_battery = { … }",
                        condition);
}

/* Behind the times: five fields, or one as @reboot. A user's name may follow, which is no command of ours. */
static const char *skip_times(const char *s) {
        size_t fields = *s == '@' ? 1 : 5;

        for (size_t i = 0; i < fields; i++) {
                s += strcspn(s, " \t");
                s += strspn(s, " \t");
        }
        return s;
}

int crontab_read(const char *text, size_t size, Import *ret) {
        unsigned line = 1;
        int r = 0;

        for (; *text && r >= 0; line++) {
                size_t n = strcspn(text, "\n");
                _cleanup_free_ char *s = strndup(text, n);
                size_t n_rules = ret->n_rules;
                const char *command;
                bool timed;

                if (!s)
                        return -ENOMEM;
                text += n + (text[n] == '\n');

                command = s + strspn(s, " \t");
                if (*command == '#' || !(*command == '@' || *command == '*' || isdigit((unsigned char) *command)))
                        continue;
                timed = strncmp(command, "@reboot", strlen("@reboot")) != 0;
                command = skip_times(command);
                r = commands_read(command, strlen(command), line, ret);
                if (r >= 0 && timed)
                        r = import_hold(ret, n_rules,
                                        "cron runs it at its own times, and drivekeep knows none: what is set holds "
                                        "from boot on; take it out of the comment where that is right, and leave "
                                        "times of day to cron or a systemd timer");
        }

        return r;
}
