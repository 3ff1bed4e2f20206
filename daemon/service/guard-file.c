/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "guard-file.h"
#include "record-file.h"

int guard_file_exists(const char *dir, const char *key) {
        _cleanup_free_ char *path = NULL;
        struct stat st;

        if (asprintf(&path, "%s/%s", dir, key) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (lstat(path, &st) >= 0)
                return 1;
        return errno == ENOENT ? 0 : -errno;
}

int guard_file_read(const char *dir, const char *key, GuardRecord **ret) {
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        _cleanup_free_ char *path = NULL, *text = NULL;
        size_t size;
        int r;

        if (asprintf(&path, "%s/%s", dir, key) < 0) {
                path = NULL;
                return -ENOMEM;
        }

        r = record_file_read(AT_FDCWD, path, GUARD_MAX_BYTES, &text, &size);
        if (r == -ENOENT) {
                *ret = NULL;
                return 0;
        }
        if (r >= 0)
                r = guard_record_parse(text, size, &record);
        if (r < 0)
                return r;
        if (!streq(record->key, key))
                return -EBADMSG;

        *ret = TAKE_PTR(record);
        return 0;
}
