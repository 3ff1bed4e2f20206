/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "attribute.h"
#include "device.h"
#include "plan.h"
#include "sg-io.h"

bool drive_was_replaced(const Drive *drive) {
        char diskseq[32];

        return drive->diskseq != 0 && attribute_read(diskseq, sizeof diskseq, "%s/diskseq", drive->syspath) >= 0 &&
               strtoull(diskseq, NULL, 10) != drive->diskseq;
}

bool drive_medium_changed(const Drive *drive) {
        return drive->removable && drive_was_replaced(drive);
}

int device_node(const char *name, char **ret) {
        char *node;

        if (asprintf(&node, "/dev/%s", name) < 0)
                return -ENOMEM;

        *ret = node;
        return 0;
}

Verdict end_to_verdict(int r) {
        if (r >= 0)
                return VERDICT_APPLIED;

        switch ((End) r) {
        case END_UNCHANGED:
                return VERDICT_UNCHANGED;
        case END_REFUSED:
                return VERDICT_REFUSED;
        case END_UNSUPPORTED:
                return VERDICT_UNSUPPORTED;
        case END_DEFERRED:
                return VERDICT_DEFERRED;
        case END_VANISHED:
                return VERDICT_VANISHED;
        case END_FORBIDDEN:
                return VERDICT_FORBIDDEN;
        }
        return VERDICT_FAILED;
}

void device_init(Device *d, const Drive *drive, const DeviceIO *io) {
        *d = (Device){ .drive = drive, .io = *io, .fd = -EBADF };
}

void device_done(Device *d) {
        if (d->fd >= 0)
                (void) close(d->fd);
        d->fd = -EBADF;
}

void device_refresh(Device *d) {
        d->identify_valid = false;
        d->identify_failure = (Failure){};
}

const Step *device_planned(const Device *d, const char *name) {
        for (size_t i = 0; d->plan && i < d->plan->n_steps; i++) {
                const Step *s = d->plan->steps + i;

                if (s->write && streq(s->setting->name, name))
                        return s;
        }

        return NULL;
}

int device_gate(Device *d) {
        const char *why = NULL;
        int r;

        if (d->io.image)
                return device_fail(d, -ENODATA, "not part of the IDENTIFY image");
        if (!d->io.gate || d->committed)
                return 0;

        r = d->io.gate(d->io.userdata, d->drive, &why);
        return r == END_DEFERRED ? device_fail(d, r, "%s", why) : r;
}

int device_begin(Device *d) {
        int r;

        r = device_gate(d);
        if (r < 0 || d->fd >= 0)
                return r < 0 ? r : d->fd;

        r = d->io.open_node(d->io.userdata, d->drive);
        if (r == -ENXIO || r == -ENODEV || r == -ENOENT)
                return device_fail(d, END_VANISHED, "%s is gone, or now belongs to another drive or medium",
                                   d->drive->node);
        if (r < 0)
                return device_fail(d, r, "%s cannot be opened: %s", d->drive->node, strerror(-r));

        return d->fd = r;
}

int device_fail(Device *d, int error, const char *format, ...) {
        va_list ap;

        assert(error < 0);
        d->failure = (Failure){ .error = error };
        va_start(ap, format);
        (void) vsnprintf(d->failure.why, sizeof d->failure.why, format, ap);
        va_end(ap);

        return error;
}

void failure_keep(Failure *f, const Device *d, int r) {
        *f = r < 0 ? d->failure : (Failure){};
        f->error = MIN(r, 0);
}

int device_fail_again(Device *d, const Failure *f) {
        d->failure = *f;
        /* A query failed, which does not mean that this setting's value is invalid. */
        d->failure.rejected = false;
        return f->error;
}

int device_fail_with_remedy(Device *d, const Setting *s) {
        Failure *f = &d->failure;
        size_t n = strlen(f->why);

        if (s->remedy && !s->remedy->backends) {
                (void) snprintf(f->why + n, sizeof f->why - n, "%s%s", n > 0 ? ": " : "", s->remedy->how);
                f->remediable = true;
        }
        return END_UNSUPPORTED;
}

/* ---- device nodes and their ioctls ---- */

/* Opens the node read-only: closing a writable descriptor makes udev send a `change` event (udev(7), OPTIONS "watch"). */
static int node_open(const char *node, int flags) {
        int fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | flags);

        return fd < 0 ? -errno : fd;
}

static int named_open(const char *name, int flags) {
        char node[PATH_MAX];

        (void) snprintf(node, sizeof node, "/dev/%s", name);
        return node_open(node, flags);
}

static int real_open_node(void *userdata _unused_, const Drive *drive) {
        _cleanup_close_ int fd = node_open(drive->node, 0);
        uint64_t diskseq;

        if (fd < 0)
                return fd;

        /* The name may belong to another drive by now; the disk sequence number is unique. Kernels before 5.15 do not have the number. */
        if (drive->diskseq != 0 && ioctl(fd, BLKGETDISKSEQ, &diskseq) >= 0 && diskseq != drive->diskseq)
                return -ENODEV;

        return TAKE_FD(fd);
}

static int real_nvme_admin(void *userdata _unused_, int fd, struct nvme_passthru_cmd *cmd) {
        int r = ioctl(fd, NVME_IOCTL_ADMIN_CMD, cmd);

        return r < 0 ? -errno : r;
}

static int real_set_read_only(void *userdata _unused_, const char *name, bool on) {
        _cleanup_close_ int fd = named_open(name, 0);
        int flag = on;

        if (fd < 0)
                return fd;
        return ioctl(fd, BLKROSET, &flag) < 0 ? -errno : 0;
}

/* Returns 1 if the device is open exclusively: by a file system of any mount namespace, ZFS, bcachefs, swap, md or device mapper. If a
 * partition is open exclusively, the kernel also treats its disk as open exclusively (bd_prepare_to_claim() in block/bdev.c). */
static int real_is_claimed(void *userdata _unused_, const char *name) {
        _cleanup_close_ int fd = named_open(name, O_EXCL);

        return fd >= 0 ? 0 : fd == -EBUSY ? 1 : fd;
}

const DeviceIO device_io_real = {
        .open_node = real_open_node,
        .sg = sg_io_real,
        .nvme_admin = real_nvme_admin,
        .set_read_only = real_set_read_only,
        .is_claimed = real_is_claimed,
};
