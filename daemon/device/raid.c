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
        uint64_t size = read_size(classdir, volume), images = 0;
        _cleanup_(globfree) glob_t slaves;

        (void) attribute_glob(&slaves, "%s/%s/slaves/*", classdir, volume);
        for (size_t i = 0; i < slaves.gl_pathc; i++)
                if (is_lvm_image(classdir, base_name(slaves.gl_pathv[i])))
                        images += read_size(classdir, base_name(slaves.gl_pathv[i]));

        return size > 0 && images > size;
}

static bool is_lvm_member(const char *classdir, const char *name) {
        _cleanup_(globfree) glob_t volumes = {};
        bool member = false;

        if (is_lvm_image(classdir, name))
                (void) attribute_glob(&volumes, "%s/%s/holders/*", classdir, name);
        for (size_t i = 0; i < volumes.gl_pathc && !member; i++)
                member = is_redundant_volume(classdir, base_name(volumes.gl_pathv[i]));
        return member;
}

/* A mounted btrfs lists its devices, and has a directory for each profile in use: allocation/data/raid1,
 * allocation/metadata/dup, … Of one that is not mounted nothing is known. */
static bool is_btrfs_member(const char *btrfsdir, const char *name) {
        _cleanup_(globfree) glob_t mounted;

        (void) attribute_glob(&mounted, "%s/*/devices/%s", btrfsdir, name);
        for (size_t i = 0; i < mounted.gl_pathc; i++) {
                *strstr(mounted.gl_pathv[i] + strlen(btrfsdir), "/devices/") = '\0';
                if (attribute_exists("%s/allocation/data/{raid1,raid1c3,raid1c4,raid10,raid5,raid6}",
                                     mounted.gl_pathv[i]))
                        return true;
        }
        return false;
}

bool raid_is_member(const char *classdir, const char *btrfsdir, const char *name, const char *fs_type) {
        /* Whether a pool of ZFS has redundancy stands in its labels and in zpool.cache alone, in a format of its own, and
         * nowhere in sysfs: every member counts, and the manual says so. */
        return streq_ptr(fs_type, "zfs_member") || is_redundant_md(classdir, name) || is_lvm_member(classdir, name) ||
               is_btrfs_member(btrfsdir, name);
}
