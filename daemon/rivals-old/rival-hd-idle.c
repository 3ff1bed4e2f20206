/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* hd-idle: counts idle time itself and sends drives to standby (hd-idle(8), 1.05 in C and 1.21 in Go). */

#include <stdio.h>

#include "lines.h"
#include "rival.h"

#define DEFAULTS "/etc/default/hd-idle"

typedef struct Look {
        const Rivals *rivals;
        Claim claim;
        Match named; /* the drives that have an idle time of their own */
} Look;

static bool is_other(const void *userdata, const Drive *d) {
        const Match *named = userdata;

        return d->rotational && (named->n_criteria == 0 || !match_drive(named, d, NULL));
}

/* One idle time; `node`: the drive's, NULL: all others. */
static int claim_time(Look *look, const char *node, const char *seconds) {
        _cleanup_(match_done) Match match = {};
        char value[32];
        Claim c = look->claim;
        int k;

        if (streq(seconds, "0") || *seconds == '\0' || strspn(seconds, "0123456789") != strlen(seconds))
                return 0;

        if (node) {
                k = match_add(&match, MATCH_NODE, NULL, node);
                if (k < 0)
                        return k == -ENOMEM ? k : 0;
                c.match = &match;
        } else {
                c.means = is_other;
                c.userdata = &look->named;
        }

        (void) snprintf(value, sizeof value, "%.20ss", seconds);
        c.value = value;
        return claim_check(look->rivals, &c);
}

static int claim_options(Look *look, char *options) {
        const char *others = "600"; /* its default; what stands before the first name goes for all that have none */
        char node[128] = "";
        int k = 0;

        for (char *saved, *w = strtok_r(options, " \t", &saved); w && k >= 0; w = strtok_r(NULL, " \t", &saved)) {
                const char *argument = w + 2;

                if (streq(w, "-h"))
                        return 0;
                if (w[0] != '-' || !w[1] || !strchr("aitclsS", w[1]))
                        continue;
                if (*argument == '\0')
                        argument = strtok_r(NULL, " \t", &saved);
                if (!argument)
                        break;

                if (w[1] == 'a') {
                        (void) snprintf(node, sizeof node, "%s%s", argument[0] == '/' ? "" : "/dev/", argument);
                        if (match_add(&look->named, MATCH_NODE, NULL, node) == -ENOMEM)
                                return -ENOMEM;
                } else if (w[1] == 'i' && *node)
                        k = claim_time(look, node, argument);
                else if (w[1] == 'i')
                        others = argument;
        }

        return k < 0 ? k : claim_time(look, NULL, others);
}

int rival_hd_idle(const Rivals *r) {
        static const char *const units[] = { "hd-idle.service", NULL };
        _cleanup_free_ char *text = NULL, *line = NULL, *options = NULL;
        Look look = {
                .rivals = r,
                .claim = {
                        .level = COMPLAINT_WARNING,
                        .who = "hd-idle",
                        .when = "in effect: it sends idle drives to standby by its own clock",
                        .cure = "one of the two is enough; \"systemctl disable --now hd-idle\" leaves it to drivekeep",
                        .file = DEFAULTS,
                        .key = "spindown_time",
                },
        };
        Lines lines = {};
        Presence presence;
        size_t size;
        int k;

        k = presence_of_units(r, units, &presence);
        if (k < 0 || presence == PRESENCE_INACTIVE)
                return k;
        k = tree_read(r->tree, DEFAULTS, &text, &size);
        if (k <= 0)
                return k;
        look.claim.text = lines.next = text;
        claim_by_presence(&look.claim, presence);

        for (k = lines_next(&lines, false, &line); k > 0; k = lines_next(&lines, false, &line)) {
                char *value = line_value(line, "HD_IDLE_OPTS");

                if (!value)
                        continue;
                free(options);
                options = strdup(value);
                if (!options)
                        return -ENOMEM; /* nothing is named yet */
                look.claim.line = lines.line;
        }

        if (k >= 0 && options)
                k = claim_options(&look, options);
        match_done(&look.named);
        return k;
}
