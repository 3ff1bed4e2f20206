/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <dirent.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "drive.h"
#include "kernel-view.h"
#include "output.h"
#include "records.h"
#include "safe-file.h"
#include "settings.h"

/* Skips hidden files and unfinished files of the daemon (NAME.new~). */
static int is_record(const struct dirent *entry) {
        return entry->d_name[0] != '.' && !ends_with(entry->d_name, "~");
}

static int records_compare(const struct dirent **a, const struct dirent **b) {
        return drive_name_compare((*a)->d_name, (*b)->d_name);
}

static int record_read_at(int dir_fd, const char *name, DriveRecord **ret) {
        _cleanup_(drive_record_freep) DriveRecord *record = NULL;
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int r;

        r = record_file_read(dir_fd, name, RECORD_MAX_BYTES, &text, &size);
        if (r >= 0)
                r = drive_record_parse(text, size, &record);
        /* A state file has the name of its drive: a record of another drive is invalid. */
        if (r >= 0 && !streq(record->name, name))
                r = -EBADMSG;
        if (r >= 0)
                *ret = TAKE_PTR(record);
        return r;
}

int records_read(const char *dir, Records *ret) {
        _cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct dirent **entries = NULL;
        struct stat st;
        int n;

        n = fd < 0 || fstat(fd, &st) < 0 ? -1 : scandirat(fd, ".", &entries, is_record, records_compare);
        if (n < 0)
                return -errno;

        *ret = (Records){ .items = must(calloc(MAX(n, 1), sizeof *ret->items)),
                          .served = record_directory_is_locked(fd),
                          .changed = (uint64_t) st.st_mtim.tv_sec * 1000000 + (uint64_t) st.st_mtim.tv_nsec / 1000 };
        for (int i = 0; i < n; i++) {
                _cleanup_free_ struct dirent *entry = entries[i];
                int r;

                r = must_not_fail(record_read_at(fd, entry->d_name, &ret->items[ret->n_items]));
                if (r >= 0)
                        ret->n_items++;
                else if (r != -ENOENT) { /* the drive was removed in the meantime */
                        warn_escaped("%s/%s cannot be read (%s); 'systemctl restart drivekeep.service' writes the file again",
                                     dir, entry->d_name, strerror(-r));
                        ret->n_damaged++;
                }
        }

        free(entries);
        return 0;
}

void records_done(Records *r) {
        for (size_t i = 0; i < r->n_items; i++)
                (void) drive_record_free(r->items[i]);
        free(r->items);
        *r = (Records){};
}

/* The service renames a new file over the record, or removes the record's file. When the service ends, the kernel closes the service's lock
 * file (IN_CLOSE_WRITE). */
int records_watch(const char *dir, int *ret_fd) {
        _cleanup_close_ int fd = inotify_init1(IN_CLOEXEC);

        if (fd < 0 || inotify_add_watch(fd, dir, IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE | IN_ONLYDIR) < 0)
                return -errno;
        *ret_fd = TAKE_FD(fd);
        return 0;
}

const DriveRecord *records_of(const Records *records, const Drive *drive) {
        const DriveRecord *record = records_find(records, drive->name);

        return record && drive_record_continues(record, drive, record->boot_id) ? record : NULL;
}

/* According to the record, the drive is in standby. Returns true if the drive may have had I/O since then. */
static bool had_io(const char *syspath, const DriveRecord *record) {
        uint64_t used;

        return record->power == POWER_SUSPENDED || activity_read(syspath, &used) < 0 || used != record->used;
}

KnownPower records_power(bool served, const char *name, const DriveRecord *record, uint64_t now) {
        _cleanup_free_ char *syspath = must_format("/sys/block/%s", name);

        if (activity_is_suspended(syspath)) {
                /* If the kernel has resumed the drive since, the record is about an earlier suspend. */
                bool same = record && record->runtime_active_time == activity_active_time(syspath);

                return (KnownPower){ POWER_SUSPENDED, same ? record->runtime_suspended_when : 0, now };
        }
        if (!served || !record || record->power == POWER_UNKNOWN ||
            (drive_record_in_standby(record) && had_io(syspath, record)))
                return (KnownPower){ POWER_UNKNOWN };
        /* The kernel's I/O counter proves at any time that a drive is still in standby. An active drive may have spun down since, by its
         * own timer or a command of another program. */
        return (KnownPower){ record->power, record->power_when,
                             record->power != POWER_ACTIVE ? now
                             : record->power_seen > 0      ? record->power_seen
                                                           : record->power_when };
}

const char *records_spindown(const Records *r, const Drive *d, const DriveRecord *record,
                             char buf[static SPIN_DOWN_TEXT_MAX]) {
        const char *text = record && (r->served || !record->spindown_served) ? record->spindown : NULL;
        uint64_t kernel = d->rotational && d->syspath ? activity_spin_down_usec(d->syspath) : UINT64_MAX;
        const char *usec = text && record->spindown_key ? strrchr(record->spindown_key, ' ') : NULL;
        SpinDown by_kernel = spin_down_by_kernel(&all_settings, kernel);

        /* sysfs is newer than the record. */
        if (usec && starts_with(record->spindown_key, "kernel "))
                return spin_down_format(&by_kernel, buf);
        return usec && strtoull(usec, NULL, 10) <= kernel ? text : spin_down_format(&by_kernel, buf) ?: text;
}

void records_reveal_drives(const Records *r, Inventory *inventory) {
        for (size_t i = 0; i < inventory->n_drives; i++) {
                const DriveRecord *record = records_of(r, inventory->drives[i]);

                if (record)
                        must_work(drive_record_reveal(record, inventory->drives[i]));
        }
}

int records_read_drives(const char *dir, Inventory *ret_inventory, Records *ret) {
        Inventory *inventory = ret_inventory;
        int r;

        r = inventory_read(inventory);
        if (r < 0)
                return r;
        r = records_read(dir, ret);
        if (r < 0 && r != -ENOENT)
                warn_escaped("%s cannot be read (%s); the output lacks the service's records", dir, strerror(-r));

        records_reveal_drives(ret, inventory);
        return 0;
}

DriveRecord *records_find(const Records *r, const char *name) {
        for (size_t i = 0; i < r->n_items; i++)
                if (streq(r->items[i]->name, name))
                        return r->items[i];

        return NULL;
}
