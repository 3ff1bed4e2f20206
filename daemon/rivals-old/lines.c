/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "lines.h"

int lines_next(Lines *l, bool continued, char **ret) {
        const char *s = l->next;
        size_t n = 0, first;
        char *copy;

        if (*s == '\0')
                return 0;

        l->line = l->behind + 1;
        while (s[n] && !(s[n] == '\n' && !(continued && n > 0 && s[n - 1] == '\\'))) {
                l->behind += s[n] == '\n';
                n++;
        }
        l->behind++;
        l->next = s + n + (s[n] == '\n');

        while (n > 0 && isspace((unsigned char) s[n - 1]))
                n--;
        first = strspn(s, " \t");
        copy = n > first ? strndup(s + first, n - first) : strdup("");
        if (!copy)
                return -ENOMEM;
        for (char *p = copy; *p; p++)
                if (p[0] == '\\' && p[1] == '\n')
                        p[0] = p[1] = ' ';

        free(*ret);
        *ret = copy;
        return 1;
}

char *line_value(char *line, const char *name) {
        size_t n = strlen(name);
        char *value, *end;

        if (strncmp(line, "export ", 7) == 0)
                line += 7;
        if (strncmp(line, name, n) != 0 || line[n] != '=')
                return NULL;

        value = line + n + 1;
        if (*value != '"' && *value != '\'') {
                value[strcspn(value, " \t#")] = '\0';
                return value;
        }
        end = strchr(value + 1, *value);
        if (end)
                *end = '\0';
        return value + 1;
}
