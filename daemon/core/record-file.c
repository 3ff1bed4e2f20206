/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/stat.h>

#include "record-file.h"
#include "text-file.h"

#define LOCK_FILE ".lock"

/* The service's, whichever user that is: who reads it is mostly another one. */
static bool is_owner_right(int dir_fd, const char *name, uid_t owner) {
        _cleanup_free_ char *dir = NULL;
        const char *slash = strrchr(name, '/');
        struct stat st;

        if (owner == 0 || owner == geteuid())
                return true;

        dir = slash ? strndup(name, slash - name) : strdup(".");
        return dir && fstatat(dir_fd, dir, &st, 0) >= 0 && st.st_uid == owner;
}

int record_file_read(int dir_fd, const char *name, size_t max, char **ret, size_t *ret_size) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        int r;

        /* Non-blocking: a FIFO would make us wait for its writer. */
        fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) || st.st_size > (off_t) max || !is_owner_right(dir_fd, name, st.st_uid))
                return -EBADMSG;

        r = read_whole(fd, max, ret, ret_size);
        return r == -EFBIG ? -EBADMSG : r;
}

/* A lock for writing, which takes a descriptor that may write: nobody else can hold one. Until there is this lock nobody else can open
 * the file either, and be in its way with a lock for reading. */
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
