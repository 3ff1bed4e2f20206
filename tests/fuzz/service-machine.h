/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The simulated machine below the fuzzed service: the clock, drives with their counters, sysfs, udev, PID 1, storage, and the other ends of
 * the broker's and the tracer's sockets. The steps of fuzz-service.c change the machine. The service sees the machine through the functions
 * below. They stand in for whole files of the daemon. The linker's --wrap replaces single functions (see meson.build). */

#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <systemd/sd-id128.h>

#include "../unit/model-drive.h"
#include "attribute.h"
#include "clock.h"
#include "guard-note.h"
#include "guard.h"
#include "inventory.h"
#include "journal-socket.h"
#include "kernel-view.h"
#include "machine.h"
#include "manager.h"
#include "pid1.h"
#include "safe-file.h"
#include "stack.h"
#include "state-file.h"
#include "temporary.h"
#include "watch-read.h"
#include "wire.h"

#define MS UINT64_C(1000)
#define SECOND (1000 * MS)

/* ---- output ---- */

static bool verbose; /* set by DRIVEKEEP_FUZZ_STEPS; true: each step is printed */

#define log_step(...)                                        \
        do                                                   \
                if (verbose)                                 \
                        (void) fprintf(stderr, __VA_ARGS__); \
        while (false)

/* Checks an invariant of the service. */
#define MUST(expression, ...)                                                              \
        do                                                                                 \
                if (!(expression)) {                                                       \
                        (void) fprintf(stderr, "fuzz-service: not so: %s: ", #expression); \
                        (void) fprintf(stderr, __VA_ARGS__);                               \
                        (void) fputc('\n', stderr);                                        \
                        abort();                                                           \
                }                                                                          \
        while (false)

/* ---- the clock ---- */

static struct {
        bool runs; /* true: clock_gettime() returns the times below; false: the real time, which libFuzzer needs for its time limits */
        uint64_t monotonic, slept, realtime;
} now;

static volatile sig_atomic_t in_signal;
static struct sigaction libfuzzer_alarm;

/* Handles libFuzzer's alarm with the real clock: libFuzzer compares the clock with the time at which the input started. */
static void on_alarm(int n, siginfo_t *si, void *context) {
        in_signal = 1;
        libfuzzer_alarm.sa_sigaction(n, si, context);
        in_signal = 0;
}

static void clock_keep_alarm(void) {
        struct sigaction ours = { .sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO };

        if (sigaction(SIGALRM, NULL, &libfuzzer_alarm) == 0 && libfuzzer_alarm.sa_flags & SA_SIGINFO)
                (void) sigaction(SIGALRM, &ours, NULL);
}

int clock_gettime(clockid_t clock, struct timespec *ts) {
        uint64_t usec = clock == CLOCK_REALTIME   ? now.realtime
                        : clock == CLOCK_BOOTTIME ? now.monotonic + now.slept
                                                  : now.monotonic;

        if (!now.runs || in_signal)
                return (int) syscall(SYS_clock_gettime, clock, ts);
        *ts = (struct timespec){ .tv_sec = (time_t) (usec / SECOND), .tv_nsec = (long) (usec % SECOND * 1000) };
        return 0;
}

static void pass(uint64_t usec) {
        now.monotonic += usec;
        now.realtime += usec;
}

/* Timers are not armed: the event loop never blocks. */
int timerfd_settime(_unused_ int fd, _unused_ int flags, _unused_ const struct itimerspec *new_value,
                    _unused_ struct itimerspec *old_value) {
        return 0;
}

int __wrap_usleep(useconds_t usec);
int __wrap_usleep(useconds_t usec) {
        pass(usec);
        return 0;
}

/* ---- drives ---- */

typedef struct Disk {
        const char *name, *path; /* path: relative to /sys/devices */
        Transport transport;

        bool present, standby, suspended, recovering;
        int health;
        unsigned serial; /* part of the drive's serial number; each drive that is attached under this name gets a new number */
        uint64_t diskseq;
        ModelDrive model;
        uint64_t used, commands;
        /* uncounted: the I/O counters do not change. unreadable: they cannot be read. in_flight: they show a request in flight. */
        bool uncounted, unreadable, in_flight;
        LinkEvent news;
        uint64_t news_at;

        bool standby_requested; /* true if a client has requested standby */
        uint64_t last_use;      /* time of the last I/O that was counted; CLOCK_MONOTONIC, µs */
        unsigned n_workers;     /* number of workers that visit the drive */
        unsigned n_temporary;   /* bit mask of the values that a client has set: bit i stands for tries[i] */
        unsigned n_until_boot;  /* bit mask of the temporary values until the next boot: bit i stands for tries[i] */
} Disk;

static Disk disks[] = {
        { .name = "sda", .path = "pci0/ata1/host0/target0:0:0/0:0:0:0/block/sda", .transport = TRANSPORT_SATA },
        { .name = "sdb", .path = "pci0/ata2/host1/target1:0:0/1:0:0:0/block/sdb", .transport = TRANSPORT_SATA },
        { .name = "sdc", .path = "pci0/usb1/1-1/host2/target2:0:0/2:0:0:0/block/sdc", .transport = TRANSPORT_USB },
        { .name = "sdd", .path = "pci0/host3/target3:0:0/3:0:0:0/block/sdd", .transport = TRANSPORT_SAS },
        { .name = "sde", .path = "pci0/host4/target4:0:0/4:0:0:0/block/sde", .transport = TRANSPORT_SAS },
        { .name = "nvme0n1", .path = "pci0/nvme/nvme0/nvme0n1", .transport = TRANSPORT_NVME },
        { .name = "nvme0n2", .path = "pci0/nvme/nvme0/nvme0n2", .transport = TRANSPORT_NVME },
};

#define FOREACH_DISK(d) for (Disk *d = disks; d < disks + ELEMENTSOF(disks); d++)

static uint64_t last_diskseq, last_event;

static Disk *disk_find(const char *name) {
        FOREACH_DISK(d) {
                if (streq(d->name, name))
                        return d;
        }
        return NULL;
}

static Disk *disk_of(const char *syspath) {
        return disk_find(base_name(syspath));
}

/* Simulates `n` reads from the drive. */
static void disk_read(Disk *d, unsigned n) {
        d->standby = d->suspended = false;
        d->commands += n;
        if (d->uncounted || d->unreadable)
                return;
        d->used += n;
        d->last_use = now.monotonic;
}

/* ---- sysfs: files in a directory of the test ---- */

static char sysfs[32];

static const struct {
        const char *path, *text;
} attributes[] = {
        { "queue/read_ahead_kb", "128" },
        { "queue/write_cache", "write back" },
        { "device/timeout", "30" },
        { "device/scsi_disk/0/allow_restart", "1" },
};

static void attribute_put(const Disk *d, const char *path, const char *text) {
        char name[PATH_MAX];
        FILE *f;

        (void) snprintf(name, sizeof name, "%s/devices/%s/%s", sysfs, d->path, path);
        f = fopen(name, "w");
        if (!f)
                abort();
        (void) fputs(text, f);
        (void) fclose(f);
}

static int attribute_get(const Disk *d, const char *path) {
        char text[32];

        return attribute_read(text, sizeof text, "/sys/devices/%s/%s", d->path, path) < 0 ? -1 : atoi(text);
}

static int sysfs_remove_one(const char *path, _unused_ const struct stat *st, _unused_ int type,
                            _unused_ struct FTW *ftw) {
        return remove(path);
}

static void sysfs_remove(void) {
        (void) nftw(sysfs, sysfs_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void sysfs_make(void) {
        /* Uses a file system in memory if there is one. */
        (void) snprintf(sysfs, sizeof sysfs, "%s/drivekeep-fuzz-XXXXXX",
                        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        if (!mkdtemp(sysfs) || atexit(sysfs_remove) != 0)
                abort();
        FOREACH_DISK(d) {
                for (size_t i = 0; i < ELEMENTSOF(attributes); i++) {
                        char name[PATH_MAX];

                        (void) snprintf(name, sizeof name, "%s/devices/%s/%s", sysfs, d->path, attributes[i].path);
                        for (char *p = name + 1; (p = strchr(p, '/')); p++) {
                                *p = '\0';
                                (void) mkdir(name, 0755);
                                *p = '/';
                        }
                }
        }
}

static const char *moved(const char *path, char buf[static PATH_MAX]) {
        if (!starts_with(path, "/sys/"))
                return path;
        (void) snprintf(buf, PATH_MAX, "%s/%s", sysfs, path + strlen("/sys/"));
        return buf;
}

#define FORMATTED(path, format)                                    \
        do {                                                       \
                va_list _ap;                                       \
                                                                   \
                va_start(_ap, format);                             \
                (void) vsnprintf(path, sizeof(path), format, _ap); \
                va_end(_ap);                                       \
        } while (false)

int __real_attribute_read(char *buf, size_t size, const char *format, ...) _printf_(3, 4);
int __wrap_attribute_read(char *buf, size_t size, const char *format, ...) _printf_(3, 4);
int __wrap_attribute_read(char *buf, size_t size, const char *format, ...) {
        char path[PATH_MAX], place[PATH_MAX];

        FORMATTED(path, format);
        return __real_attribute_read(buf, size, "%s", moved(path, place));
}

int __real_attribute_glob(glob_t *ret, const char *format, ...) _printf_(2, 3);
int __wrap_attribute_glob(glob_t *ret, const char *format, ...) _printf_(2, 3);
int __wrap_attribute_glob(glob_t *ret, const char *format, ...) {
        char path[PATH_MAX], place[PATH_MAX];

        FORMATTED(path, format);
        return __real_attribute_glob(ret, "%s", moved(path, place));
}

bool __real_attribute_exists(const char *format, ...) _printf_(1, 2);
bool __wrap_attribute_exists(const char *format, ...) _printf_(1, 2);
bool __wrap_attribute_exists(const char *format, ...) {
        char path[PATH_MAX], place[PATH_MAX];

        FORMATTED(path, format);
        return __real_attribute_exists("%s", moved(path, place));
}

/* Returns true for the three drives that form an array. */
static bool in_array(const char *name) {
        return streq(name, "sda") || streq(name, "sdb") || streq(name, "sdd");
}

int __wrap_stack_group(const char *classdir, const char *btrfsdir, const char *name, char ***ret);
int __wrap_stack_group(_unused_ const char *classdir, _unused_ const char *btrfsdir, const char *name, char ***ret) {
        int r = 0;

        *ret = NULL;
        FOREACH_DISK(d) {
                if (r >= 0 && (streq(d->name, name) || (in_array(d->name) && in_array(name))))
                        r = names_add(ret, d->name);
        }
        return r < 0 ? r : 0;
}

int __wrap_stack_disks_below(const char *classdir, const char *name, char ***ret);
int __wrap_stack_disks_below(_unused_ const char *classdir, const char *name, char ***ret) {
        char **names = NULL;

        FOREACH_DISK(d) {
                if (streq(name, "md0") && in_array(d->name) && names_add(&names, d->name) < 0)
                        return -ENOMEM;
        }
        *ret = names;
        return 0;
}

/* ---- the kernel's view of the drives (in place of kernel-view.c) ---- */

int health_read(const char *syspath) {
        const Disk *d = disk_of(syspath);

        return d->present ? d->health : -ENODEV;
}

int health_parse(_unused_ const char *state) {
        return 1;
}

int activity_read(const char *syspath, uint64_t *ret) {
        const Disk *d = disk_of(syspath);

        *ret = d->used;
        return d->unreadable ? -ENOENT : 0;
}

int activity_commands(const char *syspath, uint64_t *ret) {
        const Disk *d = disk_of(syspath);

        *ret = d->commands;
        return d->unreadable || d->transport == TRANSPORT_NVME ? -ENOENT : 0;
}

bool activity_in_flight(const char *syspath) {
        return disk_of(syspath)->in_flight;
}

uint64_t activity_last_event(void) {
        return last_event;
}

bool activity_is_suspended(const char *syspath) {
        return disk_of(syspath)->suspended;
}

bool activity_is_suspending(const char *syspath __attribute__((unused))) {
        return false;
}

uint64_t activity_active_time(const char *syspath __attribute__((unused))) {
        return 0;
}

bool activity_is_stopped_by_suspend(const char *syspath __attribute__((unused))) {
        return false;
}

uint64_t activity_autosuspend_usec(const char *syspath __attribute__((unused))) {
        return 0;
}

uint64_t activity_spin_down_usec(const char *syspath __attribute__((unused))) {
        return UINT64_MAX;
}

LinkEvent link_last_event(const char *syspath, uint64_t *since) {
        const Disk *d = disk_of(syspath);
        LinkEvent news = d->news_at > *since ? d->news : LINK_UNCHANGED;

        *since = MAX(*since, d->news_at);
        return news;
}

bool link_is_recovering(const char *syspath) {
        return disk_of(syspath)->recovering;
}

static const char *forbidden_by; /* word on the kernel command line that forbids writes; NULL: none */

const char *kernel_command_line_forbids(_unused_ const char *path) {
        return forbidden_by;
}

static uint64_t boot;

int sd_id128_get_boot(sd_id128_t *ret) {
        *ret = (sd_id128_t){ .qwords = { 1, boot } };
        return 0;
}

/* ---- udev (in place of inventory.c) ---- */

static Drive *drive_of(const Disk *d) {
        Drive *drive = calloc(1, sizeof *drive);

        if (!drive)
                abort();
        *drive = (Drive){ .name = strdup(d->name),
                          .transport = d->transport,
                          .rotational = d->transport != TRANSPORT_NVME,
                          .ata = d->transport == TRANSPORT_SATA,
                          .plugged = true,
                          .diskseq = d->diskseq };
        if (asprintf(&drive->node, "/dev/%s", d->name) < 0 ||
            asprintf(&drive->syspath, "/sys/devices/%s", d->path) < 0 ||
            asprintf(&drive->model, "%s", d->transport == TRANSPORT_USB ? "Bridge" : "Disk") < 0 ||
            /* sde is another path to sdd, or a drive with the same serial number */
            asprintf(&drive->serial, "S%s%u", streq(d->name, "sde") ? "sdd" : d->name, d->serial) < 0)
                abort();
        if (in_array(d->name) && drive_add_link(drive, "/dev/md0", LINK_STACKED) < 0)
                abort();
        return drive;
}

int inventory_drive(struct udev_device *device, Drive **ret) {
        const Disk *d = (const Disk *) device;

        if (!d->present)
                return -ENODEV;
        *ret = drive_of(d);
        return 0;
}

int inventory_drive_by_name(const char *name, Drive **ret) {
        return inventory_drive((struct udev_device *) disk_find(name), ret);
}

int inventory_read(Inventory *ret) {
        ret->drives = calloc(ELEMENTSOF(disks), sizeof *ret->drives);
        if (!ret->drives)
                return -ENOMEM;
        ret->n_drives = 0;
        FOREACH_DISK(d) {
                if (d->present)
                        ret->drives[ret->n_drives++] = drive_of(d);
        }
        return 0;
}

void inventory_done(Inventory *i) {
        for (size_t k = 0; k < i->n_drives; k++)
                (void) drive_free(i->drives[k]);
        free(i->drives);
        *i = (Inventory){};
}

/* ---- PID 1 (in place of pid1.c) ---- */

static struct {
        unsigned checked; /* bit mask of the drives with a pending file system check: bit i stands for disks[i] */
        bool silent, broken, unsettled;

        FsckStatusFn answered;
        Pid1NewsFn news;
        void *userdata;
        bool queried;
} pid1;

const Pid1Ways pid1_ways;

int pid1_new(_unused_ sd_event *event, _unused_ Broker *broker, _unused_ const Pid1Ways *ways, FsckStatusFn answered,
             Pid1NewsFn news, void *userdata, Pid1 **ret) {
        pid1.answered = answered;
        pid1.news = news;
        pid1.userdata = userdata;
        pid1.queried = false;
        *ret = (Pid1 *) &pid1;
        return 0;
}

Pid1 *pid1_free(_unused_ Pid1 *p) {
        pid1.userdata = NULL;
        pid1.queried = false;
        return NULL;
}

void pid1_disconnect(_unused_ Pid1 *p) {
}

int pid1_query_fsck_status(_unused_ Pid1 *p, _unused_ char *const *device_units) {
        MUST(!pid1.queried, "PID 1 gets two queries at a time");
        if (pid1.broken)
                return -ECONNREFUSED;
        pid1.queried = true;
        return 0;
}

/* Replies to the open query. Returns false if no query is open. */
static bool pid1_answer(int error) {
        FsckUnit unit = { .name = (char *) "systemd-fsck@x.service" };
        FsckStatus s = { .units = &unit, .n_units = error >= 0 && pid1.checked };

        if (!pid1.queried)
                return false;
        pid1.queried = false;
        pid1.answered(pid1.userdata, error, &s);
        return true;
}

int fsck_devices_read(FsckDevices *d, const char *disk, _unused_ const Readiness *known) {
        d->items = calloc(1, sizeof *d->items);
        if (!d->items)
                return -ENOMEM;
        d->n_items = 1;
        d->items->name = strdup(disk);
        return 0;
}

void fsck_devices_done(FsckDevices *d) {
        if (d->items)
                free(d->items->name);
        free(d->items);
        *d = (FsckDevices){};
}

bool fsck_devices_settled(const FsckDevices *d, _unused_ const FsckStatus *s) {
        MUST(d->n_items == 1, "a drive is judged without a read of its devices");
        return !pid1.unsettled;
}

bool fsck_devices_covered(const FsckDevices *d, _unused_ const FsckStatus *s, _unused_ const FsckUnit *u) {
        MUST(d->n_items == 1, "a drive is judged without a read of its devices");
        return pid1.checked & 1U << (disk_find(d->items->name) - disks);
}

/* ---- storage ---- */

typedef struct Stored {
        char *name, *text;
} Stored;

static struct {
        Stored files[64];
        size_t n_files;
} run_files, var_files, writing; /* files in /run; files in /var; files passed to the process that writes notes */

static void stored_put(Stored *files, size_t *n, const char *name, char *text) {
        size_t i = 0;

        while (i < *n && !streq(files[i].name, name))
                i++;
        if (i == 64)
                abort();
        if (i == *n)
                files[(*n)++] = (Stored){ .name = strdup(name) };
        free(files[i].text);
        files[i].text = text;
}
#define STORE(where, name, text) stored_put((where).files, &(where).n_files, name, text)

static const char *stored_get(const Stored *files, size_t n, const char *name) {
        for (size_t i = 0; i < n; i++)
                if (streq(files[i].name, name))
                        return files[i].text;
        return NULL;
}
#define STORED(where, name) stored_get((where).files, (where).n_files, name)

static void stored_done(Stored *files, size_t *n) {
        for (size_t i = 0; i < *n; i++) {
                free(files[i].name);
                free(files[i].text);
        }
        *n = 0;
}
#define STORED_DONE(where) stored_done((where).files, &(where).n_files)

static bool run_full; /* true if /run has no space for state files */

int state_write(_unused_ const char *dir, const DriveRecord *record) {
        char *text;

        if (run_full)
                return -ENOSPC;
        if (drive_record_serialize(record, &text) < 0)
                return -ENOMEM;
        STORE(run_files, record->name, text);
        return 0;
}

int state_read(_unused_ const char *dir, const char *name, DriveRecord **ret) {
        const char *text = STORED(run_files, name);
        int r;

        if (!text)
                return -ENOENT;
        r = drive_record_parse(text, strlen(text), ret);
        MUST(r >= 0, "a state file written by the service cannot be read: %s\n%s", strerror(-r), text);
        return r;
}

int state_remove(_unused_ const char *dir, const char *name) {
        STORE(run_files, name, NULL);
        return 0;
}

int state_prune(_unused_ const char *dir, bool (*keep)(void *userdata, const char *name), void *userdata) {
        for (size_t i = 0; i < run_files.n_files; i++)
                if (run_files.files[i].name[0] != '.' && !keep(userdata, run_files.files[i].name))
                        STORE(run_files, run_files.files[i].name, NULL);
        return 0;
}

void state_notify(_unused_ const char *dir, _unused_ const char *news) {
}

/* The process that writes notes. It runs until notes_written(), or until the service ends. */
static struct {
        bool slow, unreadable;
        int error; /* exit status of the process; 0: success */
        bool no_process;
        sd_event_source *source; /* event source of the process, borrowed; NULL: no process runs */
        sd_event_child_handler_t handler;
        Guard *guard;
} notes;

int __real_record_file_read(int dir_fd, const char *name, size_t max, char **ret, size_t *ret_size);
int __wrap_record_file_read(int dir_fd, const char *name, size_t max, char **ret, size_t *ret_size);
int __wrap_record_file_read(_unused_ int dir_fd, const char *name, _unused_ size_t max, char **ret, size_t *ret_size) {
        bool temporary = starts_with(base_name(name), TEMPORARY_PREFIX);
        const char *text = temporary ? STORED(run_files, base_name(name)) : STORED(var_files, base_name(name));

        if (notes.unreadable && !temporary)
                return -EIO;
        if (!text)
                return -ENOENT;
        *ret = strdup(text);
        *ret_size = strlen(text);
        return 0;
}

/* Stores files of temporary values. A write of any other file fails. */
int __wrap_file_replace(int dir_fd, const char *name, const char *text, bool sync);
int __wrap_file_replace(_unused_ int dir_fd, const char *name, const char *text, _unused_ bool sync) {
        if (run_full || !starts_with(base_name(name), TEMPORARY_PREFIX))
                return -ENOSPC;
        STORE(run_files, base_name(name), strdup(text));
        return 0;
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path) {
        if (!starts_with(base_name(path), TEMPORARY_PREFIX))
                return __real_unlink(path);
        STORE(run_files, base_name(path), NULL);
        return 0;
}

char *__wrap_guarded_kept(const GuardedDrive *d);
char *__wrap_guarded_kept(const GuardedDrive *d) {
        char name[NAME_MAX + 1];
        const char *text;

        (void) snprintf(name, sizeof name, "drives/%s", d->note->record->key);
        text = STORED(var_files, name);
        return text ? strdup(text) : NULL;
}

pid_t __wrap_fork(void);
pid_t __wrap_fork(void) {
        if (notes.no_process) {
                errno = EAGAIN;
                return -1;
        }
        return 4242;
}

static int on_nothing(_unused_ sd_event_source *source, _unused_ void *userdata) {
        return 0;
}

/* Starts the process that writes notes: copies the files that the process will write. */
int __wrap_sd_event_add_child(sd_event *e, sd_event_source **ret, pid_t pid, int options,
                              sd_event_child_handler_t handler, void *userdata);
int __wrap_sd_event_add_child(sd_event *e, sd_event_source **ret, _unused_ pid_t pid, _unused_ int options,
                              sd_event_child_handler_t handler, void *userdata) {
        Guard *g = userdata;
        int r = sd_event_add_defer(e, ret, on_nothing, userdata);

        if (r < 0 || sd_event_source_set_enabled(*ret, SD_EVENT_OFF) < 0)
                abort();
        notes.source = *ret;
        notes.handler = handler;
        notes.guard = g;
        STORED_DONE(writing);
        for (const GuardNote *n = g->notes; n; n = n->next) {
                char *text = NULL, name[NAME_MAX + 1];

                if (!n->changed)
                        continue;
                if (!guard_record_is_empty(n->record) && guard_record_serialize(n->record, &text) < 0)
                        abort();
                STORE(writing, n->record->key, text);
                (void) snprintf(name, sizeof name, "drives/%s", n->record->key);
                if (n->kept)
                        STORE(writing, name, strdup(n->kept));
        }
        return 0;
}

static void notes_reach_storage(void) {
        for (size_t i = 0; i < writing.n_files; i++)
                STORE(var_files, writing.files[i].name, TAKE_PTR(writing.files[i].text));
}

/* Ends the process that writes notes. Returns false if no such process runs. */
static bool notes_written(void) {
        siginfo_t si = { .si_code = CLD_EXITED };
        sd_event_source *source = TAKE_PTR(notes.source);

        if (!source)
                return false;
        si.si_status = notes.error;
        if (!notes.error)
                notes_reach_storage();
        (void) notes.handler(source, &si, notes.guard);
        return true;
}

void __real_guard_flush(Guard *g, uint64_t until);
void __wrap_guard_flush(Guard *g, uint64_t until);
void __wrap_guard_flush(_unused_ Guard *g, _unused_ uint64_t until) {
        for (unsigned i = 0; i < 4 && notes_written(); i++)
                ;
}

/* ---- the journal ---- */

int journal_socket_send(_unused_ JournalSocket *j, const char *record) {
        const char *text = strstr(record, "MESSAGE=");

        log_step("    journal: %.*s\n", text ? (int) strcspn(text, "\n") : 0, text ?: "");
        return 0;
}

void journal_socket_attach(_unused_ JournalSocket *j, _unused_ sd_event *event) {
}

void journal_socket_finish(_unused_ JournalSocket *j, _unused_ unsigned ms) {
}

void journal_socket_done(_unused_ JournalSocket *j) {
}

/* ---- the tracer's end of its socket ---- */

static int tracer_fd = -EBADF;
static bool no_tracer;

int __wrap_unix_connect(const char *path, int type);
int __wrap_unix_connect(_unused_ const char *path, _unused_ int type) {
        int fds[2];

        if (no_tracer)
                return -ECONNREFUSED;
        closep(&tracer_fd);
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                abort();
        tracer_fd = fds[1];
        return fds[0];
}

int watch_drive_read(_unused_ const char *classdir, _unused_ const char *btrfsdir, const Drive *d, WatchDrive *ret) {
        const Disk *disk = disk_find(d->name);

        if (disk->transport == TRANSPORT_NVME)
                return -ENODEV;
        *ret = (WatchDrive){ .disk = { 8, (unsigned) (disk - disks) }, .host = (unsigned) (disk - disks) };
        return 0;
}

/* ---- boot ---- */

static void machine_reset(void) {
        now = (typeof(now)){ .runs = true, .monotonic = 1000 * SECOND, .realtime = 1700000000 * SECOND };
        last_event = 100;
        last_diskseq = ELEMENTSOF(disks);
        boot = 1;
        forbidden_by = NULL;
        pid1 = (typeof(pid1)){};
        notes = (typeof(notes)){};
        run_full = no_tracer = false;
        FOREACH_DISK(d) {
                *d = (Disk){ .name = d->name,
                             .path = d->path,
                             .transport = d->transport,
                             .present = !STR_IN_SET(d->name, "sde", "nvme0n2"),
                             .health = 1,
                             .diskseq = (uint64_t) (d - disks) + 1,
                             .model = MODEL_DRIVE_COLD,
                             .used = 10 };
                for (size_t i = 0; i < ELEMENTSOF(attributes); i++)
                        attribute_put(d, attributes[i].path, attributes[i].text);
        }
}

static void machine_done(void) {
        STORED_DONE(run_files);
        STORED_DONE(var_files);
        STORED_DONE(writing);
        closep(&tracer_fd);
        tracer_fd = -EBADF;
        now.runs = false;
}
