/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Cron's tables, and the scripts of its directories. */

#include <stdio.h>

#include "lines.h"
#include "rival.h"
#include "scripts.h"
#include "unit-file.h"

static int check_table(void *userdata, const char *path) {
        const Runner *runner = userdata;
        _cleanup_(import_done) Import import = {};
        _cleanup_free_ char *text = NULL, *line = NULL;
        Lines lines = {};
        size_t size;
        int k;

        k = tree_read(runner->rivals->tree, path, &text, &size);
        if (k <= 0)
                return k;
        k = crontab_read(text, size, &import);
        if (k >= 0)
                k = runner_claim(runner, path, text, &import, false);
        if (k < 0)
                return k;

        lines.next = text;
        for (k = lines_next(&lines, false, &line); k > 0; k = lines_next(&lines, false, &line)) {
                /* The times and the user's name are no paths. */
                const char *command = *line == '#' ? NULL : strchr(line, '/');

                if (!command)
                        continue;
                while (command > line && command[-1] != ' ' && command[-1] != '\t')
                        command--;
                /* Every so many minutes: that is a path neither. */
                if (*command == '*')
                        command = strstr(command, " /") ?: "";
                k = runner_follow(runner, command, strlen(command));
                if (k < 0)
                        break;
        }

        return k;
}

static int check_script(void *userdata, const char *path) {
        const Runner *runner = userdata;

        return tree_executable(runner->rivals->tree, path) ? runner_script(runner, path) : 0;
}

int rival_cron(const Rivals *r) {
        static const char *const tables[] = { "/etc/cron.d", "/var/spool/cron/crontabs", "/var/spool/cron" };
        static const char *const scripts[] = { "/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly",
                                               "/etc/cron.monthly" };
        Runner runner = { .rivals = r, .when = "when cron runs it" };
        int k;

        k = check_table(&runner, "/etc/crontab");
        for (size_t i = 0; i < ELEMENTSOF(tables) && k >= 0; i++)
                k = tree_each(r->tree, (const char *const[]){ tables[i], NULL }, "", check_table, &runner);
        for (size_t i = 0; i < ELEMENTSOF(scripts) && k >= 0; i++)
                k = tree_each(r->tree, (const char *const[]){ scripts[i], NULL }, "", check_script, &runner);
        return k;
}
