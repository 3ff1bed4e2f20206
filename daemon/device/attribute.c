/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include "attribute.h"

static int file_read(const char *path, bool all, char *buf, size_t size) {
        _cleanup_close_ int fd = -EBADF;
        size_t n = 0;

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                return -errno;

        /* One read tells all, as a rule; a half of a number would be another number. */
        for (;;) {
                ssize_t k = read(fd, buf + n, size - 1 - n);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                n += (size_t) k;
                if (k == 0 || n == size - 1 || (!all && buf[n - 1] == '\n'))
                        break;
        }

        buf[n] = '\0';
        if (!all)
                buf[strcspn(buf, "\n")] = '\0';
        return 0;
}

_printf_(4, 0) static int format_read(char *buf, size_t size, bool all, const char *format, va_list ap) {
        _cleanup_free_ char *path = NULL;
        int r;

        if (vasprintf(&path, format, ap) < 0) {
                path = NULL;
                r = -ENOMEM;
        } else
                r = file_read(path, all, buf, size);

        if (r < 0)
                buf[0] = '\0';
        return r;
}

int attribute_read(char *buf, size_t size, const char *format, ...) {
        va_list ap;
        int r;

        va_start(ap, format);
        r = format_read(buf, size, false, format, ap);
        va_end(ap);
        return r;
}

int attribute_read_all(char *buf, size_t size, const char *format, ...) {
        va_list ap;
        int r;

        va_start(ap, format);
        r = format_read(buf, size, true, format, ap);
        va_end(ap);
        return r;
}
