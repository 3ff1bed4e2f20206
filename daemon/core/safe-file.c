/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/sysmacros.h>

#include "directory.h"
#include "safe-file.h"

#define LOCK_FILE ".lock"

/* Why the file cannot be one of ours; NULL when it can. One that others can write would let them write to drives. */
static const char *file_objection(const struct stat *st) {
        if (S_ISDIR(st->st_mode))
                return "this is a directory, not a file";
        if (S_ISFIFO(st->st_mode))
                return "this is a pipe, not a file";
        if (!S_ISREG(st->st_mode))
                return "this is no regular file";
        if (is_writable_by_others(st))
                return "the file can be written by others, it is ignored; chown root and chmod go-w make it safe";

        return NULL;
}

/* All that a descriptor gives up to its end, with a NUL behind it. -EBADMSG: it is more than `max` bytes. */
static int read_whole(int fd, size_t max, char **ret, size_t *ret_size) {
        _cleanup_free_ char *text = NULL;
        size_t size = 0;

        /* One byte more than may be, since a file can grow while it is read; and one for the NUL. */
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

        *ret_objection = "the file is larger than 1 MiB, it is ignored";
        return 1;
}

int text_file_read(const char *path, char **ret_text, size_t *ret_size, const char **ret_objection) {
        _cleanup_close_ int fd = -EBADF;
        const char *objection;
        struct stat st;

        /* Non-blocking: a FIFO would make us wait for its writer. */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;

        /* Masked, as systemd's files are. */
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

        /* Non-blocking: a FIFO would make us wait for its writer. */
        fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) || st.st_size > (off_t) max)
                return -EBADMSG;
        /* The service's, whichever user that is: who reads it is mostly another one. */
        if (st.st_uid != 0 && st.st_uid != geteuid() && (fstat(dir_fd, &dir) < 0 || st.st_uid != dir.st_uid))
                return -EBADMSG;

        return read_whole(fd, max, ret, ret_size);
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
