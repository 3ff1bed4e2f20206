/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "unit-lines.h"

void unit_line_done(UnitLine *l) {
        free(l->file);
        free(l->key);
        free(l->value);
        *l = (UnitLine){};
}

void unit_lines_done(UnitLines *u) {
        for (size_t i = 0; i < u->n_items; i++)
                unit_line_done(&u->items[i]);
        free(u->items);
        *u = (UnitLines){};
}

void unit_lines_add(UnitLines *u, const char *file, unsigned line, const char *key, const char *value) {
        must_grow(u, items);
        u->items[u->n_items++] = (UnitLine){ must(strdup(file)), must(strdup(key)), must(strdup(value)), line };
}

/* Returns the name of the list to which systemd adds the values of `key`. If several keys share the list, an empty
 * value of one key resets the values of all these keys. */
static const char *list_of(const char *key) {
        if (starts_with(key, "Condition"))
                return "Condition";
        if (starts_with(key, "Assert"))
                return "Assert";
        return starts_with(key, "On") && (ends_with(key, "Sec") || streq(key, "OnCalendar")) ? "timer" : key;
}

static void drop_lines(UnitLines *u, const char *key) {
        size_t n = 0;

        for (size_t i = 0; i < u->n_items; i++)
                if (streq(list_of(u->items[i].key), list_of(key)))
                        unit_line_done(&u->items[i]);
                else
                        u->items[n++] = u->items[i];
        u->n_items = n;
}

void unit_lines_read(UnitLines *u, const char *file, const char *text) {
        _cleanup_free_ char *line = NULL;
        Lines l = { .next = text };

        while (joined_lines_next(&l, LINES_SYSTEMD, &line)) {
                char *value = strchr(line, '=');

                if (!value || strchr("#;[", *line))
                        continue;
                *value++ = '\0';
                line[strcspn(line, " \t")] = '\0';
                value += strspn(value, " \t");
                if (*value)
                        unit_lines_add(u, file, l.line, line, value);
                else
                        drop_lines(u, line);
        }
}
