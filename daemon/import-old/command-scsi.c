/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* sdparm --set and --clear (its field names: sdparm_data.c, 1.12), and blockdev(8). */

#include <stdio.h>

#include "command.h"

/* clang-format off */
static const struct {
        const char *field, *key;
        unsigned unit_ms; /* of a timer; 0: a bit */
        bool enables;     /* the bit is the timer's: off turns it off, on leaves it as it is */
        bool disables;    /* the bit is set for "off" */
} fields[] = {
        { "WCE",       "write_cache",           0,   false, false },
        { "RCD",       "read_cache",            0,   false, true  },
        { "DRA",       "lookahead",             0,   false, true  },
        { "AWRE",      "auto_reallocate_write", 0,   false, false },
        { "ARRE",      "auto_reallocate_read",  0,   false, false },
        { "RTL",       "error_recovery",        1,   false, false },
        { "SCT",       "standby_z",             100, false, false },
        { "SZCT",      "standby_z",             100, false, false },
        { "SYCT",      "standby_y",             100, false, false },
        { "ICT",       "idle_a",                100, false, false },
        { "IACT",      "idle_a",                100, false, false },
        { "IBCT",      "idle_b",                100, false, false },
        { "ICCT",      "idle_c",                100, false, false },
        { "STANDBY",   "standby_z",             0,   true,  false },
        { "STANDBY_Z", "standby_z",             0,   true,  false },
        { "STANDBY_Y", "standby_y",             0,   true,  false },
        { "IDLE",      "idle_a",                0,   true,  false },
        { "IDLE_A",    "idle_a",                0,   true,  false },
        { "IDLE_B",    "idle_b",                0,   true,  false },
        { "IDLE_C",    "idle_c",                0,   true,  false },
};
/* clang-format on */

static int read_field(Command *c, const char *field, size_t n, long value) {
        for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
                if (strlen(fields[i].field) != n || strncasecmp(fields[i].field, field, n) != 0)
                        continue;
                if (fields[i].unit_ms > 0)
                        return command_want_number(c, fields[i].key, (long long) value * fields[i].unit_ms, "ms");
                if (fields[i].enables && value != 0)
                        return 0;
                return command_want(c, fields[i].key, (value != 0) != fields[i].disables ? "on" : "off");
        }

        return remark(&c->rule->remarks, "%.*s: drivekeep has nothing like it", (int) MIN(n, 40U), field);
}

/* "WCE=1,SCT=900", "WCE"; `value` is what a field without one gets. */
static int read_fields(Command *c, const char *s, long value) {
        int r = 0;

        while (*s && r >= 0) {
                size_t n = strcspn(s, ",="), all = strcspn(s, ",");
                long v = value;

                if (s[n] == '=') {
                        char *end;

                        v = strtol(s + n + 1, &end, 0);
                        if (end == s + n + 1 || end != s + all)
                                v = -1;
                }
                if (v < 0 || v > UINT32_MAX)
                        r = remark(&c->rule->remarks, "%.*s cannot be read", (int) MIN(all, 40U), s);
                else if (n > 0)
                        r = read_field(c, s, n, v);
                s += all + (s[all] == ',');
        }

        return r;
}

int sdparm_command(Command *c) {
        int r = 0;

        for (size_t i = 0; i < c->n_words && r >= 0; i++) {
                const char *w = c->words[i], *value = NULL;
                bool set = strncmp(w, "--set", 5) == 0 || strncmp(w, "-s", 2) == 0;
                bool clear = strncmp(w, "--clear", 7) == 0 || strncmp(w, "-c", 2) == 0;

                if (w[0] != '-')
                        r = command_device(c, w);
                else if (set || clear) {
                        value = strchr(w, '=');
                        value = w[1] == '-' && value ? value + 1 : command_value(c, &i, w[1] == '-' ? strlen(w) : 2);
                        if (value)
                                r = read_fields(c, value, set);
                } else if (streq(w, "--save") || streq(w, "-S"))
                        r = remark(&c->rule->remarks, "--save has the drive keep it; drivekeep sets it whenever the "
                                                      "drive comes, and saves nothing unless permanent = true says so");
                else if (streq(w, "-p") || streq(w, "--page") || streq(w, "-t") || streq(w, "--transport"))
                        i++;
        }

        return r;
}

int blockdev_command(Command *c) {
        int r = 0;

        for (size_t i = 0; i < c->n_words && r >= 0; i++) {
                const char *w = c->words[i], *value;

                if (streq(w, "--setra")) {
                        value = command_value(c, &i, strlen(w));
                        if (value)
                                r = command_want(c, "read_ahead_sect", value);
                } else if (streq(w, "--setro") || streq(w, "--setrw"))
                        r = command_want(c, "read_only", streq(w, "--setro") ? "on" : "off");
                else if (streq(w, "--setfra") || streq(w, "--setbsz"))
                        i++;
                else if (w[0] != '-')
                        r = command_device(c, w);
        }

        return r;
}
