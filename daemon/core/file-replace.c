/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdio.h>

#include "file-replace.h"

static int create(int dir_fd, const char *name) {
        return openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

static int replace(int dir_fd, const char *name, const char *text, bool sync, const struct stat *like) {
        _cleanup_free_ char *temporary = NULL;
        _cleanup_close_ int fd = -EBADF;
        size_t size = strlen(text);
        ssize_t n;
        int r = 0;

        if (asprintf(&temporary, "%s.new~", name) < 0) {
                temporary = NULL;
                return -ENOMEM;
        }

        fd = create(dir_fd, temporary);
        /* A killed process left it, or the directory's owner put it there. */
        if (fd < 0 && errno == EEXIST && unlinkat(dir_fd, temporary, 0) >= 0)
                fd = create(dir_fd, temporary);
        if (fd < 0)
                return -errno;

        if (like && (fchown(fd, like->st_uid, like->st_gid) < 0 || fchmod(fd, like->st_mode & 07777) < 0))
                r = -errno;
        /* A file is written in part only where there is no room for more. */
        n = r < 0 ? 0 : write(fd, text, size);
        if (r >= 0 && n != (ssize_t) size)
                r = n < 0 ? -errno : -ENOSPC;
        if (r >= 0 && sync && fsync(fd) < 0)
                r = -errno;
        if (r >= 0 && renameat(dir_fd, temporary, dir_fd, name) < 0)
                r = -errno;
        if (r < 0)
                (void) unlinkat(dir_fd, temporary, 0);
        return r;
}

int file_replace(int dir_fd, const char *name, const char *text, bool sync) {
        return replace(dir_fd, name, text, sync, NULL);
}

int file_replace_like(int dir_fd, const char *name, const char *text, const struct stat *like) {
        return replace(dir_fd, name, text, true, like);
}
