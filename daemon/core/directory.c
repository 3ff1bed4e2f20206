/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <limits.h>

#include "directory.h"

/* As many as the kernel follows. */
#define LINKS_MAX 40U

bool is_writable_by_others(const struct stat *st) {
        if (geteuid() != 0 && st->st_uid == geteuid())
                return false;

        return (st->st_mode & S_IWOTH) || ((st->st_mode & S_IWGRP) && st->st_gid != 0) ||
               (st->st_uid != 0 && st->st_uid != geteuid());
}

int directory_is_safe(const char *path) {
        struct stat st;

        if (stat(path, &st) < 0)
                return errno == ENOENT || errno == ENOTDIR ? 1 : -errno;

        return !is_writable_by_others(&st);
}

static int walk(int dir_fd, const char *path, unsigned n_links);

/* The entry of a directory: itself, or where a link leads. */
static int enter(int dir_fd, const char *name, unsigned n_links) {
        _cleanup_close_ int fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        char target[PATH_MAX];
        struct stat st, dir;
        ssize_t n;

        if (fd < 0 || fstat(fd, &st) < 0 || fstat(dir_fd, &dir) < 0)
                return -errno;
        if (S_ISDIR(st.st_mode))
                return TAKE_FD(fd);
        if (!S_ISLNK(st.st_mode))
                return -ENOTDIR;
        if (is_writable_by_others(&dir) || n_links >= LINKS_MAX)
                return -ELOOP;

        n = readlinkat(fd, "", target, sizeof target - 1);
        if (n < 0)
                return -errno;
        target[n] = '\0';
        return walk(dir_fd, target, n_links + 1);
}

static int walk(int dir_fd, const char *path, unsigned n_links) {
        _cleanup_close_ int fd = openat(dir_fd, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        for (size_t n; *(path += strspn(path, "/")) != '\0'; path += n) {
                char name[NAME_MAX + 1];
                int next;

                n = strcspn(path, "/");
                if (n > NAME_MAX)
                        return -ENAMETOOLONG;
                *(char *) mempcpy(name, path, n) = '\0';
                next = enter(fd, name, n_links);
                if (next < 0)
                        return next;
                closep(&fd);
                fd = next;
        }
        return TAKE_FD(fd);
}

int directory_open(const char *path) {
        return walk(AT_FDCWD, path, 0);
}

const char *directory_error(int r) {
        return r == -ELOOP ? "its path has a symbolic link that another user may have put there; name the directory it leads to"
                           : strerror(-r);
}
