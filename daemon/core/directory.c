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

/* How much of a path only root and the caller may be able to replace. */
typedef enum Trust {
        TRUST_LINKS, /* symbolic links */
        TRUST_ALL,   /* directories, too */
} Trust;

static bool is_own(const struct stat *st) {
        return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Can other users put another entry in the place of this directory? The sticky bit of `dir`, as on /tmp, prevents that. */
static bool is_replaceable(const struct stat *dir, const struct stat *st) {
        return is_writable_by_others(dir) && !((dir->st_mode & S_ISVTX) && is_own(dir) && is_own(st));
}

static int directory_walk(int dir_fd, const char *path, Trust trust, unsigned n_links);

/* Opens an entry of a directory, or the target of a link. */
static int enter(int dir_fd, const char *name, Trust trust, unsigned n_links) {
        _cleanup_close_ int fd = -EBADF;
        char target[PATH_MAX];
        struct stat st, dir;
        ssize_t n;

        if (fstat(dir_fd, &dir) < 0)
                return -errno;
        fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return trust == TRUST_ALL && is_writable_by_others(&dir) ? -EPERM : -errno;
        if (fstat(fd, &st) < 0)
                return -errno;
        if (trust == TRUST_ALL && (S_ISDIR(st.st_mode) ? is_replaceable(&dir, &st) : is_writable_by_others(&dir)))
                return -EPERM;
        if (!S_ISLNK(st.st_mode))
                return TAKE_FD(fd);
        if (is_writable_by_others(&dir) || n_links >= LINKS_MAX)
                return -ELOOP;

        n = readlinkat(fd, "", target, sizeof target - 1);
        if (n < 0)
                return -errno;
        target[n] = '\0';
        return directory_walk(dir_fd, target, trust, n_links + 1);
}

static int directory_walk(int dir_fd, const char *path, Trust trust, unsigned n_links) {
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
                next = enter(fd, name, trust, n_links);
                if (next < 0)
                        return next;
                closep(&fd);
                fd = next;
        }
        return TAKE_FD(fd);
}

int directory_open(const char *path) {
        _cleanup_close_ int fd = directory_walk(AT_FDCWD, path, TRUST_LINKS, 0);
        struct stat st;

        if (fd < 0)
                return fd;
        if (fstat(fd, &st) < 0)
                return -errno;
        return S_ISDIR(st.st_mode) ? TAKE_FD(fd) : -ENOTDIR;
}

int path_is_safe(const char *path) {
        _cleanup_close_ int fd = directory_walk(AT_FDCWD, path, TRUST_ALL, 0);

        return fd >= 0 || fd == -ENOENT ? 1 : fd == -EPERM ? 0 : fd;
}

const char *directory_error(int r) {
        return r == -ELOOP ? "its path has a symbolic link that another user may have put there; name the directory it leads to"
                           : strerror(-r);
}
