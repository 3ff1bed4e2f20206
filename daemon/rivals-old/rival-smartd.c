/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smartd: -e and -l scterc in its file are smartctl's -s and -l scterc, sent once for each drive when it starts; and what
 * asks a drive again and again may keep it from its sleep (smartd.conf(5), smartd(8) of smartmontools 7.3). */

#include <stdio.h>

#include "commands.h"
#include "lines.h"
#include "rival.h"

#define INTERVAL_DEFAULT 1800UL /* seconds */
#define WHO "smartd"

typedef struct Look {
        const Rivals *rivals;
        Presence presence;
        const char *file, *text;
        unsigned long interval;
        char *defaults; /* what the last DEFAULT line says */
} Look;

/* A line of smartd.conf, taken apart. */
typedef struct Directives {
        char *device;             /* NULL: DEVICESCAN */
        char *smartctl;           /* the options that smartctl would be given */
        bool any, asleep_skipped; /* -n standby, or idle */
        unsigned long interval;   /* 0: smartd's */
} Directives;

static int append(char **text, const char *flag, const char *value) {
        char *longer;

        if (asprintf(&longer, "%s %s %s", *text ?: "", flag, value) < 0)
                return -ENOMEM;
        free(*text);
        *text = longer;
        return 0;
}

static int read_directives(char *words, Directives *d) {
        int k = 0;

        for (char *saved, *w = strtok_r(words, " \t", &saved); w && k >= 0; w = strtok_r(NULL, " \t", &saved)) {
                const char *value;

                if (w[0] == '#')
                        break;
                if (w[0] != '-' || !w[1] || !strchr("elnc", w[1]) || w[2])
                        continue;
                value = strtok_r(NULL, " \t", &saved);
                if (!value)
                        break;

                if (w[1] == 'e') {
                        k = append(&d->smartctl, "-s", value);
                        d->any = true;
                } else if (w[1] == 'l' && strncmp(value, "scterc,", 7) == 0) {
                        k = append(&d->smartctl, "-l", value);
                        d->any = true;
                } else if (w[1] == 'n')
                        d->asleep_skipped = strncmp(value, "standby", 7) == 0 || strncmp(value, "idle", 4) == 0;
                else if (w[1] == 'c' && strncmp(value, "i=", 2) == 0)
                        d->interval = strtoul(value + 2, NULL, 10);
        }

        return k;
}

static bool can_sleep(const void *userdata _unused_, const Drive *d) {
        return d->rotational;
}

static int check_settings(const Look *look, const Directives *d, unsigned line, const Match *match) {
        _cleanup_(import_done) Import import = {};
        _cleanup_free_ char *command = NULL;
        Claim c = {
                .level = COMPLAINT_WARNING,
                .who = WHO,
                .when = "here, when it starts or reloads",
                .cure = "take that out of this line",
                .file = look->file,
                .text = look->text,
        };
        int k;

        if (asprintf(&command, "smartctl%s", d->smartctl) < 0) {
                command = NULL;
                return -ENOMEM;
        }
        k = commands_read_for(command, strlen(command), line, match, false, &import);
        if (k < 0)
                return k;

        claim_by_presence(&c, look->presence);
        return claim_import(look->rivals, &c, &import, true);
}

/* Does it ask sooner than the drive would go to sleep? */
static int check_interval(const Look *look, const Directives *d, unsigned line, const Match *match) {
        const Claim c = {
                .match = match,
                .means = can_sleep,
                .key = "spindown_time",
        };
        unsigned long interval = d->interval ?: look->interval;
        char drives[128], buf[VALUE_TEXT_MAX];
        const char *timer;
        Meeting m;
        uint64_t wait;
        int k;

        k = claim_meets(look->rivals, &c, &m);
        if (k <= 0)
                return k;
        wait = standby_timer_to_seconds((uint8_t) m.value.number);
        if (wait == 0)
                return 0;
        timer = value_format(&m.row->range, &m.value, buf);
        (void) meeting_drives(&m, drives, sizeof drives);

        if (interval <= wait)
                return complain(&look->rivals->config->complaints, COMPLAINT_WARNING, look->file, line,
                                text_column(look->text, line),
                                WHO
                                " asks every %lu s, and %s:%u wants spindown_time to be %s%s: many drives count their "
                                "idle time anew at each question and never go to standby; let it ask less often "
                                "(-i SECONDS in smartd's own options), or make the time shorter",
                                interval, m.file, m.line, timer, drives);
        if (!d->asleep_skipped)
                return complain(&look->rivals->config->complaints, COMPLAINT_WARNING, look->file, line,
                                text_column(look->text, line),
                                WHO " asks every %lu s and wakes the drive for it, and %s:%u wants spindown_time to be "
                                    "%s%s: -n standby in this line lets it sleep",
                                interval, m.file, m.line, timer, drives);
        return 0;
}

static int match_device(const char *device, Match *ret) {
        int k;

        if (streq(device, "DEVICESCAN"))
                return 1;
        k = match_add(ret, MATCH_NODE, NULL, device);
        if (k == -EINVAL)
                return 0;
        return k < 0 ? k : 1;
}

static int check_line(Look *look, char *line, unsigned number) {
        _cleanup_free_ char *copy = NULL, *smartctl = NULL;
        _cleanup_(match_done) Match match = {};
        size_t n = strcspn(line, " \t");
        Directives d = {};
        bool device = line[n] != '\0';
        char *rest = line + n;
        int k;

        if (device)
                *rest++ = '\0';
        if (streq(line, "DEFAULT")) {
                free(look->defaults);
                look->defaults = strdup(rest);
                return look->defaults ? 1 : -ENOMEM;
        }

        /* A defaults' directive first: the line's own one counts. */
        if (asprintf(&copy, "%s %s", look->defaults ?: "", rest) < 0) {
                copy = NULL;
                return -ENOMEM;
        }
        k = read_directives(copy, &d);
        smartctl = d.smartctl;
        if (k >= 0)
                k = match_device(line, &match);
        if (k <= 0)
                return k < 0 ? k : 1;

        if (d.any)
                k = check_settings(look, &d, number, &match);
        if (k >= 0 && look->presence == PRESENCE_ACTIVE)
                k = check_interval(look, &d, number, &match);

        /* Whatever stands behind it is not read. */
        return k < 0 ? k : !streq(line, "DEVICESCAN");
}

static int check_conf(Look *look) {
        _cleanup_free_ char *line = NULL;
        Lines lines = { .next = look->text };
        int k;

        for (k = lines_next(&lines, true, &line); k > 0; k = lines_next(&lines, true, &line)) {
                if (*line == '\0' || *line == '#')
                        continue;
                k = check_line(look, line, lines.line);
                if (k <= 0)
                        break;
        }

        return k < 0 ? k : 0;
}

/* -i SECONDS or --interval=SECONDS in the options that its unit gives it. */
static int read_interval(const Rivals *r, const char *path, unsigned long *ret) {
        _cleanup_free_ char *text = NULL, *line = NULL;
        Lines lines = {};
        size_t size;
        int k;

        k = tree_read(r->tree, path, &text, &size);
        if (k <= 0)
                return k;

        lines.next = text;
        for (k = lines_next(&lines, true, &line); k > 0; k = lines_next(&lines, true, &line)) {
                char *options = line_value(line, "smartd_opts") ?: line_value(line, "SMARTD_OPTS");
                unsigned long seconds = 0;
                const char *i;

                if (!options)
                        continue;
                i = strstr(options, "--interval=");
                if (i)
                        seconds = strtoul(i + strlen("--interval="), NULL, 10);
                else if ((i = strstr(options, "-i ")))
                        seconds = strtoul(i + strlen("-i "), NULL, 10);
                if (seconds > 0)
                        *ret = seconds;
        }

        return k;
}

int rival_smartd(const Rivals *r) {
        static const char *const units[] = { "smartmontools.service", "smartd.service", NULL };
        static const char *const options[] = { "/etc/default/smartmontools", "/etc/sysconfig/smartmontools" };
        static const char *const files[] = { "/etc/smartd.conf", "/etc/smartmontools/smartd.conf" };
        _cleanup_free_ char *text = NULL;
        Look look = { .rivals = r, .interval = INTERVAL_DEFAULT };
        size_t size;
        int k;

        k = presence_of_units(r, units, &look.presence);
        if (k < 0 || look.presence == PRESENCE_INACTIVE)
                return k;

        for (size_t i = 0; i < ELEMENTSOF(options) && k >= 0; i++)
                k = read_interval(r, options[i], &look.interval);
        for (size_t i = 0; i < ELEMENTSOF(files) && k >= 0 && !text; i++) {
                k = tree_read(r->tree, files[i], &text, &size);
                look.file = files[i];
        }
        if (k < 0 || !text)
                return k;

        look.text = text;
        k = check_conf(&look);
        free(look.defaults);
        return k;
}
