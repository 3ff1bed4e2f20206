/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "state.h"
#include "text-file.h"

static int state_path(const char *dir, const char *name, const char *suffix, char **ret) {
        /* Kernel names have no '/', but nothing here trusts them. */
        if (strchr(name, '/') || name[0] == '.')
                return -EINVAL;
        return asprintf(ret, "%s/%s%s", dir, name, suffix) < 0 ? -ENOMEM : 0;
}

static int write_all(int fd, const char *p, size_t n) {
        while (n > 0) {
                ssize_t k = write(fd, p, n);

                if (k < 0)
                        return -errno;
                p += k;
                n -= k;
        }
        return 0;
}

static int file_write(const char *path, const char *temporary, const char *text) {
        _cleanup_close_ int fd = -EBADF;
        int r;

        fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0)
                return -errno;

        r = write_all(fd, text, strlen(text));
        if (r >= 0 && rename(temporary, path) < 0)
                r = -errno;
        if (r < 0)
                (void) unlink(temporary);
        return r;
}

int state_lock(const char *dir) {
        if (mkdir(dir, 0755) < 0 && errno != EEXIST)
                return -errno;
        return record_directory_lock(dir);
}

int state_write(const char *dir, const DriveRecord *record) {
        _cleanup_free_ char *path = NULL, *temporary = NULL, *text = NULL;
        int r;

        r = drive_record_serialize(record, &text);
        if (r >= 0)
                r = state_path(dir, record->name, "", &path);
        if (r >= 0)
                r = state_path(dir, record->name, ".new~", &temporary);
        if (r < 0)
                return r;

        r = file_write(path, temporary, text);
        if (r >= 0)
                return r;

        /* What an old file says is not true any more, and where there is no room for two there may be for one. */
        if (unlink(path) < 0)
                return r;
        return file_write(path, temporary, text);
}

int state_read(const char *dir, const char *name, DriveRecord **ret) {
        _cleanup_free_ char *path = NULL, *text = NULL;
        size_t size;
        int r;

        r = state_path(dir, name, "", &path);
        if (r >= 0)
                r = record_file_read(AT_FDCWD, path, RECORD_MAX_BYTES, &text, &size);
        if (r < 0)
                return r;

        return drive_record_parse(text, size, ret);
}

int state_remove(const char *dir, const char *name) {
        _cleanup_free_ char *path = NULL;
        int r;

        r = state_path(dir, name, "", &path);
        if (r < 0)
                return r;
        return unlink(path) < 0 ? -errno : 0;
}

int state_prune(const char *dir, bool (*keep)(void *userdata, const char *name), void *userdata) {
        struct dirent *e;
        DIR *d;

        d = opendir(dir);
        if (!d)
                return -errno;

        while ((e = readdir(d)))
                if (e->d_name[0] != '.' && !keep(userdata, e->d_name))
                        (void) unlinkat(dirfd(d), e->d_name, 0);

        (void) closedir(d);
        return 0;
}
