/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <syslog.h>

#include "guard-file.h"
#include "journal.h"
#include "record-file.h"

/* More drives than anybody has attached to one machine: what lies there besides is not read. */
#define GUARD_MAX_FILES 8192U

static int file_read(int dir_fd, const char *name, GuardRecord **ret) {
        _cleanup_(guard_record_freep) GuardRecord *record = NULL;
        _cleanup_free_ char *text = NULL;
        size_t size;
        int r;

        r = record_file_read(dir_fd, name, GUARD_MAX_BYTES, &text, &size);
        if (r >= 0)
                r = guard_record_parse(text, size, &record);
        if (r < 0)
                return r;
        if (!streq(record->key, name))
                return -EBADMSG;

        *ret = TAKE_PTR(record);
        return 0;
}

int guard_files_read(const char *dir_name, GuardRecordFn fn, void *userdata) {
        const struct dirent *e;
        size_t n = 0;
        DIR *dir;
        int r = 0;

        dir = opendir(dir_name);
        if (!dir)
                return -errno;

        while (r >= 0 && n < GUARD_MAX_FILES && (e = readdir(dir))) {
                _cleanup_(guard_record_freep) GuardRecord *record = NULL;

                /* Not a drive's: the directory itself, and what a scribe has not finished. */
                if (e->d_name[0] == '.' || e->d_name[strlen(e->d_name) - 1] == '~')
                        continue;

                n++;
                r = file_read(dirfd(dir), e->d_name, &record);
                if (r < 0 && r != -ENOMEM) {
                        journal_log(LOG_WARNING, "%s/%s is damaged, ignoring it: %s", dir_name, e->d_name,
                                    strerror(-r));
                        r = 0;
                        continue;
                }
                if (r >= 0)
                        r = fn(userdata, record);
                if (r >= 0)
                        TAKE_PTR(record);
        }

        (void) closedir(dir);
        return r;
}
