/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#include "links.h"

#define BY_ID "/dev/disk/by-id/"

void links_done(Links *l) {
        for (size_t i = 0; i < l->n_items; i++) {
                free(l->items[i].path);
                free(l->items[i].node);
        }
        free(l->items);
        *l = (Links){};
}

int links_add(Links *l, const char *path, const char *node) {
        Link link = {}, *items;

        items = reallocarray(l->items, l->n_items + 1, sizeof(Link));
        if (!items)
                return -ENOMEM;
        l->items = items;

        link.path = strdup(path);
        link.node = strdup(node);
        if (!link.path || !link.node) {
                free(link.path);
                free(link.node);
                return -ENOMEM;
        }

        l->items[l->n_items++] = link;
        return 0;
}

int links_read(Links *l, const char *directory) {
        struct dirent **entries;
        int n, r = 0;

        n = scandir(directory, &entries, NULL, alphasort);
        if (n < 0)
                return errno == ENOMEM ? -ENOMEM : 0;

        for (int i = 0; i < n; i++) {
                _cleanup_free_ char *path = NULL, *node = NULL;

                if (r >= 0 && asprintf(&path, "%s/%s", directory, entries[i]->d_name) < 0) {
                        path = NULL;
                        r = -ENOMEM;
                }
                if (r >= 0 && entries[i]->d_type == DT_LNK)
                        node = realpath(path, NULL);
                if (node)
                        r = links_add(l, path, node);
                free(entries[i]);
        }
        free(entries);

        return r;
}

const char *links_target(const Links *l, const char *path) {
        for (size_t i = 0; l && i < l->n_items; i++)
                if (streq(l->items[i].path, path))
                        return l->items[i].node;

        return NULL;
}

/* Lower is better: what says model and serial number before what says a number. */
static unsigned rank(const char *path) {
        static const char *const buses[] = { "ata-", "nvme-", "usb-", "scsi-S", "mmc-", "virtio-", "wwn-" };
        const char *name = path + strlen(BY_ID);

        if (strncmp(path, BY_ID, strlen(BY_ID)) != 0)
                return UINT_MAX;
        if (strncmp(name, "nvme-eui.", strlen("nvme-eui.")) == 0 ||
            strncmp(name, "nvme-nvme.", strlen("nvme-nvme.")) == 0)
                return ELEMENTSOF(buses);

        for (unsigned i = 0; i < ELEMENTSOF(buses); i++)
                if (strncmp(name, buses[i], strlen(buses[i])) == 0)
                        return i;

        return UINT_MAX;
}

const char *links_best(const Links *l, const char *node) {
        const char *best = NULL;

        for (size_t i = 0; l && i < l->n_items; i++) {
                const char *path = l->items[i].path;

                if (streq(l->items[i].node, node) && rank(path) != UINT_MAX && (!best || rank(path) < rank(best)))
                        best = path;
        }

        return best;
}
