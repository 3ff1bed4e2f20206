/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <stdio.h>

#include "attribute.h"
#include "raid.h"

/* raid0, linear, multipath and containers lose all with one member. */
static int is_redundant_md(const RaidLookup *l, const char *name) {
        static const char *const levels[] = { "raid1", "raid4", "raid5", "raid6", "raid10" };
        char level[32];
        int r;

        r = attribute_read(level, sizeof level, "%s/%s/md/level", l->classdir, name);
        if (r < 0)
                return r == -ENOMEM ? r : 0;

        for (size_t i = 0; i < ELEMENTSOF(levels); i++)
                if (streq(level, levels[i]))
                        return 1;
        return 0;
}

/* One of DIR's entries but "." and "..", by turns; NULL: no more. */
static const char *next_entry(DIR *dir) {
        struct dirent *e;

        while ((e = readdir(dir)))
                if (e->d_name[0] != '.')
                        return e->d_name;

        return NULL;
}

/* LVM names what its RAID volumes are made of "vg-lv_rimage_0", and those of the old mirrors "vg-lv_mimage_0". */
static int is_lvm_image(const RaidLookup *l, const char *name, const char *kind) {
        char dm[256], uuid[32], *number;
        size_t n = strlen(kind);
        int r;

        r = attribute_read(uuid, sizeof uuid, "%s/%s/dm/uuid", l->classdir, name);
        if (r >= 0)
                r = attribute_read(dm, sizeof dm, "%s/%s/dm/name", l->classdir, name);
        if (r < 0)
                return r == -ENOMEM ? r : 0;

        number = strrchr(dm, '_');
        return strncmp(uuid, "LVM-", 4) == 0 && number && number[1] && !number[1 + strspn(number + 1, "0123456789")] &&
               (size_t) (number - dm) >= n && strncmp(number - n, kind, n) == 0;
}

static int read_size(const RaidLookup *l, const char *name, uint64_t *ret) {
        char text[32];
        int r;

        r = attribute_read(text, sizeof text, "%s/%s/size", l->classdir, name);
        if (r >= 0)
                *ret = strtoull(text, NULL, 10);
        return r;
}

/* RAID 0 has images too, and may even have their metadata (raid0_meta). What tells it apart: redundancy is what makes the
 * volume smaller than its images are together. */
static int is_redundant_volume(const RaidLookup *l, const char *volume) {
        _cleanup_free_ char *path = NULL;
        uint64_t size, image, images = 0;
        const char *name;
        int r;
        DIR *dir;

        r = read_size(l, volume, &size);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (asprintf(&path, "%s/%s/slaves", l->classdir, volume) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        dir = opendir(path);
        if (!dir)
                return 0;

        while (r >= 0 && (name = next_entry(dir))) {
                r = is_lvm_image(l, name, "_rimage");
                if (r > 0)
                        r = read_size(l, name, &image);
                else
                        image = 0;
                if (r >= 0)
                        images += image;
        }

        (void) closedir(dir);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        return images > size;
}

static int is_lvm_member(const RaidLookup *l, const char *name) {
        _cleanup_free_ char *path = NULL;
        const char *volume;
        int r;
        DIR *dir;

        r = is_lvm_image(l, name, "_mimage");
        if (r != 0)
                return r;
        r = is_lvm_image(l, name, "_rimage");
        if (r <= 0)
                return r;

        if (asprintf(&path, "%s/%s/holders", l->classdir, name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        dir = opendir(path);
        if (!dir)
                return 0;
        r = 0;
        while (r == 0 && (volume = next_entry(dir)))
                r = is_redundant_volume(l, volume);
        (void) closedir(dir);
        return r;
}

/* The profiles in use have a directory each: allocation/data/raid1, allocation/metadata/dup, … */
static int btrfs_is_redundant(const RaidLookup *l, const char *uuid) {
        static const char *const profiles[] = { "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6" };

        for (size_t i = 0; i < ELEMENTSOF(profiles); i++) {
                _cleanup_free_ char *path = NULL;

                if (asprintf(&path, "%s/%s/allocation/data/%s", l->btrfsdir, uuid, profiles[i]) < 0)
                        return -ENOMEM;
                if (access(path, F_OK) >= 0)
                        return 1;
        }

        return 0;
}

/* A mounted btrfs lists its devices. Of one that is not mounted nothing is known. */
static int is_btrfs_member(const RaidLookup *l, const char *name) {
        const char *uuid;
        int r = 0;
        DIR *dir;

        dir = opendir(l->btrfsdir);
        if (!dir)
                return 0;

        while (r == 0 && (uuid = next_entry(dir))) {
                _cleanup_free_ char *path = NULL;

                if (asprintf(&path, "%s/%s/devices/%s", l->btrfsdir, uuid, name) < 0)
                        r = -ENOMEM;
                else if (access(path, F_OK) >= 0)
                        r = btrfs_is_redundant(l, uuid);
        }

        (void) closedir(dir);
        return r;
}

/* Whether a pool has redundancy stands in its labels and in zpool.cache alone, in a format of ZFS's own, and nowhere in
 * sysfs: every member counts, and the manual says so. */
static bool is_zfs_member(const RaidLookup *l, const char *name) {
        const char *type = l->property(l->userdata, name, "ID_FS_TYPE");

        return type && streq(type, "zfs_member");
}

static int is_member(const RaidLookup *l, const char *name) {
        int r;

        if (is_zfs_member(l, name))
                return 1;

        r = is_redundant_md(l, name);
        if (r == 0)
                r = is_lvm_member(l, name);
        if (r == 0)
                r = is_btrfs_member(l, name);
        return r;
}

int raid_has_member(const RaidLookup *l, const char *name, char *const *above) {
        int r;

        r = is_member(l, name);
        for (char *const *n = above; r == 0 && n && *n; n++)
                r = is_member(l, *n);
        return r;
}
