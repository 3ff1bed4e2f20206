/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "attribute.h"
#include "raid.h"

/* raid0, linear, multipath and containers lose all with one member. */
static bool is_redundant_md(const RaidLookup *l, const char *name) {
        static const char *const levels[] = { "raid1", "raid4", "raid5", "raid6", "raid10" };
        char level[32];

        (void) attribute_read(level, sizeof level, "%s/%s/md/level", l->classdir, name);
        for (size_t i = 0; i < ELEMENTSOF(levels); i++)
                if (streq(level, levels[i]))
                        return true;
        return false;
}

/* LVM names what its RAID volumes are made of "vg-lv_rimage_0", and those of the old mirrors "vg-lv_mimage_0". */
static bool is_lvm_image(const RaidLookup *l, const char *name, const char *kind) {
        char dm[256], uuid[32], *number;
        size_t n = strlen(kind);

        if (attribute_read(uuid, sizeof uuid, "%s/%s/dm/uuid", l->classdir, name) < 0 ||
            attribute_read(dm, sizeof dm, "%s/%s/dm/name", l->classdir, name) < 0)
                return false;

        number = strrchr(dm, '_');
        return starts_with(uuid, "LVM-") && number && number[1] && !number[1 + strspn(number + 1, "0123456789")] &&
               (size_t) (number - dm) >= n && strncmp(number - n, kind, n) == 0;
}

static bool read_size(const RaidLookup *l, const char *name, uint64_t *ret) {
        char text[32];

        if (attribute_read(text, sizeof text, "%s/%s/size", l->classdir, name) < 0)
                return false;
        *ret = strtoull(text, NULL, 10);
        return true;
}

/* RAID 0 has images too, and may even have their metadata (raid0_meta). What tells it apart: redundancy is what makes the
 * volume smaller than its images are together. */
static bool is_redundant_volume(const RaidLookup *l, const char *volume) {
        _cleanup_(directory_closep) DIR *dir = directory_open("%s/%s/slaves", l->classdir, volume);
        uint64_t size, image, images = 0;
        const char *name;

        if (!dir || !read_size(l, volume, &size))
                return false;

        while ((name = directory_next(dir)))
                if (is_lvm_image(l, name, "_rimage")) {
                        if (!read_size(l, name, &image))
                                return false;
                        images += image;
                }

        return images > size;
}

static bool is_lvm_member(const RaidLookup *l, const char *name) {
        _cleanup_(directory_closep) DIR *dir = NULL;
        const char *volume;

        if (is_lvm_image(l, name, "_mimage"))
                return true;
        if (!is_lvm_image(l, name, "_rimage"))
                return false;

        dir = directory_open("%s/%s/holders", l->classdir, name);
        while (dir && (volume = directory_next(dir)))
                if (is_redundant_volume(l, volume))
                        return true;
        return false;
}

/* The profiles in use have a directory each: allocation/data/raid1, allocation/metadata/dup, … */
static bool btrfs_is_redundant(const RaidLookup *l, const char *uuid) {
        static const char *const profiles[] = { "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6" };

        for (size_t i = 0; i < ELEMENTSOF(profiles); i++)
                if (attribute_exists("%s/%s/allocation/data/%s", l->btrfsdir, uuid, profiles[i]))
                        return true;
        return false;
}

/* A mounted btrfs lists its devices. Of one that is not mounted nothing is known. */
static bool is_btrfs_member(const RaidLookup *l, const char *name) {
        _cleanup_(directory_closep) DIR *dir = directory_open("%s", l->btrfsdir);
        const char *uuid;

        while (dir && (uuid = directory_next(dir)))
                if (attribute_exists("%s/%s/devices/%s", l->btrfsdir, uuid, name) && btrfs_is_redundant(l, uuid))
                        return true;
        return false;
}

/* Whether a pool has redundancy stands in its labels and in zpool.cache alone, in a format of ZFS's own, and nowhere in
 * sysfs: every member counts, and the manual says so. */
static bool is_zfs_member(const RaidLookup *l, const char *name) {
        const char *type = l->property(l->userdata, name, "ID_FS_TYPE");

        return type && streq(type, "zfs_member");
}

static bool is_member(const RaidLookup *l, const char *name) {
        return is_zfs_member(l, name) || is_redundant_md(l, name) || is_lvm_member(l, name) || is_btrfs_member(l, name);
}

bool raid_has_member(const RaidLookup *l, const char *name, char *const *above) {
        if (is_member(l, name))
                return true;

        for (char *const *n = above; n && *n; n++)
                if (is_member(l, *n))
                        return true;
        return false;
}
