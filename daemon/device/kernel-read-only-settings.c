/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel's read-only flag. Each block device has its own, and some kernels do not look at the disk's when a partition is
 * written to (bdev_read_only() in block/bdev.c): the disk and all its partitions get it. Who has opened one before can still
 * write. */

#include <limits.h>
#include <stdio.h>

#include "attribute.h"
#include "settings.h"
#include "sysfs.h"

/* Cuts off the last part of the path. */
static const char *directory(char *path) {
        *strrchr(path, '/') = '\0';
        return path;
}

/* ---- uses of the device ---- */

typedef struct Use {
        const char *mountinfo;
        char writer[PATH_MAX]; /* the mount point, or another use for writing */
        bool reader;           /* a use for reading alone */
} Use;

/* Read-only counts for the file system and not for the mount: a read-only bind mount of it is no promise. proc(5), mountinfo: its options
 * begin with "rw" or "ro". 1: it is mounted for writing. */
static int find_mount(Use *u, const char *dev) {
        _cleanup_free_ char *line = NULL;
        FILE *f = fopen(u->mountinfo, "re");
        size_t size = 0;
        int found = 0;

        if (!f)
                return -errno;

        while (!found && getline(&line, &size, f) > 0) {
                char number[32], options[3];
                const char *rest = strstr(line, " - ");

                if (!rest || sscanf(line, "%*s %*s %31s %*s %4095s", number, u->writer) != 2 || !streq(number, dev) ||
                    sscanf(rest, " - %*s %*s %2s", options) != 1)
                        continue;
                found = streq(options, "rw");
                u->reader = u->reader || streq(options, "ro");
        }
        (void) fclose(f);
        return found;
}

/* Swap has no number there, and btrfs one of its own for all its devices. An array writes to its members also while nothing on
 * it is mounted, and throws out one that refuses: Documentation/admin-guide/md.rst, array_state. */
static int find_other_use(Use *u, const char *dir) {
        char swaps[4096], line[NAME_MAX + sizeof "\n/dev/ "], state[32];
        const char *name = base_name(dir);
        _cleanup_(globfree) glob_t btrfs;
        int r;

        r = attribute_glob(&btrfs, "/sys/fs/btrfs/*/devices/%s", name);
        if (r < 0)
                return r;
        (void) attribute_read_all(swaps, sizeof swaps, "/proc/swaps");
        (void) snprintf(line, sizeof line, "\n/dev/%s ", name);
        (void) attribute_read(state, sizeof state, "%s/md/array_state", dir);

        if (strstr(swaps, line))
                (void) strcpy(u->writer, "swap");
        else if (btrfs.gl_pathc > 0)
                (void) strcpy(u->writer, "a btrfs file system");
        else if (STR_IN_SET(state, "clean", "active", "write-pending", "active-idle"))
                (void) snprintf(u->writer, sizeof u->writer, "the array %s", name);
        else {
                u->reader = u->reader || state[0];
                return 0;
        }
        return 1;
}

/* 1: something writes to the device of this directory, or to what lies on it. */
static int find_use(Use *u, const char *dir) {
        _cleanup_(globfree) glob_t above;
        char dev[32];
        int r;

        r = attribute_glob(&above, "%s/{*/partition,holders/*/dev}", dir);
        if (r == 0 && attribute_read(dev, sizeof dev, "%s/dev", dir) >= 0)
                r = find_mount(u, dev);
        if (r == 0)
                r = find_other_use(u, dir);
        for (size_t i = 0; r == 0 && i < above.gl_pathc; i++)
                r = find_use(u, directory(above.gl_pathv[i]));
        return r;
}

/* ---- the flag ---- */

/* One file in the directory of the disk, which comes first, and in that of each partition. */
static int find_devices(const Device *d, glob_t *ret) {
        return attribute_glob(ret, "%s/{ro,*/partition}", d->drive->syspath);
}

static int set_flag(Device *d, const char *name, bool on) {
        int r;

        r = device_gate(d);
        if (r < 0)
                return r;

        r = d->io.set_read_only(d->io.userdata, name, on);
        if (r == -ENOENT || r == -ENXIO || r == -ENODEV)
                return 0; /* a partition that has just gone; reading it back tells */
        if (r < 0)
                return device_fail(d, END_REFUSED, "the kernel rejected BLKROSET for %s: %s", name, strerror(-r));
        return 0;
}

/* Looks for known uses first, since they have names. An exclusive open that no known reader explains is a use that is invisible from here:
 * ZFS, a container's mount, a mapping of the device mapper. 1: the drive is in use, perhaps for writing. */
static int find_writer(Device *d, Use *u) {
        _cleanup_(globfree) glob_t devices;
        int r;

        r = find_devices(d, &devices);
        for (size_t i = 0; r == 0 && i < devices.gl_pathc; i++) {
                const char *dir = directory(devices.gl_pathv[i]);

                u->reader = false;
                r = find_use(u, dir);
                if (r != 0 || u->reader)
                        continue;
                r = d->io.is_claimed(d->io.userdata, base_name(dir));
                if (r == -ENOENT || r == -ENXIO || r == -ENODEV || r == -ENOMEDIUM)
                        r = 0; /* a partition that has just gone, or a drive without a medium */
                if (r > 0)
                        (void) snprintf(u->writer, sizeof u->writer, "%s is open exclusively", base_name(dir));
        }
        return r;
}

static int read_only_read(Device *d, const Setting *s, Reading *ret) {
        _cleanup_(globfree) glob_t devices;
        unsigned n = 0, n_set = 0;
        char flag[8];
        int r;

        r = find_devices(d, &devices);
        for (size_t i = 0; r >= 0 && i < devices.gl_pathc; i++) {
                r = attribute_read(flag, sizeof flag, "%s/ro", directory(devices.gl_pathv[i]));
                n += r >= 0;
                n_set += streq(flag, "1");
                if (r == -ENOENT || r == -ENODEV)
                        r = 0; /* as above */
        }
        if (r < 0 || n == 0)
                return sysfs_unreadable(d, "ro", r < 0 ? r : -ENOENT);

        *ret = (Reading){ .supported = true, .known = true, .value = VALUE_BOOLEAN(n_set > 0) };
        if (n_set > 0 && n_set < n) {
                ret->value = (Value){ .type = VALUE_NAME };
                (void) snprintf(ret->value.name, sizeof ret->value.name, "on for %u of %u devices", n_set, n);
        }
        return 0;
}

static int read_only_permit(Device *d, const Setting *s _unused_, const Value *v) {
        Use use = { .mountinfo = d->io.mountinfo ?: "/proc/self/mountinfo" };
        int r;

        if (!v->number || d->allow_dangerous)
                return 0;

        r = find_writer(d, &use);
        if (r < 0)
                return device_fail(d, r, "the search for writers of the drive failed: %s", strerror(-r));
        if (r > 0)
                return device_fail(
                                d, END_FORBIDDEN,
                                "the drive is in use (%s), and its writer would lose data; unmount it, or set allow_dangerous = "
                                "true in the block",
                                use.writer);
        return 0;
}

static int read_only_write(Device *d, const Setting *s, const Value *v) {
        _cleanup_(globfree) glob_t devices = {};
        int r;

        /* Checks that the node still belongs to this drive. */
        r = device_begin(d);
        if (r < 0)
                return r;

        /* The disk first, where it forbids: no partition is left writable for long. The other way round likewise. */
        r = find_devices(d, &devices);
        for (size_t i = 0; r == 0 && i < devices.gl_pathc; i++)
                r = set_flag(d, base_name(directory(devices.gl_pathv[i])), v->number);
        return r;
}

/* Known before anything is written, so that a dry run says so too. The flag goes by a node, and these are out of the service's
 * reach: see DeviceAllow= in drivekeep-broker.service. */
static int read_only_localize(Device *d, const Setting *s, Value *v) {
        Transport t = d->drive->transport;
        Reading now = {};
        int r;

        if (t >= TRANSPORT_SATA && t <= TRANSPORT_NVME)
                return 0;

        r = read_only_read(d, s, &now);
        if (r < 0 || value_equal(&now.value, v))
                return r;
        return device_fail(
                        d, END_UNSUPPORTED,
                        "the service can open only SATA, SAS, SCSI, USB and NVMe drives; use 'blockdev --setro' or '--setrw', for "
                        "example in a udev rule");
}

static const Harm all_read_only_harm = {
        .from = 1,
        .to = 1,
        .scope = HARM_UNIVERSAL,
        .why = "this rule matches all drives, and makes every drive read-only that is not in use at its visit; name the drives",
};

/* clang-format off */
const Setting kernel_read_only_settings[] = {
        { .brief = "make the disk read-only", .also = "ro setro",
          .name = "read_only", .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .order = 890, .lost_by = "re-add",
          .summary = "whether the kernel rejects writes to the disk and its partitions (SATA, SAS, SCSI, USB and NVMe)",
          .equivalent = "hdparm -r, blockdev --setro", .source = "Linux block/ioctl.c, BLKROSET",
          .range = RANGE_BOOL, .harm = &all_read_only_harm,
          .read = read_only_read, .permit = read_only_permit, .write = read_only_write, .localize = read_only_localize },
        {},
};
/* clang-format on */
