/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* To drivekeep the name of a partition means its drive, and that of an array or mapped device also the drives below: a command
 * means what it names. */

#include <ctype.h>

#include "command.h"

typedef enum NodeKind {
        NODE_DRIVE,
        NODE_PART,    /* a partition, or a file system that may lie on one */
        NODE_STACKED, /* md, dm */
} NodeKind;

/* Digits at the end, behind a letter that says so: sda1, nvme0n1p1, …-part1. */
static bool ends_like_part(const char *node) {
        size_t n = strlen(node);

        while (n > 0 && isdigit((unsigned char) node[n - 1]))
                n--;
        if (node[n] == '\0' || n == 0)
                return false;
        if (starts_with(node, "/dev/disk/by-"))
                return n >= strlen("-part") && starts_with(node + n - strlen("-part"), "-part");
        if (starts_with(node, "/dev/nvme") || starts_with(node, "/dev/mmcblk"))
                return node[n - 1] == 'p';
        return starts_with(node, "/dev/sd") || starts_with(node, "/dev/hd") || starts_with(node, "/dev/vd") ||
               starts_with(node, "/dev/xvd");
}

static NodeKind node_kind(const char *node) {
        static const char *const stacked[] = { "/dev/md", "/dev/dm-", "/dev/mapper/", "/dev/disk/by-id/md-",
                                               "/dev/disk/by-id/dm-" };
        static const char *const file_systems[] = { "/dev/disk/by-uuid/", "/dev/disk/by-label/",
                                                    "/dev/disk/by-partuuid/", "/dev/disk/by-partlabel/" };

        for (size_t i = 0; i < ELEMENTSOF(stacked); i++)
                if (starts_with(node, stacked[i]))
                        return NODE_STACKED;
        for (size_t i = 0; i < ELEMENTSOF(file_systems); i++)
                if (starts_with(node, file_systems[i]))
                        return NODE_PART;
        return ends_like_part(node) ? NODE_PART : NODE_DRIVE;
}

static const Criterion *node_criterion(const Match *m) {
        for (size_t i = 0; i < m->n_criteria; i++)
                if (m->criteria[i].key == MATCH_NODE)
                        return &m->criteria[i];

        return NULL;
}

int command_settle_nodes(ImportRule *rule) {
        const Criterion *nodes = node_criterion(&rule->match);
        ImportWish *read_only = import_find_wish(rule, "read_only");
        size_t n_of[] = { [NODE_DRIVE] = 0, [NODE_PART] = 0, [NODE_STACKED] = 0 };
        int r = 0;

        if (!nodes || rule->n_wishes == 0)
                return 0;

        for (size_t i = 0; i < nodes->n_patterns; i++)
                n_of[node_kind(nodes->patterns[i])]++;

        if (n_of[NODE_STACKED] == nodes->n_patterns)
                return match_add(&rule->match, MATCH_TRANSPORT, NULL, "virtual");
        if (n_of[NODE_STACKED] > 0)
                r = remark(&rule->remarks, "by this match it is for the drives below the array or mapped device, too: "
                                           "a block of its own with transport = \"virtual\" is for that alone");
        if (r >= 0 && read_only && n_of[NODE_DRIVE] < nodes->n_patterns) {
                read_only->offered = true;
                r = remark(&read_only->remarks, "the command is for what it names alone, a partition or what lies on "
                                                "one; this would be for the whole drive");
        }

        return r;
}
