/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names of drives in a match, as they are written: whether there can be such a drive, and whether it is the same one after the next
 * boot. */

#include <ctype.h>
#include <fnmatch.h>

#include "config.h"
#include "text.h"

#define LINKS "/dev/disk/"
#define warn(c, b, ...) \
        complain(&(c)->complaints, COMPLAINT_WARNING, (b)->file, (b)->match_at.line, (b)->match_at.column, __VA_ARGS__)

/* What udev makes links in, and what ZFS's and Ubuntu's rules do. */
static const char *const link_directories[] = {
        "by-id",      "by-path", "by-uuid",  "by-label",      "by-partuuid", "by-partlabel",
        "by-diskseq", "by-vdev", "by-dname", "by-loop-inode", "by-loop-ref", "by-designator",
};

/* The kernel's names of whole disks, and what a partition's name has more; the X is a manual's, for any letter. */
#define LETTERED "@(sd|hd|vd|xvd)+([a-z])"
#define NUMBERED "@(nvme+([0-9])n|mmcblk|md|md_d)+([0-9])"
#define DISK "/dev/@(" LETTERED "|" NUMBERED "|@(sr|dm-)+([0-9])|sdX)"
/* Links that count as the kernel does. */
#define COUNTED "@(" LINKS "by-diskseq|/dev/block)/+([0-9:])"
#define PARTITION "@(/dev/@(" LETTERED "|" NUMBERED "p)|" LINKS "*-part)+([0-9])"

/* The length of its disk's name; 0: it is no partition. */
static size_t find_partition(const char *path) {
        size_t n = strlen(path);

        if (fnmatch(PARTITION, path, FNM_EXTMATCH) != 0)
                return 0;
        while (isdigit((unsigned char) path[n - 1]))
                n--;
        if (starts_with(path, LINKS))
                return n - strlen("-part");
        return n - (isdigit((unsigned char) path[n - 2]) && path[n - 1] == 'p');
}

/* A pattern may stand for a directory that is there. */
static bool is_pattern(const char *s, size_t n) {
        return memchr(s, '*', n) || memchr(s, '?', n) || memchr(s, '[', n);
}

static void check_directory(Config *c, const Block *b, const char *path) {
        const char *name = path + strlen(LINKS);
        size_t n = strcspn(name, "/");
        _cleanup_free_ char *directory = strndup(name, n);
        Nearest near = { .typed = directory };

        if (!directory) {
                c->complaints.error = -ENOMEM;
                return;
        }
        for (size_t i = 0; i < ELEMENTSOF(link_directories); i++)
                nearest_offer(&near, link_directories[i]);

        if (is_pattern(name, n) || (near.word && near.distance == 0 && streq(near.word, directory)))
                return;
        if (near.word)
                warn(c, b,
                     "udev makes no directory " LINKS "%s, so \"%s\" fits no drive; did you mean \"" LINKS "%s%s\"?",
                     directory, path, near.word, name + n);
        else
                warn(c, b,
                     "udev makes no directory " LINKS
                     "%s, so \"%s\" fits no drive; there are by-id, by-path and others",
                     directory, path);
}

typedef struct Present {
        Drive *const *drives;
        size_t n;
} Present;

/* A lasting name of the drive that has this one now. NULL: there is no such drive, or it has no lasting name. */
static const char *find_lasting(const Present *p, const char *path) {
        for (size_t i = 0; i < p->n; i++) {
                const Drive *d = p->drives[i];
                bool named = streq(d->node, path);

                for (size_t k = 0; !named && k < d->n_links; k++)
                        named = d->links[k].via == LINK_OWN && streq(d->links[k].path, path);
                if (named)
                        return drive_stable_link(d);
        }

        return NULL;
}

static void check_name(Config *c, const Block *b, const char *path, const Present *p) {
        size_t partitioned = find_partition(path);
        _cleanup_free_ char *disk = partitioned > 0 ? strndup(path, partitioned) : NULL;
        const char *lasting = find_lasting(p, disk ?: path);

        if (partitioned > 0 && !disk)
                c->complaints.error = -ENOMEM;
        if (starts_with(path, LINKS))
                check_directory(c, b, path);
        if (disk)
                warn(c, b, "\"%s\" is a partition, and settings are for the whole drive; write \"%s\"", path,
                     lasting ?: disk);
        else if (fnmatch(DISK, path, FNM_EXTMATCH) != 0 && fnmatch(COUNTED, path, FNM_EXTMATCH) != 0)
                return;
        else if (lasting)
                warn(c, b,
                     "\"%s\" may be another drive after the next boot; for the one that has this name now write \"%s\"",
                     path, lasting);
        else
                warn(c, b, "\"%s\" may be another drive after the next boot; write a link from " LINKS "by-id%s", path,
                     fnmatch("/dev/@(md|dm-)*", path, FNM_EXTMATCH) == 0 ? "" : ", or a match by model or serial");
}

int config_check_names(Config *c, Drive *const *drives, size_t n_drives) {
        const Present present = { drives, n_drives };

        for (size_t i = 0; i < c->n_blocks; i++) {
                const Block *b = &c->blocks[i];

                for (size_t k = 0; !b->broken && k < b->match.n_criteria; k++)
                        for (size_t n = 0;
                             b->match.criteria[k].key == MATCH_NODE && n < b->match.criteria[k].n_patterns; n++)
                                check_name(c, b, b->match.criteria[k].patterns[n], &present);
        }

        return c->complaints.error;
}
