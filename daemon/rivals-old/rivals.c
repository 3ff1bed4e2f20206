/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "rival.h"
#include "rivals.h"

/* power-profiles-daemon is none: it sets nothing of a drive. */
static int (*const kinds[])(const Rivals *r) = {
        rival_udisks,  rival_hdparm,     rival_tlp,   rival_tuned, rival_laptop_mode, rival_smartd,
        rival_hd_idle, rival_udev_rules, rival_units, rival_hooks, rival_sysfs,       rival_cron,
};

static bool wants_anything(const Config *c) {
        for (size_t i = 0; i < c->n_blocks; i++)
                if (!c->blocks[i].broken && c->blocks[i].n_assignments > 0)
                        return true;

        return false;
}

int rivals_check(const char *root, Config *c, const SettingTable *t, Drive *const *drives, size_t n_drives) {
        _cleanup_(tree_done) Tree tree = {};
        _cleanup_(words_done) Words scripts = {};
        _cleanup_free_ Drive **sorted = NULL;
        Rivals rivals = {
                .tree = &tree,
                .config = c,
                .table = t,
                .n_drives = n_drives,
                .scripts = &scripts,
        };
        int r;

        if (!wants_anything(c))
                return 0;

        /* The service and the command know them in different orders, and are to say the same. */
        sorted = calloc(MAX(n_drives, 1U), sizeof(Drive *));
        if (!sorted)
                return -ENOMEM;
        for (size_t i = 0; i < n_drives; i++)
                sorted[i] = drives[i];
        qsort(sorted, n_drives, sizeof(Drive *), drive_compare);
        rivals.drives = sorted;

        /* Without a file system to look at there is nobody in it. */
        r = tree_open(root, &tree);
        if (r < 0)
                return r == -ENOMEM ? r : 0;

        for (size_t i = 0; i < ELEMENTSOF(kinds) && r >= 0; i++)
                r = kinds[i](&rivals);

        return r < 0 ? r : 0;
}
