/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smartctl -s NAME,VALUE and -l scterc,READ,WRITE (smartctl(8), 7.3). */

#include <ctype.h>
#include <stdio.h>

#include "command.h"

/* clang-format off */
static const struct {
        const char *name, *key;
} settings[] = {
        { "aam",        "acoustic_management"            },
        { "apm",        "apm"                            },
        { "dsn",        "device_statistics_notification" },
        { "lookahead",  "lookahead"                      },
        { "rcache",     "read_cache"                     },
        { "standby",    "spindown_time"                  },
        { "wcache",     "write_cache"                    },
        { "wcache-sct", "write_cache_forced"             },
        { "wcreorder",  "write_cache_reordering"         },
};
/* clang-format on */

static int read_set(Command *c, const char *argument) {
        const char *value = strchr(argument, ',');
        size_t n = strcspn(argument, ",");

        if (streq(argument, "security-freeze"))
                return command_want(c, "security_freeze", "on");
        if (streq(argument, "on") || streq(argument, "off"))
                return remark(&c->rule->remarks, "-s %s is about SMART itself, which is smartd's", argument);

        for (size_t i = 0; i < ELEMENTSOF(settings) && value; i++) {
                _cleanup_free_ char *copy = NULL;

                if (strlen(settings[i].name) != n || memcmp(settings[i].name, argument, n) != 0)
                        continue;
                if (streq(value, ",now"))
                        return remark(&c->rule->remarks, "-s standby,now is a deed, not a setting that can be kept");

                copy = strndup(value + 1, strcspn(value + 1, ","));
                return copy ? command_want(c, settings[i].key, copy) : -ENOMEM;
        }

        return remark(&c->rule->remarks, "-s %.40s: drivekeep has nothing like it", argument);
}

static int want_limit(Command *c, const char *key, long tenths) {
        return tenths == 0 ? command_want(c, key, "off") : command_want_number(c, key, tenths * 100, "ms");
}

static int read_log(Command *c, const char *argument) {
        long reading, writing;
        char *end;
        int r;

        if (strncmp(argument, "scterc,", strlen("scterc,")) != 0)
                return 0;

        argument += strlen("scterc,");
        reading = strtol(argument, &end, 10);
        if (!isdigit((unsigned char) *argument) || *end != ',' || !isdigit((unsigned char) end[1]) || reading > 65535)
                return remark(&c->rule->remarks, "-l scterc,%.40s cannot be read", argument);
        writing = strtol(end + 1, &end, 10);
        if (writing > 65535)
                return remark(&c->rule->remarks, "-l scterc,%.40s cannot be read", argument);

        if (streq(end, ",p")) {
                r = remark(&c->rule->remarks,
                           "the p of -l scterc has the drive keep it over power cycles; drivekeep sets "
                           "it whenever the drive comes");
                if (r < 0)
                        return r;
        }
        if (reading == writing)
                return want_limit(c, "error_recovery", reading);

        r = want_limit(c, "error_recovery_read", reading);
        return r < 0 ? r : want_limit(c, "error_recovery_write", writing);
}

/* -d TYPE: the node is the controller's, or that of any drive on it, and the type says which is meant. */
static bool is_behind_raid(const char *type) {
        static const char raids[][9] = { "3ware",  "aacraid", "areca",    "cciss",  "hpt",
                                         "jmb39x", "jms56x",  "megaraid", "sssraid" };

        for (size_t i = 0; i < ELEMENTSOF(raids); i++)
                if (strstr(type, raids[i]))
                        return true;

        return false;
}

int smartctl_command(Command *c) {
        const char *raid = NULL;
        int r = 0;

        for (size_t i = 0; i < c->n_words && r >= 0; i++) {
                const char *w = c->words[i], *value;

                if (w[0] != '-')
                        r = command_device(c, w);
                else if (strncmp(w, "-s", 2) == 0 || strncmp(w, "-l", 2) == 0 || streq(w, "--set") ||
                         streq(w, "--log")) {
                        value = command_value(c, &i, w[1] == '-' ? strlen(w) : 2);
                        w += w[1] == '-';
                        if (value)
                                r = w[1] == 's' ? read_set(c, value) : read_log(c, value);
                } else if (strncmp(w, "--set=", 6) == 0 || strncmp(w, "--log=", 6) == 0)
                        r = w[2] == 's' ? read_set(c, w + 6) : read_log(c, w + 6);
                else if (strncmp(w, "-d", 2) == 0 || strncmp(w, "--device", 8) == 0) {
                        value = strncmp(w, "--device=", 9) == 0 ? w + 9
                                                                : command_value(c, &i, w[1] == '-' ? strlen(w) : 2);
                        if (value && is_behind_raid(value))
                                raid = value;
                } else if (w[1] != '-' && strchr("TqnrbfvPoStBFg", w[1]))
                        (void) command_value(c, &i, 2);
        }

        if (r < 0 || !raid || c->rule->n_wishes == 0)
                return r;

        c->rule->offered = true;
        return remark(&c->rule->remarks,
                      "-d %.40s means a drive behind a RAID controller: drivekeep does not reach it by the node that the "
                      "command names",
                      raid);
}
