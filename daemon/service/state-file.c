/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "safe-file.h"
#include "state-file.h"

static int state_path(const char *dir, const char *name, char **ret) {
        /* The kernel's names of drives contain no '/', but `name` is not trusted. */
        if (strchr(name, '/') || name[0] == '.')
                return -EINVAL;
        return asprintf(ret, "%s/%s", dir, name) < 0 ? -ENOMEM : 0;
}

int state_lock(const char *dir) {
        if (mkdir(dir, 0755) < 0 && errno != EEXIST)
                return -errno;
        return record_directory_lock(dir);
}

void state_notify(const char *dir, const char *news) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/%s", dir, news) < 0)
                path = NULL;
        else
                (void) mknod(path, S_IFREG | 0644, 0);
}

int state_write(const char *dir, const DriveRecord *record) {
        _cleanup_free_ char *path = NULL, *text = NULL;
        int r;

        r = drive_record_serialize(record, &text);
        if (r >= 0)
                r = state_path(dir, record->name, &path);
        if (r < 0)
                return r;

        r = file_replace(AT_FDCWD, path, text, false);
        /* After an error, removes the outdated old file: this may free enough space for the new file. */
        if (r < 0 && unlink(path) >= 0)
                r = file_replace(AT_FDCWD, path, text, false);
        state_notify(dir, STATE_NEWS);
        return r;
}

int state_read(const char *dir, const char *name, DriveRecord **ret) {
        _cleanup_free_ char *path = NULL, *text = NULL;
        size_t size;
        int r;

        r = state_path(dir, name, &path);
        if (r >= 0)
                r = record_file_read(AT_FDCWD, path, RECORD_MAX_BYTES, &text, &size);
        if (r < 0)
                return r;

        return drive_record_parse(text, size, ret);
}

int state_remove(const char *dir, const char *name) {
        _cleanup_free_ char *path = NULL;
        int r;

        r = state_path(dir, name, &path);
        if (r < 0)
                return r;
        if (unlink(path) < 0)
                return -errno;
        state_notify(dir, STATE_NEWS);
        return 0;
}

int state_prune(const char *dir, bool (*keep)(void *userdata, const char *name), void *userdata) {
        struct dirent *e;
        DIR *d;

        d = opendir(dir);
        if (!d)
                return -errno;

        while ((e = readdir(d)))
                if (e->d_name[0] != '.' && !keep(userdata, e->d_name))
                        (void) state_remove(dir, e->d_name);

        (void) closedir(d);
        return 0;
}
