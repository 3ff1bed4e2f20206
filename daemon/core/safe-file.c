/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include "safe-file.h"

#define LOCK_FILE ".lock"

/* Returns true if a user other than root and the caller can change this file or directory. For a caller other than root, the caller's own
 * files always count as safe. */
static bool is_writable_by_others(const struct stat *st) {
        if (geteuid() != 0 && st->st_uid == geteuid())
                return false;

        return (st->st_mode & S_IWOTH) || ((st->st_mode & S_IWGRP) && st->st_gid != 0) ||
               (st->st_uid != 0 && st->st_uid != geteuid());
}

/* Returns the reason to reject the file; NULL: the file is accepted. A user who can write to the file could change settings of drives. */
static const char *file_objection(const struct stat *st) {
        if (S_ISDIR(st->st_mode))
                return "this is a directory, not a file";
        if (S_ISFIFO(st->st_mode))
                return "this is a pipe, not a file";
        if (!S_ISREG(st->st_mode))
                return "this is not a regular file";
        if (is_writable_by_others(st))
                return "the file is ignored, as other users can write to it; run chown root and chmod go-w";

        return NULL;
}

/* Reads a descriptor to its end, and adds a NUL. -EBADMSG: there are more than `max` bytes. */
static int read_whole(int fd, size_t max, char **ret, size_t *ret_size) {
        _cleanup_free_ char *text = NULL;
        size_t size = 0;

        /* One byte beyond `max` shows that the file is too large (it may grow during reading). The other byte is for the NUL. */
        text = malloc(max + 2);
        if (!text)
                return -ENOMEM;

        while (size <= max) {
                ssize_t n = read(fd, text + size, max + 1 - size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                size += (size_t) n;
        }
        if (size > max)
                return -EBADMSG;

        text[size] = '\0';
        *ret = TAKE_PTR(text);
        *ret_size = size;
        return 0;
}

int text_descriptor_read(int fd, char **ret_text, size_t *ret_size, const char **ret_objection) {
        int r = read_whole(fd, TEXT_FILE_MAX, ret_text, ret_size);

        if (r != -EBADMSG)
                return r;

        *ret_objection = "the file is ignored, as it is larger than 1 MiB";
        return 1;
}

int text_file_read(const char *path, char **ret_text, size_t *ret_size, const char **ret_objection) {
        _cleanup_close_ int fd = -EBADF;
        const char *objection;
        struct stat st;

        /* Without O_NONBLOCK, open() of a FIFO would wait for a writer. */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;

        /* A link to /dev/null masks a file, as in systemd. */
        objection = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3) ? NULL : file_objection(&st);
        if (objection) {
                *ret_objection = objection;
                return 1;
        }

        return text_descriptor_read(fd, ret_text, ret_size, ret_objection);
}

int record_file_read(int dir_fd, const char *name, size_t max, char **ret, size_t *ret_size) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st, dir;

        /* Without O_NONBLOCK, open() of a FIFO would wait for a writer. */
        fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) || st.st_size > (off_t) max)
                return -EBADMSG;
        /* Accept the owner of the directory, too. The owner is the service's user, and the caller is usually another user. */
        if (st.st_uid != 0 && st.st_uid != geteuid() && (fstat(dir_fd, &dir) < 0 || st.st_uid != dir.st_uid))
                return -EBADMSG;

        return read_whole(fd, max, ret, ret_size);
}

/* Other users cannot open the file for writing, so they cannot hold a write lock. Before the lock is taken, they cannot
 * even open the file for reading (mode 0600), so they cannot block the write lock with a read lock. */
int record_directory_lock(const char *path) {
        _cleanup_close_ int dir_fd = -EBADF, fd = -EBADF;
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0 || (unlinkat(dir_fd, LOCK_FILE, 0) < 0 && errno != ENOENT))
                return -errno;

        fd = openat(dir_fd, LOCK_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 || fcntl(fd, F_OFD_SETLK, &lock) < 0 || fchmod(fd, 0644) < 0)
                return -errno;
        return TAKE_FD(fd);
}

bool record_directory_is_locked(int dir_fd) {
        _cleanup_close_ int fd = openat(dir_fd, LOCK_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

        return fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) >= 0 && lock.l_type != F_UNLCK;
}

/* ---- directories ---- */

/* The kernel's limit for symbolic links in a path. */
#define LINKS_MAX 40U

int directory_is_safe(const char *path) {
        struct stat st;

        if (stat(path, &st) < 0)
                return errno == ENOENT || errno == ENOTDIR ? 1 : -errno;

        return !is_writable_by_others(&st);
}

/* The parts of a path that other users must not be able to replace. */
typedef enum Trust {
        TRUST_LINKS, /* symbolic links */
        TRUST_ALL,   /* symbolic links and directories */
} Trust;

static bool is_own(const struct stat *st) {
        return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Returns true if other users can replace the entry `st` of the directory `dir`. The sticky bit of `dir`, as on /tmp, prevents that. */
static bool is_replaceable(const struct stat *dir, const struct stat *st) {
        return is_writable_by_others(dir) && !((dir->st_mode & S_ISVTX) && is_own(dir) && is_own(st));
}

static int directory_walk(int dir_fd, const char *path, Trust trust, unsigned n_links);

/* Opens an entry of a directory, or the target of a link. */
static int directory_enter(int dir_fd, const char *name, Trust trust, unsigned n_links) {
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
                next = directory_enter(fd, name, trust, n_links);
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
        return r == -ELOOP ? "the path has a symbolic link that another user may have made; give the directory that the link leads to"
                           : strerror(-r);
}

/* ---- replacing ---- */

static int create_temporary(int dir_fd, const char *name) {
        return openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

static int replace_file(int dir_fd, const char *name, const char *text, bool sync, const struct stat *like) {
        _cleanup_free_ char *temporary = NULL;
        _cleanup_close_ int fd = -EBADF;
        size_t size = strlen(text);
        ssize_t n;
        int r = 0;

        if (asprintf(&temporary, "%s.new~", name) < 0) {
                temporary = NULL;
                return -ENOMEM;
        }

        fd = create_temporary(dir_fd, temporary);
        /* Deletes an existing file of this name, which is from a killed process or from the directory's owner. */
        if (fd < 0 && errno == EEXIST && unlinkat(dir_fd, temporary, 0) >= 0)
                fd = create_temporary(dir_fd, temporary);
        if (fd < 0)
                return -errno;

        if (like && (fchown(fd, like->st_uid, like->st_gid) < 0 || fchmod(fd, like->st_mode & 07777) < 0))
                r = -errno;
        /* A short write means that the file system is full. */
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
        return replace_file(dir_fd, name, text, sync, NULL);
}

int file_replace_like(int dir_fd, const char *name, const char *text, const struct stat *like) {
        return replace_file(dir_fd, name, text, true, like);
}
