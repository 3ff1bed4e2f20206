/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The setting for the kernel's read-only flag. Each block device has its own flag. Some kernels ignore the disk's flag for writes to a
 * partition (bdev_read_only() in block/bdev.c), so the disk and all partitions are set. Programs that opened a device earlier can still
 * write. */

#include <limits.h>
#include <stdio.h>

#include "attribute.h"
#include "settings.h"
#include "sysfs.h"

/* Removes the last component of the path. */
static const char *directory(char *path) {
        *strrchr(path, '/') = '\0';
        return path;
}

/* ---- users of the device: mounts, swap, arrays ---- */

typedef struct Use {
        const char *mountinfo;
        char writer[PATH_MAX]; /* mount point or name of what writes to the device, such as "swap" */
        bool reader;           /* true if something uses the device, but only for reading */
} Use;

/* Returns 1 if the device is mounted for writing. Reads "rw" or "ro" from the options of the file system, and ignores those of the mount
 * (proc(5), mountinfo): a file system with a read-only bind mount may still be written elsewhere. */
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

/* Returns 1 if swap, btrfs or md writes to the device. mountinfo does not show these uses: it does not list swap, and lists a btrfs with a
 * device number that belongs to none of the btrfs's devices. An array writes to its members even if the array is not mounted, and drops
 * members that fail (Documentation/admin-guide/md.rst, array_state). */
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

/* Returns 1 if the device of this directory, one of its partitions, or a device stacked on it has a writer. */
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

/* Finds the directories of the disk and its partitions, by a file in each: `ro` for the disk, `partition` for a partition. */
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
                return 0; /* a partition that has just disappeared; the read-back shows the result */
        if (r < 0)
                return device_fail(d, END_REFUSED, "the kernel rejected BLKROSET for %s: %s", name, strerror(-r));
        return 0;
}

/* Returns 1 if the drive is in use, possibly for writing. Mounts, swap, btrfs and md are checked first, because the message can name
 * their use of the drive. If a device is open exclusively for another reason, ZFS, a container's mount or a device mapper table uses
 * the device. */
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
                        r = 0; /* a partition that has just disappeared, or a drive without a medium */
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
                        r = 0; /* a partition that has just disappeared */
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
                                "the drive is in use (%s), and programs that write to it would lose data; unmount the drive, or set "
                                "allow_dangerous = true in the block",
                                use.writer);
        return 0;
}

static int read_only_write(Device *d, const Setting *s, const Value *v) {
        _cleanup_(globfree) glob_t devices = {};
        int r;

        /* Opens the node, which checks that the node still belongs to this drive. */
        r = device_begin(d);
        if (r < 0)
                return r;

        /* The disk is set first, then its partitions. A partition's flag thus differs from the disk's flag only for a short time. */
        r = find_devices(d, &devices);
        for (size_t i = 0; r == 0 && i < devices.gl_pathc; i++)
                r = set_flag(d, base_name(directory(devices.gl_pathv[i])), v->number);
        return r;
}

/* Fails if the service cannot open the drive's device node, because DeviceAllow= in drivekeep-broker.service allows only some transports.
 * This function checks the transport, and not the write function, so that a dry run reports the failure too. */
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
        .why = "this rule matches all drives, and makes each drive read-only unless the drive is in use; match only the intended drives",
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
