/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "tracefs.h"
#include "tree.h"
#include "wake.h"

#define TRACEFS "/sys/kernel/tracing"
#define UNIT "sys-kernel-tracing.mount"

static bool exists(const char *root, const char *path) {
        _cleanup_free_ char *whole = must_format("%s%s", root, path);

        return access(whole, F_OK) == 0;
}

/* Returns true if tracefs is mounted. Reads /proc/self/mountinfo (proc(5)), since only root can look into the mount point. */
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

const char *tracefs_obstacle(const char *root) {
        _cleanup_(words_done) Words units = {};

        /* This directory exists if systemd runs, as in sd_booted(3). */
        if (!exists(root, "/run/systemd/system") || is_mounted(root))
                return NULL;
        if (!exists(root, TRACEFS))
                return "the kernel has no tracefs; a kernel with CONFIG_FTRACE is needed";
        units = tree_glob(root, UNITS, UNIT, "");
        if (units.n_items > 0 && tree_masks(root, units.items[0]))
                return "tracefs is not mounted, as " UNIT " is masked: 'systemctl unmask " UNIT
                       "', and then 'systemctl start " UNIT "'";
        return tracing_obstacle(TRACING_UNMOUNTED);
}
