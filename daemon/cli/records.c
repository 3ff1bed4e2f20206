/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "drive.h"
#include "records.h"

static void closedirp(DIR **d) {
        if (*d)
                (void) closedir(*d);
}

/* Not a drive's: the directory itself, and what the daemon has not finished writing (NAME.new~). */
static bool file_is_none(const char *name) {
        return name[0] == '.' || name[strlen(name) - 1] == '~';
}

/* One file, whole. A link, a pipe or anything else that is no regular file is none of the daemon's. */
static int file_read(int dir_fd, const char *name, char **ret, size_t *ret_size) {
        _cleanup_free_ char *text = NULL;
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        size_t size = 0;

        fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) || st.st_size > (off_t) RECORD_MAX_BYTES)
                return -EBADMSG;

        /* One byte more than there may be, so that a file that grew is seen to be too big. */
        text = malloc(RECORD_MAX_BYTES + 1);
        if (!text)
                return -ENOMEM;

        for (;;) {
                ssize_t n;

                n = read(fd, text + size, RECORD_MAX_BYTES + 1 - size);
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                size += (size_t) n;
        }

        *ret = TAKE_PTR(text);
        *ret_size = size;
        return 0;
}

static int record_read(int dir_fd, const char *name, DriveRecord **ret) {
        _cleanup_(drive_record_freep) DriveRecord *record = NULL;
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int r;

        r = file_read(dir_fd, name, &text, &size);
        if (r < 0)
                return r;

        r = drive_record_parse(text, size, &record);
        if (r < 0)
                return r;

        /* The name is how the daemon finds the file again; one that speaks of another drive is not to be believed. */
        if (!streq(record->name, name))
                return -EBADMSG;

        *ret = TAKE_PTR(record);
        return 0;
}

static int records_add(Records *r, DriveRecord *record) {
        DriveRecord **items;

        items = reallocarray(r->items, r->n_items + 1, sizeof *items);
        if (!items)
                return -ENOMEM;

        r->items = items;
        r->items[r->n_items++] = record;
        return 0;
}

static int records_compare(const void *a, const void *b) {
        return drive_name_compare((*(DriveRecord *const *) a)->name, (*(DriveRecord *const *) b)->name);
}

int records_read(const char *dir, Records *ret) {
        _cleanup_(records_done) Records records = {};
        _cleanup_(closedirp) DIR *d = NULL;
        int r;

        d = opendir(dir);
        if (!d)
                return -errno;

        for (;;) {
                _cleanup_(drive_record_freep) DriveRecord *record = NULL;
                const struct dirent *entry;

                errno = 0;
                entry = readdir(d);
                if (!entry) {
                        if (errno != 0)
                                return -errno;
                        break;
                }
                if (file_is_none(entry->d_name))
                        continue;

                r = record_read(dirfd(d), entry->d_name, &record);
                if (r == -ENOENT) /* the drive went away just now */
                        continue;
                if (r == -ENOMEM)
                        return r;
                if (r < 0) {
                        warnx("%s/%s cannot be read (%s); restart drivekeep.service to have it written anew", dir,
                              entry->d_name, strerror(-r));
                        records.n_damaged++;
                        continue;
                }

                r = records_add(&records, record);
                if (r < 0)
                        return r;
                TAKE_PTR(record);
        }

        if (records.n_items > 0)
                qsort(records.items, records.n_items, sizeof *records.items, records_compare);

        *ret = records;
        records = (Records){};
        return 0;
}

void records_done(Records *r) {
        for (size_t i = 0; i < r->n_items; i++)
                (void) drive_record_free(r->items[i]);
        free(r->items);
        *r = (Records){};
}

DriveRecord *records_find(const Records *r, const char *name) {
        for (size_t i = 0; i < r->n_items; i++)
                if (streq(r->items[i]->name, name))
                        return r->items[i];

        return NULL;
}
