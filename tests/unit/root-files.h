/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Makes all files appear to belong to root, so that any user can run the test. The linker redirects stat(2) and
 * fstat(2) to these functions (stand_ins in meson.build). */

#include <sys/stat.h>

int __real_stat64(const char *path, struct stat *st);
int __real_fstat64(int fd, struct stat *st);
int __wrap_stat64(const char *path, struct stat *st);
int __wrap_fstat64(int fd, struct stat *st);

int __wrap_stat64(const char *path, struct stat *st) {
        int r = __real_stat64(path, st);

        st->st_uid = st->st_gid = 0;
        return r;
}

int __wrap_fstat64(int fd, struct stat *st) {
        int r = __real_fstat64(fd, st);

        st->st_uid = st->st_gid = 0;
        return r;
}
