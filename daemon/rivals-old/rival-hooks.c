/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Scripts that are run at boot, after sleep and when the power source changes. */

#include "rival.h"
#include "scripts.h"

static int check_hook(void *userdata, const char *path) {
        const Runner *runner = userdata;

        return tree_executable(runner->rivals->tree, path) ? runner_script(runner, path) : 0;
}

static int check_directory(const Runner *runner, const char *directory) {
        const char *const directories[] = { directory, NULL };

        return tree_each(runner->rivals->tree, directories, "", check_hook, (void *) runner);
}

int rival_hooks(const Rivals *r) {
        static const char *const sleep[] = { "/usr/lib/systemd/system-sleep", "/lib/systemd/system-sleep", NULL };
        static const char *const rc[] = { "/etc/rc.local", "/etc/rc.d/rc.local" };
        bool pm_utils = tree_exists(r->tree, "/usr/sbin/pm-suspend") || tree_exists(r->tree, "/usr/bin/pm-suspend");
        const char *no_pm = pm_utils ? NULL : "but pm-utils is not installed, so nothing comes of this";
        Runner after_sleep = { .rivals = r, .when = "around sleep" };
        Runner misplaced = {
                .rivals = r,
                .when = "around sleep",
                .useless = "but systemd runs only the hooks in /usr/lib/systemd/system-sleep, so nothing comes of this",
        };
        Runner pm_sleep = { .rivals = r, .when = "around sleep", .useless = no_pm };
        Runner pm_power = { .rivals = r, .when = "when the power source changes", .useless = no_pm };
        Runner boot = { .rivals = r, .when = "at boot" };
        int k;

        k = tree_each(r->tree, sleep, "", check_hook, &after_sleep);
        if (k >= 0)
                k = check_directory(&misplaced, "/etc/systemd/system-sleep");
        if (k >= 0)
                k = check_directory(&pm_sleep, "/etc/pm/sleep.d");
        if (k >= 0)
                k = check_directory(&pm_power, "/etc/pm/power.d");
        for (size_t i = 0; i < ELEMENTSOF(rc) && k >= 0; i++)
                k = check_hook(&boot, rc[i]);
        return k;
}
