/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "attribute.h"
#include "stack.h"
#include "watch-drive.h"

static void add_btrfs(WatchDrive *w, const char *btrfsdir, const char *name) {
        unsigned number;

        if (w->n_above < WATCH_ABOVE_MAX && stack_btrfs(btrfsdir, name, &number) >= 0)
                w->above[w->n_above++] = (WatchDevice){ WATCH_BTRFS, number };
}

int watch_drive_read(const char *classdir, const char *btrfsdir, const Drive *d, WatchDrive *ret) {
        _cleanup_(names_freep) char **above = NULL;
        WatchDrive w = {};
        const char *name;
        int r;

        r = stack_number(classdir, d->name, &w.disk.major, &w.disk.minor);
        if (r < 0)
                return r;

        /* …/2:0:0:0/block/sda; numbers of the kernel's fit. */
        name = strstr(d->syspath, "/block/");
        while (name && name > d->syspath && name[-1] != '/')
                name--;
        /* NOLINTNEXTLINE(cert-err34-c) */
        if (!name || sscanf(name, "%u:%u:%u:%" SCNu64 "/", &w.host, &w.channel, &w.id, &w.lun) != 4)
                return -ENODEV;

        add_btrfs(&w, btrfsdir, d->name);
        r = stack_above(classdir, d->name, &above);
        for (char **n = above; r >= 0 && n && *n && w.n_above < WATCH_ABOVE_MAX; n++) {
                WatchDevice *a = w.above + w.n_above;

                /* What goes to a partition the kernel has turned into what goes to the disk. */
                if (!attribute_exists("%s/%s/partition", classdir, *n) &&
                    stack_number(classdir, *n, &a->major, &a->minor) >= 0)
                        w.n_above++;
                add_btrfs(&w, btrfsdir, *n);
        }
        if (r < 0)
                return r;

        *ret = w;
        return 0;
}
