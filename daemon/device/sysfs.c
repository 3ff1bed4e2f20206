/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "plan.h"
#include "sysfs.h"

static int sysfs_open(Device *d, const char *path, int flags) {
        _cleanup_free_ char *p = NULL;
        int fd;

        if (asprintf(&p, "%s/%s", d->drive->syspath, path) < 0)
                return -ENOMEM;

        fd = open(p, flags | O_CLOEXEC | O_NOCTTY);
        return fd < 0 ? -errno : fd;
}

int sysfs_read(Device *d, const char *path, char *buf, size_t size) {
        _cleanup_close_ int fd = -EBADF;
        ssize_t n;

        fd = sysfs_open(d, path, O_RDONLY);
        if (fd < 0)
                return fd;

        n = read(fd, buf, size - 1);
        if (n < 0)
                return -errno;

        buf[n] = '\0';
        buf[strcspn(buf, "\n")] = '\0';
        return 0;
}

int sysfs_write(Device *d, const char *path, const char *text) {
        _cleanup_close_ int fd = -EBADF;
        size_t n = strlen(text);
        char diskseq[32];
        ssize_t k;
        int r;

        r = device_gate(d);
        if (r < 0)
                return r;

        /* In the same slot there may be another drive by now. */
        if (d->drive->diskseq != 0 && sysfs_read(d, "diskseq", diskseq, sizeof diskseq) >= 0 &&
            strtoull(diskseq, NULL, 10) != d->drive->diskseq)
                return device_fail(d, STEP_VANISHED, "%s is another drive by now", d->drive->node);

        fd = sysfs_open(d, path, O_WRONLY);
        if (fd < 0)
                return fd;

        k = write(fd, text, n);
        if (k < 0)
                return -errno;
        return (size_t) k == n ? 0 : -EIO;
}

/* A missing attribute means "no such setting here", unless the whole disk is missing. */
int sysfs_missing(Device *d, const char *path) {
        if (access(d->drive->syspath, F_OK) < 0)
                return device_fail(d, STEP_VANISHED, "%s is gone", d->drive->node);
        return device_fail(d, STEP_UNSUPPORTED, "the kernel has no %s for it", path);
}

int sysfs_setting_read(Device *d, const Setting *s, Reading *ret) {
        const SysfsAttribute *a = s->detail;
        char buf[256], *end;
        int64_t n;
        int r;

        r = sysfs_read(d, a->path, buf, sizeof buf);
        if (r == -ENOENT)
                return sysfs_missing(d, a->path);
        if (r < 0)
                return device_fail(d, r, "%s cannot be read: %s", a->path, strerror(-r));

        errno = 0;
        n = strtoll(buf, &end, 10);
        if (errno != 0 || end == buf || *end != '\0' || __builtin_mul_overflow(n, a->scale, &n))
                return device_fail(d, -EBADMSG, "%s reads '%s', which is no number", a->path, buf);

        *ret = (Reading){ .supported = true, .known = true, .value = { .type = s->range.type, .number = n } };
        return 0;
}

/* A store's errno, as a step's end. */
static int sysfs_refused(Device *d, const char *path, const char *text, int r) {
        if (r == STEP_DEFERRED || r == STEP_VANISHED)
                return r;
        if (r == -ENOENT || r == -ENODEV || r == -ENXIO)
                return sysfs_missing(d, path);
        return device_fail(d, STEP_REFUSED, "the kernel refused to store '%s' in %s: %s", text, path, strerror(-r));
}

int sysfs_setting_write(Device *d, const Setting *s, const Value *v) {
        const SysfsAttribute *a = s->detail;
        char buf[32];
        const char *text = v->name;
        int r;

        if (v->type != VALUE_NAME) {
                (void) snprintf(buf, sizeof buf, "%" PRIi64, v->number / a->scale);
                text = buf;
        }

        r = sysfs_write(d, a->path, text);
        return r < 0 ? sysfs_refused(d, a->path, text, r) : 0;
}
