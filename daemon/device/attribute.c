/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "attribute.h"

/* Formats `path` (PATH_MAX bytes) from the variable arguments after `format`. */
#define MAKE_PATH(path, format)                                            \
        ({                                                                 \
                va_list _ap;                                               \
                int _n;                                                    \
                                                                           \
                va_start(_ap, format);                                     \
                _n = vsnprintf(path, sizeof(path), format, _ap);           \
                va_end(_ap);                                               \
                _n >= 0 && (size_t) _n < sizeof(path) ? 0 : -ENAMETOOLONG; \
        })

int attribute_read_all(char *buf, size_t size, const char *format, ...) {
        _cleanup_close_ int fd = -EBADF;
        char path[PATH_MAX];
        ssize_t n;
        int r;

        assert(size > 0);
        buf[0] = '\0';
        r = MAKE_PATH(path, format);
        if (r < 0)
                return r;

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        /* One read(2) is enough: the kernel returns the whole file, up to the buffer size. */
        n = fd < 0 ? -1 : read(fd, buf, size - 1);
        if (n < 0)
                return -errno;
        buf[n] = '\0';
        return 0;
}

int attribute_read(char *buf, size_t size, const char *format, ...) {
        char path[PATH_MAX];
        int r = MAKE_PATH(path, format);

        r = r < 0 ? r : attribute_read_all(buf, size, "%s", path);
        buf[r < 0 ? 0 : strcspn(buf, "\n")] = '\0';
        return r;
}

/* Returns true if glob(3) must fail for this error. A missing directory counts as an empty one. */
static int is_glob_error(const char *path _unused_, int error) {
        return error != ENOENT && error != ENOTDIR;
}

int attribute_glob(glob_t *ret, const char *format, ...) {
        char path[PATH_MAX];
        int r;

        *ret = (glob_t){};
        r = MAKE_PATH(path, format);
        if (r < 0)
                return r;

        r = glob(path, GLOB_NOSORT | GLOB_BRACE, is_glob_error, ret);
        if (r == GLOB_NOSPACE)
                return -ENOMEM;
        return r == GLOB_ABORTED ? -EIO : 0;
}

bool attribute_exists(const char *format, ...) {
        _cleanup_(globfree) glob_t found = {};
        char path[PATH_MAX];

        return MAKE_PATH(path, format) >= 0 && attribute_glob(&found, "%s", path) >= 0 && found.gl_pathc > 0;
}
