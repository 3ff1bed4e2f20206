/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdio.h>

#include "file-replace.h"

static int write_all(int fd, const char *text) {
        for (size_t left = strlen(text); left > 0;) {
                ssize_t n = write(fd, text, left);

                if (n < 0)
                        return -errno;
                text += n;
                left -= n;
        }
        return 0;
}

int file_replace(int dir_fd, const char *name, const char *text, bool sync) {
        _cleanup_free_ char *temporary = NULL;
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (asprintf(&temporary, "%s.new~", name) < 0) {
                temporary = NULL;
                return -ENOMEM;
        }

        fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0)
                return -errno;

        r = write_all(fd, text);
        if (r >= 0 && sync && fsync(fd) < 0)
                r = -errno;
        if (r >= 0 && renameat(dir_fd, temporary, dir_fd, name) < 0)
                r = -errno;
        if (r < 0)
                (void) unlinkat(dir_fd, temporary, 0);
        return r;
}
