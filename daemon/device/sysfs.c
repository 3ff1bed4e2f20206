/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "attribute.h"
#include "sysfs.h"

/* Finds the first file that matches the path, which may be a pattern. */
static int sysfs_path(Device *d, const char *path, char ret[static PATH_MAX]) {
        /* With the kernel's own multipathing, the disk's parent is the subsystem, and the controllers are below the subsystem. */
        bool nvme = d->drive->transport == TRANSPORT_NVME && starts_with(path, "device/");
        _cleanup_(globfree) glob_t found;
        int r;

        r = attribute_glob(&found, nvme ? "%s/device/{,nvme*/}%s" : "%s/%s", d->drive->syspath,
                           nvme ? path + strlen("device/") : path);
        if (r >= 0 && found.gl_pathc == 0)
                r = -ENOENT;
        if (r >= 0)
                (void) snprintf(ret, PATH_MAX, "%s", found.gl_pathv[0]);
        return r;
}

int sysfs_read(Device *d, const char *path, char *buf, size_t size) {
        char p[PATH_MAX];
        int r;

        r = sysfs_path(d, path, p);
        if (r >= 0)
                r = attribute_read(buf, size, "%s", p);
        if (r >= 0 && d->observer)
                d->observer->attribute(d->observer->userdata, p + strlen(d->drive->syspath) + 1, buf);
        return r;
}

int sysfs_write(Device *d, const char *path, const char *text) {
        _cleanup_close_ int fd = -EBADF;
        char p[PATH_MAX];
        ssize_t n;
        int r;

        r = device_gate(d);
        if (r >= 0 && drive_was_replaced(d->drive))
                r = device_fail(d, END_VANISHED, "%s now belongs to another drive or medium", d->drive->node);
        if (r >= 0)
                r = sysfs_path(d, path, p);
        if (r < 0)
                return r;
        fd = open(p, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                return -errno;

        n = write(fd, text, strlen(text));
        if (n < 0)
                return -errno;
        return (size_t) n == strlen(text) ? 0 : -EIO;
}

int sysfs_unreadable(Device *d, const char *path, int error) {
        if (error != -ENOENT)
                return device_fail(d, error, "%s cannot be read: %s", path, strerror(-error));
        /* A missing attribute means that the setting is unsupported, unless the whole disk is missing. */
        if (access(d->drive->syspath, F_OK) < 0)
                return device_fail(d, END_VANISHED, "%s is gone", d->drive->node);
        return device_fail(d, END_UNSUPPORTED, "the kernel has no %s for this drive", path);
}

static int parse_number(Device *d, const SysfsAttribute *a, const char *text, int64_t *ret) {
        int64_t n;
        char *end;

        for (const ValueWord *w = a->words; w && w->word; w++)
                if (streq(w->word, text)) {
                        *ret = w->number;
                        return 0;
                }

        errno = 0;
        n = strtoll(text, &end, 10);
        /* Negative numbers stand for words ("never"), and are not scaled. */
        if (errno != 0 || end == text || *end != '\0' || __builtin_mul_overflow(n, n < 0 ? 1 : MAX(a->scale, 1), ret))
                return device_fail(d, -EBADMSG, "%s reads '%s', which is not a number", a->path, text);
        return 0;
}

int sysfs_number(Device *d, const char *path, int64_t *ret) {
        char text[64];
        int r;

        r = sysfs_read(d, path, text, sizeof text);
        if (r < 0)
                return sysfs_unreadable(d, path, r);
        return parse_number(d, &(SysfsAttribute){ .path = path }, text, ret);
}

int64_t sysfs_stripe(const Drive *d) {
        static const char *const attributes[] = { "minimum_io_size", "optimal_io_size" };
        int64_t sizes[ELEMENTSOF(attributes)];
        char text[64];

        for (size_t i = 0; i < ELEMENTSOF(attributes); i++) {
                (void) attribute_read(text, sizeof text, "%s/queue/%s", d->syspath, attributes[i]);
                sizes[i] = strtoll(text, NULL, 10);
        }
        return d->transport == TRANSPORT_VIRTUAL && sizes[0] > 0 && sizes[1] > sizes[0] && sizes[1] % sizes[0] == 0 &&
                                               sizes[1] % SYSFS_PAGE == 0
                               ? sizes[1]
                               : 0;
}

/* Returns the word in brackets, as in "mq-deadline [none]", or the whole line if the line has no brackets. */
static char *find_choice(char *line) {
        char *open = strchr(line, '[');

        line[strcspn(line, "]")] = '\0';
        return open ? open + 1 : line;
}

/* Like sysfs_unreadable(), for the attribute of a setting. If the setting is unsupported, adds the setting's remedy to the
 * reason. */
static int row_unreadable(Device *d, const Setting *s, int error) {
        const SysfsAttribute *a = s->detail;
        int r = sysfs_unreadable(d, a->path, error);

        return r == END_UNSUPPORTED ? device_fail_with_remedy(d, s) : r;
}

int sysfs_setting_read(Device *d, const Setting *s, Reading *ret) {
        const SysfsAttribute *a = s->detail;
        Reading reading = { .known = true, .value.type = s->range.type };
        char buf[256], *text;
        int r;

        reading.supported = !(a->support && sysfs_read(d, a->support, buf, sizeof buf) >= 0 && streq(buf, "0"));
        if (!reading.supported) {
                *ret = reading;
                return 0;
        }
        if (a->requests && d->drive->transport == TRANSPORT_VIRTUAL && !attribute_exists("%s/mq", d->drive->syspath))
                return device_fail(
                                d, END_UNSUPPORTED,
                                "the device has no request queue of its own; set the value on the disks below the device");

        r = sysfs_read(d, a->path, buf, sizeof buf);
        if (r == -EINVAL && a->unset) {
                *ret = (Reading){ .supported = true };
                return 0;
        }
        if (r == -EIO || r == -EOPNOTSUPP)
                return device_fail(d, END_UNSUPPORTED, "the kernel's driver has no %s for this drive", a->path);
        if (r < 0)
                return row_unreadable(d, s, r);

        text = find_choice(buf);
        if (s->range.type != VALUE_NAME)
                r = parse_number(d, a, text, &reading.value.number);
        else if (strlen(text) >= VALUE_NAME_MAX)
                r = device_fail(d, -EBADMSG, "%s reads '%s', which is too long", a->path, text);
        else
                (void) strcpy(reading.value.name, text);
        if (r >= 0)
                *ret = reading;
        return r;
}

/* Converts the errno of a failed write to a sysfs file into an error with a reason. */
static int sysfs_fail_store(Device *d, const Setting *s, const char *text, int r) {
        const SysfsAttribute *a = s->detail;

        if (r == END_DEFERRED || r == END_VANISHED)
                return r;
        if (r == -ENOENT || r == -ENODEV || r == -ENXIO)
                return row_unreadable(d, s, -ENOENT);
        if (r == -EOPNOTSUPP)
                return device_fail(d, END_UNSUPPORTED, "the kernel's driver does not support this (%s)", a->path);
        (void) device_fail(d, END_REFUSED, "the kernel rejected '%s' for %s: %s", text, a->path, strerror(-r));
        d->failure.rejected = r == -EINVAL || r == -ERANGE;
        return END_REFUSED;
}

int sysfs_setting_permit(Device *d, const Setting *s, const Value *v _unused_) {
        const SysfsAttribute *a = s->detail;
        char path[PATH_MAX];
        struct stat st;

        if (sysfs_path(d, a->path, path) < 0 || stat(path, &st) < 0 || (st.st_mode & 0222))
                return 0;
        (void) device_fail(d, END_UNSUPPORTED, "%s is read-only in this kernel", a->path);
        return device_fail_with_remedy(d, s);
}

int sysfs_setting_write(Device *d, const Setting *s, const Value *v) {
        const SysfsAttribute *a = s->detail;
        char buf[VALUE_TEXT_MAX];
        const char *text = buf;
        int r;

        if (a->reset && streq(v->name, "default")) {
                r = sysfs_write(d, a->path, a->reset);
                /* Older kernels reject the text a->reset. In that case the number that localize() computed for "default" is stored
                 * instead. */
                if (r != -EINVAL)
                        return r < 0 ? sysfs_fail_store(d, s, a->reset, r) : 0;
        }

        if (v->type == VALUE_NAME)
                (void) snprintf(buf, sizeof buf, "%s%s", a->prefix ?: "", v->name);
        else
                (void) snprintf(buf, sizeof buf, "%" PRIi64, v->number < 0 ? v->number : v->number / MAX(a->scale, 1));
        for (const ValueWord *w = a->words; w && w->word; w++)
                if (w->number == v->number)
                        text = w->word;

        r = sysfs_write(d, a->path, text);
        return r < 0 ? sysfs_fail_store(d, s, text, r) : 0;
}
