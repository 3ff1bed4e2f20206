/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include "attribute.h"

static int file_read(const char *path, char *buf, size_t size) {
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
                if (k == 0 || n == size - 1 || buf[n - 1] == '\n')
                        break;
        }

        buf[n] = '\0';
        buf[strcspn(buf, "\n")] = '\0';
        return 0;
}

int attribute_read(char *buf, size_t size, const char *format, ...) {
        _cleanup_free_ char *path = NULL;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&path, format, ap);
        va_end(ap);
        if (r < 0) {
                path = NULL;
                r = -ENOMEM;
        } else
                r = file_read(path, buf, size);

        if (r < 0)
                buf[0] = '\0';
        return r;
}
