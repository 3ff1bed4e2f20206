/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include "attribute.h"
#include "stack.h"

char **names_free(char **names) {
        for (char **n = names; n && *n; n++)
                free(*n);
        free(names);
        return NULL;
}

bool names_contain(char *const *names, const char *name) {
        return names && str_in_set(name, (const char *const *) names);
}

int names_add(char ***names, const char *name) {
        size_t n = 0;
        char **p;

        if (names_contain(*names, name))
                return 0;

        while (*names && (*names)[n])
                n++;

        p = reallocarray(*names, n + 2, sizeof *p);
        if (!p)
                return -ENOMEM;
        *names = p;
        p[n + 1] = NULL;
        p[n] = strdup(name);
        return p[n] ? 0 : -ENOMEM;
}

/* Finds files by the pattern `files`, which is relative to the device's directory. Adds the name of the directory that holds each file to
 * `names`. Returns the number of files, or an error. */
static int names_add_found(char ***names, const char *classdir, const char *name, const char *files) {
        _cleanup_(globfree) glob_t found;
        char real[PATH_MAX];
        int r;

        r = attribute_glob(&found, "%s/%s/%s", classdir, name, files);
        for (size_t i = 0; r >= 0 && i < found.gl_pathc; i++) {
                char *path = found.gl_pathv[i];

                *strrchr(path, '/') = '\0';
                /* A path that ends in ".." is resolved, because only the real path contains the directory's name. */
                if (streq(base_name(path), "..")) {
                        path = realpath(path, real);
                        if (!path && errno == ENOENT) /* the device has just disappeared */
                                continue;
                }
                r = path ? names_add(names, base_name(path)) : -errno;
        }
        return r < 0 ? r : (int) found.gl_pathc;
}

int stack_number(const char *classdir, const char *name, unsigned *ret_major, unsigned *ret_minor) {
        char text[32];

        if (attribute_read(text, sizeof text, "%s/%s/dev", classdir, name) < 0)
                return -ENODEV;
        /* The kernel's numbers fit the types. */
        /* NOLINTNEXTLINE(cert-err34-c) */
        return sscanf(text, "%u:%u", ret_major, ret_minor) == 2 ? 0 : -ENODEV;
}

int stack_name(dev_t number, char **ret) {
        char link[64], path[PATH_MAX];

        (void) snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(number), minor(number));
        if (!realpath(link, path))
                return -ENODEV;
        *ret = strdup(base_name(path));
        return *ret ? 0 : -ENOMEM;
}

int stack_partitions(const char *classdir, const char *name, char ***ret) {
        _cleanup_(names_freep) char **names = NULL;
        int r;

        r = names_add_found(&names, classdir, name, "*[0-9]/partition");
        if (r < 0)
                return r;

        *ret = TAKE_PTR(names);
        return 0;
}

int stack_above(const char *classdir, const char *name, char ***ret) {
        _cleanup_(names_freep) char **names = NULL;
        int r = 0;

        /* The list is also the queue of the search: each appended name is processed in its turn. Each name is added once, so the loop
         * ends. */
        for (size_t i = 0; r >= 0 && name; name = names ? names[i++] : NULL)
                r = names_add_found(&names, classdir, name, "{*[0-9]/partition,holders/*/.}");
        if (r < 0)
                return r;

        *ret = TAKE_PTR(names);
        return 0;
}

int stack_disks_below(const char *classdir, const char *name, char ***ret) {
        _cleanup_(names_freep) char **seen = NULL, **disks = NULL;
        int r;

        r = names_add(&seen, name);
        for (size_t i = 0; r >= 0 && seen && seen[i]; i++) {
                /* "../holders" finds the disk of a partition or eMMC boot partition, because the directory of a partition is inside the
                 * directory of its disk. Directories of other block devices are not nested. */
                r = names_add_found(&seen, classdir, seen[i], "{../holders,slaves/*/.}");
                if (r == 0)
                        r = names_add(&disks, seen[i]);
        }
        if (r < 0)
                return r;

        *ret = TAKE_PTR(disks);
        return 0;
}

static int names_add_disks_below(char ***names, const char *classdir, const char *name) {
        _cleanup_(names_freep) char **disks = NULL;
        int r;

        r = stack_disks_below(classdir, name, &disks);
        for (char **d = disks; r >= 0 && d && *d; d++)
                r = names_add(names, *d);
        return r;
}

/* Finds the btrfs on this device. *ret holds one path, the `devices` directory of the btrfs. *ret holds no path if the device belongs to no
 * mounted btrfs. */
static int find_btrfs(const char *btrfsdir, const char *name, glob_t *ret) {
        int r;

        /* A device belongs to at most one btrfs. The directory of the btrfs holds a link to the device, but the directory of the device
         * holds no link to the btrfs. */
        r = attribute_glob(ret, "%s/*/devices/%s", btrfsdir, name);
        if (r >= 0 && ret->gl_pathc > 0)
                *strrchr(ret->gl_pathv[0], '/') = '\0';
        return r;
}

/* Adds the disks of all devices of the btrfs on this device. */
static int names_add_btrfs(char ***names, const char *classdir, const char *btrfsdir, const char *name) {
        _cleanup_(globfree) glob_t own, all = {};
        int r;

        r = find_btrfs(btrfsdir, name, &own);
        if (r < 0 || own.gl_pathc == 0)
                return r;

        r = attribute_glob(&all, "%s/*", own.gl_pathv[0]);
        for (size_t i = 0; r >= 0 && i < all.gl_pathc; i++)
                r = names_add_disks_below(names, classdir, base_name(all.gl_pathv[i]));
        return r;
}

int stack_group(const char *classdir, const char *btrfsdir, const char *name, char ***ret) {
        _cleanup_(names_freep) char **above = NULL, **disks = NULL;
        int r;

        r = stack_above(classdir, name, &above);
        if (r >= 0)
                r = names_add(&disks, name);
        if (r >= 0)
                r = names_add_btrfs(&disks, classdir, btrfsdir, name);
        for (char **n = above; r >= 0 && n && *n; n++) {
                r = names_add_disks_below(&disks, classdir, *n);
                if (r >= 0)
                        r = names_add_btrfs(&disks, classdir, btrfsdir, *n);
        }
        if (r < 0)
                return r;

        *ret = TAKE_PTR(disks);
        return 0;
}

int stack_btrfs(const char *btrfsdir, const char *name, unsigned *ret) {
        _cleanup_(globfree) glob_t found;
        char link[PATH_MAX], target[PATH_MAX];
        ssize_t n;
        int r;

        r = find_btrfs(btrfsdir, name, &found);
        if (r < 0)
                return r;
        if (found.gl_pathc == 0)
                return -ENOENT;

        /* FSID/bdi is a link to …/devices/virtual/bdi/btrfs-N. */
        (void) snprintf(link, sizeof link, "%s/../bdi", found.gl_pathv[0]);
        n = readlink(link, target, sizeof target - 1);
        if (n < 0)
                return -errno;
        target[n] = '\0';
        /* The kernel's number fits the type. */
        /* NOLINTNEXTLINE(cert-err34-c) */
        return sscanf(base_name(target), "btrfs-%u", ret) == 1 ? 0 : -ENOENT;
}

bool stack_has_holders(const char *classdir, const char *name, char *const *known) {
        _cleanup_(globfree) glob_t found;
        bool held;

        held = attribute_glob(&found, "%s/%s/holders/*", classdir, name) >= 0 && found.gl_pathc > 0;
        for (size_t i = 0; held && i < found.gl_pathc; i++)
                held = names_contain(known, base_name(found.gl_pathv[i]));
        return held;
}

bool stack_belongs_to(const char *syspath, const char *device_syspath) {
        _cleanup_free_ char *target = NULL;
        char link[PATH_MAX];

        if (starts_with(syspath, device_syspath) && syspath[strlen(device_syspath)] == '/')
                return true;

        (void) snprintf(link, sizeof link, "%s/../%s", syspath, base_name(device_syspath));
        target = realpath(link, NULL);
        return target && streq(target, device_syspath);
}

size_t stack_scsi_host(const char *syspath, const char **ret) {
        size_t found = 0;

        for (const char *p = syspath; (p = strstr(p, "/host")); p++) {
                size_t n = strspn(p + strlen("/host"), "0123456789") + strlen("host");

                /* Skips other names that begin with "host", such as "host1x@50000000". */
                if (n > strlen("host") && p[n + 1] == '/') {
                        found = n;
                        *ret = p + 1;
                }
        }

        return found;
}

int stack_scsi_host_read(const char *syspath, const char *name, char *buf, size_t size) {
        const char *host;
        size_t n = stack_scsi_host(syspath, &host);

        if (n == 0)
                return -ENOENT;
        return attribute_read(buf, size, "%.*s/scsi_host/%.*s/%s", (int) (host + n - syspath), syspath, (int) n, host,
                              name);
}

int stack_bay(const char *syspath, char **ret) {
        _cleanup_(globfree) glob_t links;
        _cleanup_free_ char *component = NULL;
        const char *bay;
        int r;

        /* enclosure_add_links() in drivers/misc/enclosure.c */
        r = attribute_glob(&links, "%s/device/enclosure_device:*", syspath);
        if (r < 0)
                return r;
        if (links.gl_pathc == 0)
                return -ENOENT;
        component = realpath(links.gl_pathv[0], NULL);
        if (!component)
                return -errno;

        /* The last two names are those of the enclosure and of the component. */
        bay = strrchr(component, '/');
        while (bay > component && bay[-1] != '/')
                bay--;
        *ret = strdup(bay);
        return *ret ? 0 : -ENOMEM;
}

/* ---- arrays ---- */

/* Returns true if the level of the md array has redundancy. raid0, linear, multipath and containers have none. */
static bool is_redundant_md(const char *classdir, const char *name) {
        char level[32];

        (void) attribute_read(level, sizeof level, "%s/%s/md/level", classdir, name);
        return STR_IN_SET(level, "raid1", "raid4", "raid5", "raid6", "raid10");
}

/* Returns true for a component of an LVM RAID volume ("vg-lv_rimage_0") or of an old LVM mirror ("vg-lv_mimage_0"). */
static bool is_lvm_image(const char *classdir, const char *name) {
        char dm[256], uuid[32];

        return attribute_read(uuid, sizeof uuid, "%s/%s/dm/uuid", classdir, name) >= 0 &&
               attribute_read(dm, sizeof dm, "%s/%s/dm/name", classdir, name) >= 0 && starts_with(uuid, "LVM-") &&
               fnmatch("*_[rm]image_*[0-9]", dm, 0) == 0;
}

/* Returns the size in sectors; 0: not readable. */
static uint64_t read_size(const char *classdir, const char *name) {
        char text[32];

        (void) attribute_read(text, sizeof text, "%s/%s/size", classdir, name);
        return strtoull(text, NULL, 10);
}

/* Returns true if the LVM volume is smaller than the sum of its images, which proves redundancy. The number of images
 * proves nothing: a volume of type raid0 or raid0_meta has images, too. */
static bool is_redundant_volume(const char *classdir, const char *volume) {
        _cleanup_(globfree) glob_t slaves;
        uint64_t size, images = 0;

        (void) attribute_glob(&slaves, "%s/%s/slaves/*", classdir, volume);
        for (size_t i = 0; i < slaves.gl_pathc; i++)
                if (is_lvm_image(classdir, base_name(slaves.gl_pathv[i])))
                        images += read_size(classdir, base_name(slaves.gl_pathv[i]));

        size = images > 0 ? read_size(classdir, volume) : 0;
        return size > 0 && images > size;
}

/* Returns true if the device belongs to a mounted btrfs with redundant data. A mounted btrfs lists its devices, and has a directory for
 * each profile in use: allocation/data/raid1, allocation/metadata/dup, … An unmounted btrfs is not visible. */
static bool is_btrfs_member(const char *btrfsdir, const char *name) {
        _cleanup_(globfree) glob_t redundant;

        (void) attribute_glob(&redundant, "%s/*/allocation/data/raid[!0]*", btrfsdir);
        for (size_t i = 0; i < redundant.gl_pathc; i++)
                if (attribute_exists("%s/../../../devices/%s", redundant.gl_pathv[i], name))
                        return true;
        return false;
}

bool stack_is_raid_member(const char *classdir, const char *btrfsdir, const char *name, const char *fs_type) {
        /* The redundancy of a ZFS pool is recorded only in its labels and zpool.cache, in a private format, and not in sysfs. All members
         * of ZFS pools count as redundant, as the manual states. */
        return streq_ptr(fs_type, "zfs_member") || (starts_with(name, "md") && is_redundant_md(classdir, name)) ||
               (starts_with(name, "dm-") && is_redundant_volume(classdir, name)) || is_btrfs_member(btrfsdir, name);
}
