/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <fcntl.h>

#include "drive.h"
#include "record-file.h"
#include "records.h"
#include "warning.h"

static void closedirp(DIR **d) {
        if (*d)
                (void) closedir(*d);
}

/* Not a drive's: the directory itself, and what the daemon has not finished writing (NAME.new~). */
static bool file_is_none(const char *name) {
        return name[0] == '.' || name[strlen(name) - 1] == '~';
}

static int record_read(int dir_fd, const char *name, DriveRecord **ret) {
        _cleanup_(drive_record_freep) DriveRecord *record = NULL;
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int r;

        r = record_file_read(dir_fd, name, RECORD_MAX_BYTES, &text, &size);
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
        records.served = record_directory_is_claimed(dirfd(d));

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
                        warn_escaped("%s/%s cannot be read (%s); restart drivekeep.service to have it written anew",
                                     dir, entry->d_name, strerror(-r));
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

int records_reveal(const Records *records, Drive *const *drives, size_t n) {
        for (size_t i = 0; i < n; i++) {
                const DriveRecord *record = records_find(records, drives[i]->name);
                int r;

                if (!record || !drive_record_continues(record, drives[i], record->boot_id))
                        continue;
                r = drive_record_reveal(record, drives[i]);
                if (r < 0)
                        return r;
        }

        return 0;
}

DriveRecord *records_find(const Records *r, const char *name) {
        for (size_t i = 0; i < r->n_items; i++)
                if (streq(r->items[i]->name, name))
                        return r->items[i];

        return NULL;
}
