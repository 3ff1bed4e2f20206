/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel's read-only flag. Each block device has one of its own: what was opened before goes on writing, and a partition
 * is not asked for its disk's on every kernel, so the disk and all its partitions get it (bdev_read_only() in block/bdev.c). */

#include <limits.h>
#include <stdio.h>

#include "attribute.h"
#include "plan.h"
#include "settings.h"
#include "sysfs.h"

#define STACK_DEPTH_MAX 16U

/* Calls `each` with the directory of everything that lies on `dir` and fits `pattern`; what is not 0 ends it. */
static int each_below(const char *dir, const char *pattern, int (*each)(const char *dir, void *userdata),
                      void *userdata) {
        _cleanup_(globfree) glob_t found;
        int r;

        r = attribute_glob(&found, "%s/%s", dir, pattern);
        for (size_t i = 0; i < found.gl_pathc && r == 0; i++) {
                *strrchr(found.gl_pathv[i], '/') = '\0';
                r = each(found.gl_pathv[i], userdata);
        }
        return r;
}

/* ---- who writes to it ---- */

typedef struct Use {
        const char *mountinfo;
        unsigned depth;
        char where[PATH_MAX]; /* a mount point, or what else it is */
} Use;

static FILE *file_close(FILE *f) {
        (void) fclose(f);
        return NULL;
}
DEFINE_CLEANUP(FILE *, file_close);

static bool is_writable(const char *options) {
        return strncmp(options, "rw", 2) == 0 && (options[2] == ',' || options[2] == '\0');
}

/* Of the file system and not of the mount: a read-only bind mount of it is no promise. proc(5), mountinfo. */
static int find_mount(Use *u, const char *dev) {
        _cleanup_(file_closep) FILE *f = fopen(u->mountinfo, "re");
        _cleanup_free_ char *line = NULL;
        size_t size = 0;

        if (!f)
                return -errno;

        while (getline(&line, &size, f) > 0) {
                char number[32], point[PATH_MAX], options[256];
                const char *rest = strstr(line, " - ");

                if (rest && sscanf(line, "%*s %*s %31s %*s %4095s", number, point) == 2 && streq(number, dev) &&
                    sscanf(rest, " - %*s %*s %255s", options) == 1 && is_writable(options)) {
                        (void) strcpy(u->where, point);
                        return 1;
                }
        }
        return 0;
}

/* Swap has no number there, and btrfs one of its own for all its devices. */
static int find_other_use(Use *u, const char *name) {
        _cleanup_(file_closep) FILE *swaps = NULL;
        _cleanup_(globfree) glob_t found;
        _cleanup_free_ char *line = NULL;
        char node[NAME_MAX + sizeof "/dev/ "];
        size_t size = 0;
        int r;

        r = attribute_glob(&found, "/sys/fs/btrfs/*/devices/%s", name);
        if (r < 0)
                return r;
        if (found.gl_pathc > 0) {
                (void) strcpy(u->where, "a btrfs file system");
                return 1;
        }

        (void) snprintf(node, sizeof node, "/dev/%s ", name);
        swaps = fopen("/proc/swaps", "re");
        while (swaps && getline(&line, &size, swaps) > 0)
                if (starts_with(line, node)) {
                        (void) strcpy(u->where, "swap");
                        return 1;
                }
        return 0;
}

/* An array writes to its members also while nothing on it is mounted, and throws out one that refuses.
 * Documentation/admin-guide/md.rst, array_state. */
static int find_array(Use *u, const char *dir) {
        static const char *const writing[] = { "clean", "active", "write-pending", "active-idle" };
        char state[32];

        (void) attribute_read(state, sizeof state, "%s/md/array_state", dir);
        for (size_t i = 0; i < ELEMENTSOF(writing); i++)
                if (streq(state, writing[i])) {
                        (void) snprintf(u->where, sizeof u->where, "the array %s", base_name(dir));
                        return 1;
                }
        return 0;
}

/* 1: something writes to it or to what lies on it, and u->where says what. */
static int find_use(const char *dir, void *userdata) {
        Use *u = userdata;
        char dev[32];
        int r = 0;

        if (u->depth >= STACK_DEPTH_MAX)
                return 0;

        if (attribute_read(dev, sizeof dev, "%s/dev", dir) >= 0)
                r = find_mount(u, dev);
        if (r == 0)
                r = find_other_use(u, base_name(dir));
        if (r == 0)
                r = find_array(u, dir);

        u->depth++;
        if (r == 0)
                r = each_below(dir, "*/partition", find_use, u);
        if (r == 0)
                r = each_below(dir, "holders/*/dev", find_use, u);
        u->depth--;
        return r;
}

/* ---- the flag ---- */

typedef struct Flags {
        Device *device;
        size_t n, n_set;
        bool wanted;
} Flags;

static int count_flag(const char *dir, void *userdata) {
        Flags *flags = userdata;
        char flag[8];
        int r;

        r = attribute_read(flag, sizeof flag, "%s/ro", dir);
        if (r < 0)
                return r == -ENOENT || r == -ENODEV ? 0 : r; /* a partition that has just gone */

        flags->n++;
        flags->n_set += streq(flag, "1");
        return 0;
}

static int set_flag(const char *dir, void *userdata) {
        Flags *f = userdata;
        Device *d = f->device;
        int r;

        r = device_gate(d);
        if (r < 0)
                return r;

        r = d->io.set_read_only(d->io.userdata, base_name(dir), f->wanted);
        if (r == -ENOENT || r == -ENXIO || r == -ENODEV)
                return 0; /* as above; reading it back tells */
        if (r < 0)
                return device_fail(d, STEP_REFUSED, "the kernel refused it for %s: %s", base_name(dir), strerror(-r));
        return 0;
}

static int read_only_read(Device *d, const Setting *s, Reading *ret) {
        Flags f = { .device = d };
        int r;

        r = count_flag(d->drive->syspath, &f);
        if (r == 0 && f.n == 0)
                return sysfs_missing(d, "ro", NULL);
        if (r == 0)
                r = each_below(d->drive->syspath, "*/partition", count_flag, &f);
        if (r < 0)
                return device_fail(d, r, "its flags cannot be read: %s", strerror(-r));

        *ret = (Reading){ .supported = true, .known = true, .value = VALUE_BOOLEAN(f.n_set > 0) };
        if (f.n_set > 0 && f.n_set < f.n) {
                ret->value = (Value){ .type = VALUE_NAME };
                (void) snprintf(ret->value.name, sizeof ret->value.name, "of %u of %u devices",
                                (unsigned) MIN(f.n_set, 99999U), (unsigned) MIN(f.n, 99999U));
        }
        return 0;
}

static int read_only_write(Device *d, const Setting *s, const Value *v) {
        Use use = { .mountinfo = d->io.mountinfo ?: "/proc/self/mountinfo" };
        Flags f = { .device = d, .wanted = v->number };
        int r;

        if (v->number && !d->allow_dangerous) {
                r = find_use(d->drive->syspath, &use);
                if (r < 0)
                        return device_fail(d, r, "who writes to it cannot be found out: %s", strerror(-r));
                if (r > 0)
                        return device_fail(
                                        d, STEP_FORBIDDEN,
                                        "it is in use for writing (%s), and the writer would lose data; unmount it, or "
                                        "say allow_dangerous = true in the block",
                                        use.where);
        }

        /* The node may be another drive's by now: this asks. */
        r = device_open(d);
        if (r == -EPERM)
                return device_fail(
                                d, STEP_UNSUPPORTED,
                                "the service's sandbox opens no device of this kind (DeviceAllow= in drivekeep-broker.service)");
        if (r < 0)
                return r;

        /* The disk first, where it forbids: no partition is left writable for long. The other way round likewise. */
        r = set_flag(d->drive->syspath, &f);
        if (r == 0)
                r = each_below(d->drive->syspath, "*/partition", set_flag, &f);
        return r;
}

/* Known before anything is written, so that a dry run says so too. The flag goes by a node, and these are out of the service's
 * reach: see DeviceAllow= in drivekeep-broker.service. */
static int read_only_localize(Device *d, const Setting *s, Value *v) {
        Transport t = d->drive->transport;
        Reading now = {};
        int r;

        if (t != TRANSPORT_VIRTIO && t != TRANSPORT_MMC && t != TRANSPORT_VIRTUAL)
                return 0;

        r = read_only_read(d, s, &now);
        if (r < 0 || value_equal(&now.value, v))
                return r;
        return device_fail(d, STEP_UNSUPPORTED,
                           "the service opens no virtio, MMC, md or dm device, which this needs; 'blockdev --setro' or "
                           "'--setrw' sets it, by a udev rule for example");
}

static const Harm all_read_only_harm = {
        .from = 1,
        .to = 1,
        .scope = HARM_UNIVERSAL,
        .why = "this rule is for all drives, so that nothing writes to any drive that is not in use at its visit; name the drives "
               "that are meant",
};

/* clang-format off */
const Setting kernel_read_only_settings[] = {
        {
                .name = "read_only",
                .backend = BACKEND_BLOCK,
                .range = RANGE_BOOL,
                .flags = SETTING_KERNEL,
                .order = 890,
                .summary = "the kernel takes no more writes for the disk and its partitions (SATA, SAS, SCSI, USB and NVMe)",
                .harm = &all_read_only_harm,
                .equivalent = "hdparm -r, blockdev --setro",
                .lost_by = "re-add",
                .source = "Linux block/ioctl.c, BLKROSET",
                .read = read_only_read,
                .write = read_only_write,
                .localize = read_only_localize,
        },
        {},
};
/* clang-format on */
