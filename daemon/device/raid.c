/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>

#include "attribute.h"
#include "raid.h"

/* raid0, linear, multipath and containers lose all with one member. */
static bool is_redundant_md(const char *classdir, const char *name) {
        char level[32];

        (void) attribute_read(level, sizeof level, "%s/%s/md/level", classdir, name);
        return STR_IN_SET(level, "raid1", "raid4", "raid5", "raid6", "raid10");
}

/* LVM names what its RAID volumes are made of "vg-lv_rimage_0", and those of the old mirrors "vg-lv_mimage_0". */
static bool is_lvm_image(const char *classdir, const char *name) {
        char dm[256], uuid[32];

        return attribute_read(uuid, sizeof uuid, "%s/%s/dm/uuid", classdir, name) >= 0 &&
               attribute_read(dm, sizeof dm, "%s/%s/dm/name", classdir, name) >= 0 && starts_with(uuid, "LVM-") &&
               fnmatch("*_[rm]image_*[0-9]", dm, 0) == 0;
}

/* 0: it cannot be read. */
static uint64_t read_size(const char *classdir, const char *name) {
        char text[32];

        (void) attribute_read(text, sizeof text, "%s/%s/size", classdir, name);
        return strtoull(text, NULL, 10);
}

/* RAID 0 has images too, and may even have their metadata (raid0_meta). What tells it apart: redundancy is what makes the
 * volume smaller than its images are together. */
static bool is_redundant_volume(const char *classdir, const char *volume) {
        _cleanup_(directory_closep) DIR *dir = directory_open("%s/%s/slaves", classdir, volume);
        uint64_t size = read_size(classdir, volume), images = 0;
        const char *name;

        while (dir && (name = directory_next(dir)))
                if (is_lvm_image(classdir, name))
                        images += read_size(classdir, name);

        return size > 0 && images > size;
}

static bool is_lvm_member(const char *classdir, const char *name) {
        _cleanup_(directory_closep) DIR *dir = NULL;
        const char *volume;

        if (!is_lvm_image(classdir, name))
                return false;

        dir = directory_open("%s/%s/holders", classdir, name);
        while (dir && (volume = directory_next(dir)))
                if (is_redundant_volume(classdir, volume))
                        return true;
        return false;
}

/* A mounted btrfs lists its devices, and has a directory for each profile in use: allocation/data/raid1,
 * allocation/metadata/dup, … Of one that is not mounted nothing is known. */
static bool is_btrfs_member(const char *btrfsdir, const char *name) {
        _cleanup_(directory_closep) DIR *dir = directory_open("%s", btrfsdir);
        _cleanup_(globfree) glob_t profiles = {};
        const char *uuid;

        while (dir && profiles.gl_pathc == 0 && (uuid = directory_next(dir)))
                if (attribute_exists("%s/%s/devices/%s", btrfsdir, uuid, name))
                        (void) attribute_glob(&profiles,
                                              "%s/%s/allocation/data/{raid1,raid1c3,raid1c4,raid10,raid5,raid6}",
                                              btrfsdir, uuid);
        return profiles.gl_pathc > 0;
}

bool raid_is_member(const char *classdir, const char *btrfsdir, const char *name, const char *fs_type) {
        /* Whether a pool of ZFS has redundancy stands in its labels and in zpool.cache alone, in a format of its own, and
         * nowhere in sysfs: every member counts, and the manual says so. */
        return (fs_type && streq(fs_type, "zfs_member")) || is_redundant_md(classdir, name) ||
               is_lvm_member(classdir, name) || is_btrfs_member(btrfsdir, name);
}
