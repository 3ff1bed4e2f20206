/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "must.h"
#include "tracefs.h"
#include "wake.h"

#define TRACEFS "/sys/kernel/tracing"
#define UNIT "sys-kernel-tracing.mount"

static bool exists(const char *root, const char *path) {
        _cleanup_free_ char *whole = must_format("%s%s", root, path);

        return access(whole, F_OK) == 0;
}

/* Users other than root can see the mount only in proc(5). */
static bool is_mounted(const char *root) {
        _cleanup_free_ char *path = must_format("%s/proc/self/mountinfo", root), *line = NULL;
        bool mounted = false;
        size_t size = 0;
        FILE *f;

        f = fopen(path, "re");
        while (f && !mounted && getline(&line, &size, f) > 0)
                mounted = strstr(line, " " TRACEFS " ") && strstr(line, " - tracefs ");
        if (f)
                (void) fclose(f);
        return mounted;
}

static bool is_masked(const char *root) {
        static const char *const units[] = { "/etc/systemd/system/" UNIT, "/run/systemd/system/" UNIT };

        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                _cleanup_free_ char *unit = must_format("%s%s", root, units[i]);
                char target[sizeof "/dev/null"] = "";

                if (readlink(unit, target, sizeof target) >= 0 && strncmp(target, "/dev/null", sizeof target) == 0)
                        return true;
        }
        return false;
}

const char *tracefs_obstacle(const char *root) {
        /* sd_booted(3) */
        if (!exists(root, "/run/systemd/system") || is_mounted(root))
                return NULL;
        if (!exists(root, TRACEFS))
                return "the kernel has no tracefs: it has to be built with CONFIG_FTRACE";
        if (is_masked(root))
                return "tracefs is not mounted, as " UNIT " is masked: 'systemctl unmask " UNIT
                       "', and then 'systemctl start " UNIT "'";
        return tracing_obstacle(TRACING_UNMOUNTED);
}
