/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Runs the whole service in a simulated machine: files (below the scratch directory), clock, drives, udev, PID 1, logind, the kernel log,
 * D-Bus clients, workers and the tracer. The test passes each output of the service to simulator_emit() as a line of text. The simulator
 * replaces only the interfaces of the service, and does not depend on its internal structure. */

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-id128.h>
#include <time.h>

#include "bus.h"
#include "daemon.h"
#include "guard.h"
#include "inventory.h"
#include "journal-socket.h"
#include "manager.h"
#include "memory.h"
#include "monitor.h"
#include "pid1.h"
#include "debian-rule.h"
#include "link-watch.h"
#include "recheck.h"
#include "safe-file.h"
#include "sandbox.h"
#include "scratch.h"
#include "settings.h"
#include "sleep.h"
#include "state-file.h"
#include "suite.h"
#include "timer.h"
#include "tracer.h"
#include "worker-message.h"

#define SECOND 1000000LL
#define EMIT_MAX 1024

static void simulator_emit(const char *format, ...) _printf_(1, 2);

/* ---- files: paths of the service are redirected to the scratch directory ---- */

static bool in_world; /* true: paths lead to files of the simulated machine; false: to real files */

static const char *redirect(const char *path, char buf[static PATH_MAX]) {
        static const char *const trees[] = { "/sys", "/run", "/etc", "/var", "/usr/lib", "/lib", "/proc/cmdline" };

        for (size_t i = 0; in_world && i < ELEMENTSOF(trees); i++) {
                size_t n = strlen(trees[i]);

                if (strncmp(path, trees[i], n) == 0 && (path[n] == '/' || path[n] == '\0')) {
                        if (snprintf(buf, PATH_MAX, "%s%s", scratch, path) >= PATH_MAX)
                                ck_abort();
                        return buf;
                }
        }
        return path;
}

#define WRAP(type, name, ...)            \
        type __real_##name(__VA_ARGS__); \
        type __wrap_##name(__VA_ARGS__); \
        type __wrap_##name(__VA_ARGS__)

static mode_t mode_of(int flags, va_list ap) {
        return flags & O_CREAT ? va_arg(ap, mode_t) : 0;
}

WRAP(int, open64, const char *path, int flags, ...) {
        char buf[PATH_MAX];
        va_list ap;
        mode_t mode;

        va_start(ap, flags);
        mode = mode_of(flags, ap);
        va_end(ap);
        return __real_open64(redirect(path, buf), flags, mode);
}
static char lacking[PATH_MAX]; /* the next open of this file fails with ENOMEM; "": no open fails */

WRAP(int, openat64, int dir_fd, const char *path, int flags, ...) {
        char buf[PATH_MAX];
        va_list ap;
        mode_t mode;

        if (streq(path, lacking)) {
                lacking[0] = '\0';
                errno = ENOMEM;
                return -1;
        }

        va_start(ap, flags);
        mode = mode_of(flags, ap);
        va_end(ap);
        return __real_openat64(dir_fd, redirect(path, buf), flags, mode);
}
/* Variants of open64() and openat64() that the C library uses with _FORTIFY_SOURCE. */
WRAP(int, __open64_2, const char *path, int flags) {
        char buf[PATH_MAX];

        return __real___open64_2(redirect(path, buf), flags);
}
WRAP(int, __openat64_2, int dir_fd, const char *path, int flags) {
        char buf[PATH_MAX];

        return __real___openat64_2(dir_fd, redirect(path, buf), flags);
}
WRAP(int, stat64, const char *path, struct stat *st) {
        char buf[PATH_MAX];

        return __real_stat64(redirect(path, buf), st);
}
WRAP(int, lstat64, const char *path, struct stat *st) {
        char buf[PATH_MAX];

        return __real_lstat64(redirect(path, buf), st);
}
WRAP(int, access, const char *path, int mode) {
        char buf[PATH_MAX];

        return __real_access(redirect(path, buf), mode);
}
WRAP(int, glob64, const char *pattern, int flags, int (*error)(const char *path, int error), glob_t *ret) {
        char buf[PATH_MAX];

        return __real_glob64(redirect(pattern, buf), flags, error, ret);
}
/* Removes the scratch directory from a resolved path before the service gets the path. */
static char *strip_scratch(const char *path, char *found) {
        if (found && in_world && starts_with(found, scratch) && !starts_with(path, scratch))
                memmove(found, found + strlen(scratch), strlen(found + strlen(scratch)) + 1);
        return found;
}
WRAP(char *, realpath, const char *path, char *real) {
        char buf[PATH_MAX];

        return strip_scratch(path, __real_realpath(redirect(path, buf), real));
}
WRAP(char *, __realpath_chk, const char *path, char *real, size_t size) {
        char buf[PATH_MAX];

        return strip_scratch(path, __real___realpath_chk(redirect(path, buf), real, size));
}
WRAP(ssize_t, __readlink_chk, const char *path, char *target, size_t size, size_t room) {
        char buf[PATH_MAX];

        return __real___readlink_chk(redirect(path, buf), target, size, room);
}
WRAP(ssize_t, readlink, const char *path, char *target, size_t size) {
        char buf[PATH_MAX];

        return __real_readlink(redirect(path, buf), target, size);
}
WRAP(DIR *, opendir, const char *path) {
        char buf[PATH_MAX];

        return __real_opendir(redirect(path, buf));
}
WRAP(int, scandir64, const char *path, struct dirent ***ret, int (*filter)(const struct dirent *),
     int (*compare)(const struct dirent **, const struct dirent **)) {
        char buf[PATH_MAX];

        return __real_scandir64(redirect(path, buf), ret, filter, compare);
}
WRAP(int, unlink, const char *path) {
        char buf[PATH_MAX];

        return __real_unlink(redirect(path, buf));
}
WRAP(int, unlinkat, int dir_fd, const char *path, int flags) {
        char buf[PATH_MAX];

        return __real_unlinkat(dir_fd, redirect(path, buf), flags);
}
WRAP(int, renameat, int from_fd, const char *from, int to_fd, const char *to) {
        char from_buf[PATH_MAX], to_buf[PATH_MAX];

        return __real_renameat(from_fd, redirect(from, from_buf), to_fd, redirect(to, to_buf));
}
WRAP(int, mkdir, const char *path, mode_t mode) {
        char buf[PATH_MAX];

        return __real_mkdir(redirect(path, buf), mode);
}
WRAP(int, mknod, const char *path, mode_t mode, dev_t number) {
        char buf[PATH_MAX];

        return __real_mknod(redirect(path, buf), mode, number);
}
WRAP(int, chmod, const char *path, mode_t mode) {
        char buf[PATH_MAX];

        return __real_chmod(redirect(path, buf), mode);
}

static struct sockaddr_un redirect_address(const struct sockaddr *address) {
        struct sockaddr_un a = *(const struct sockaddr_un *) address;
        char buf[PATH_MAX];

        quick_assert(snprintf(a.sun_path, sizeof a.sun_path, "%s",
                              redirect(((const struct sockaddr_un *) address)->sun_path, buf)) <
                     (int) sizeof a.sun_path);
        return a;
}

WRAP(int, bind, int fd, const struct sockaddr *address, socklen_t size) {
        const struct sockaddr_un a = redirect_address(address);

        return __real_bind(fd, (const struct sockaddr *) &a, size);
}
WRAP(int, connect, int fd, const struct sockaddr *address, socklen_t size) {
        const struct sockaddr_un a = redirect_address(address);

        return __real_connect(fd, (const struct sockaddr *) &a, size);
}
/* fsync() blocks until this file is removed. */
#define STORAGE_STUCK "/run/storage-stuck"

static bool storage_is_stuck(void) {
        char buf[PATH_MAX];

        return in_world && __real_access(redirect(STORAGE_STUCK, buf), F_OK) == 0;
}

WRAP(int, fsync, int fd) {
        while (storage_is_stuck())
                (void) usleep(1000);
        return fd < 0 ? -1 : 0;
}

/* Writes below this directory fail with ENOSPC; NULL: no write fails. */
static const char *full;

WRAP(int, file_replace, int dir_fd, const char *name, const char *text, bool sync) {
        if (full && (dir_fd == AT_FDCWD ? starts_with(name, full) : streq(full, GUARD_DIR)))
                return -ENOSPC;
        return __real_file_replace(dir_fd, name, text, sync);
}

static unsigned no_memory_at; /* 1: the next allocation by the service fails; 0: no allocation fails */
static bool is_serving;       /* true while the service runs, false while the test runs */

WRAP(void *, malloc, size_t size) {
        if (is_serving && no_memory_at > 0 && --no_memory_at == 0)
                return NULL;
        return __real_malloc(size);
}

static void world_write(const char *path, const char *text) {
        char buf[PATH_MAX];
        FILE *f;

        path = redirect(path, buf);
        f = fopen(path, "we");
        if (!f) {
                make_parents(path);
                f = fopen(path, "we");
        }
        quick_assert(f);
        fputs(text, f);
        quick_assert(fclose(f) == 0);
}

static void world_link(const char *path, const char *target) {
        char buf[PATH_MAX];

        path = redirect(path, buf);
        make_parents(path);
        quick_assert(symlink(target, path) == 0 || errno == EEXIST);
}

static void world_remove(const char *path) {
        char buf[PATH_MAX];

        tree_remove(redirect(path, buf));
}

/* ---- the clock ---- */

#define MONOTONIC_START (1000 * SECOND)
#define REALTIME_START (1767225600 * SECOND) /* 2026-01-01 00:00 UTC */

static int64_t passed_usec; /* simulated time since the script began, µs */
static int64_t slept;       /* time that the machine has spent in suspend, µs */
static struct {
        int fd;
        int64_t due; /* time of expiry, CLOCK_MONOTONIC, µs; INT64_MAX: the timer is off */
} alarms[8];

int clock_gettime(clockid_t clock, struct timespec *ts) {
        int64_t usec;

        if (!in_world)
                return (int) syscall(SYS_clock_gettime, clock, ts);
        usec = passed_usec + (clock == CLOCK_REALTIME   ? REALTIME_START + slept
                              : clock == CLOCK_BOOTTIME ? MONOTONIC_START + slept
                                                        : MONOTONIC_START);
        *ts = (struct timespec){ .tv_sec = usec / SECOND, .tv_nsec = usec % SECOND * 1000 };
        return 0;
}

/* The timers of the event loop expire in simulated time (world_pass_until()). */
int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old) {
        size_t i = 0;

        if (!in_world)
                return (int) syscall(SYS_timerfd_settime, fd, flags, new, old);
        while (alarms[i].fd > 0 && alarms[i].fd != fd)
                i++;
        alarms[i].fd = fd;
        alarms[i].due = new->it_value.tv_sec *SECOND + new->it_value.tv_nsec / 1000;
        if (alarms[i].due == 0)
                alarms[i].due = INT64_MAX;
        return 0;
}

/* Before the service ends, it waits in poll() until its notes are written. While fsync() blocks, poll() only advances the
 * simulated time. */
WRAP(int, poll, struct pollfd *fds, nfds_t n, int timeout_ms) {
        if (!storage_is_stuck())
                return __real_poll(fds, n, timeout_ms);
        passed_usec += timeout_ms * 1000LL;
        return 0;
}

static int timer_error;

/* Ignores the accuracy, so that timers expire exactly. */
WRAP(int, timer_start, sd_event *event, sd_event_source **timer, uint64_t usec, _unused_ uint64_t accuracy_usec,
     sd_event_time_handler_t handler, void *userdata) {
        return timer_error < 0 ? timer_error : __real_timer_start(event, timer, usec, 1, handler, userdata);
}

/* Returns the value of passed_usec at which the next timer of the service expires; INT64_MAX: no timer is active. */
static int64_t world_due(void) {
        int64_t due = INT64_MAX;

        for (size_t i = 0; alarms[i].fd > 0; i++)
                due = MIN(due, alarms[i].due);
        return due == INT64_MAX ? due : due - MONOTONIC_START;
}

/* ---- boots ---- */

static unsigned boot; /* number of the current boot */

int sd_id128_get_boot(sd_id128_t *ret) {
        *ret = (sd_id128_t){ .bytes = { 1, (uint8_t) boot } };
        return 0;
}

/* ---- drives in sysfs and in the udev database ---- */

typedef struct Disk {
        char name[32], transport[16];
        char syspath[256];
        char model[41], serial[41], wwn[41];
        char links[4][64];
        unsigned n_links, number;
        bool flash, removable, absent, unready, unidentified, failed;
        uint64_t diskseq;
} Disk;

static Disk disks[1024];
static unsigned n_disks;
static bool inventory_fails;

static Disk *disk_find(const char *name) {
        for (unsigned i = 0; i < n_disks; i++)
                if (streq(disks[i].name, name))
                        return disks + i;
        return NULL;
}

static Drive *disk_drive(const Disk *disk) {
        Drive *d = calloc(1, sizeof *d);

        quick_assert(d);
        *d = (Drive){
                .name = strdup(disk->name),
                .syspath = strdup(disk->syspath),
                .model = *disk->model ? strdup(disk->model) : NULL,
                .serial = *disk->serial ? strdup(disk->serial) : NULL,
                .wwn = *disk->wwn ? strdup(disk->wwn) : NULL,
                .transport = transport_from_string(disk->transport),
                .rotational = !disk->flash,
                .removable = disk->removable,
                .diskseq = disk->diskseq,
                .plugged = !disk->failed,
        };
        d->ata = d->transport == TRANSPORT_SATA;
        d->identified = d->ata && !disk->unidentified;
        if (disk->failed)
                quick_assert(drive_add_property(d, "UDEV_WORKER_FAILED", "1") >= 0);
        quick_assert(asprintf(&d->node, "/dev/%s", disk->name) >= 0);
        quick_assert(drive_add_link(d, d->node, LINK_OWN) >= 0);
        for (unsigned i = 0; i < disk->n_links; i++) {
                const char *link = disk->links[i];
                LinkVia via = *link == '+' ? LINK_STACKED : *link == '-' ? LINK_PARTITION : LINK_OWN;

                quick_assert(drive_add_link(d, link + (via != LINK_OWN), via) >= 0);
        }
        return d;
}

int inventory_drive(struct udev_device *device, Drive **ret) {
        if (inventory_fails)
                return -ENOMEM;
        *ret = disk_drive((const Disk *) device);
        return 0;
}

int inventory_drive_by_name(const char *name, Drive **ret) {
        const Disk *disk = disk_find(name);

        if (!disk || disk->absent)
                return -ENODEV;
        *ret = disk_drive(disk);
        return 0;
}

int inventory_read(Inventory *ret) {
        if (inventory_fails)
                return -EIO;
        ret->drives = calloc(n_disks + 1, sizeof *ret->drives);
        quick_assert(ret->drives);
        ret->n_drives = 0;
        for (unsigned i = 0; i < n_disks; i++)
                if (!disks[i].absent)
                        ret->drives[ret->n_drives++] = disk_drive(disks + i);
        return 0;
}

void inventory_done(Inventory *i) {
        for (size_t k = 0; k < i->n_drives; k++)
                (void) drive_free(i->drives[k]);
        free(i->drives);
}

int inventory_readiness(const char *name, Readiness *ret) {
        const Disk *disk = disk_find(name);

        if (disk && disk->absent)
                return -ENODEV;
        *ret = (Readiness){ .initialized = !disk || !disk->unready, .ready = true, .plugged = true };
        return 0;
}

/* ---- udev events ---- */

static Manager *udev_manager;
static DebianRule udev_rule;
static const MonitorEvents *udev_events;
static void *udev_userdata;
static unsigned n_caught_up;

int monitor_new(sd_event *event, _unused_ const MonitorSource *source, Manager *m, const MonitorEvents *events,
                void *userdata, Monitor **ret) {
        udev_manager = m;
        udev_rule = (DebianRule){ .event = event, .manager = m };
        udev_events = events;
        udev_userdata = userdata;
        *ret = NULL;
        return 0;
}
Monitor *monitor_free(_unused_ Monitor *m) {
        debian_rule_done(&udev_rule);
        return NULL;
}
void monitor_settle(_unused_ Monitor *m) {
        n_caught_up++;
}

/* ---- logind ---- */

static const SleepEvents *logind_events;
static void *logind_userdata;
static bool logind_waits; /* true while the service holds an inhibitor */

const SleepWorld sleep_world;
int sleep_new(_unused_ sd_event *event, _unused_ Broker *broker, _unused_ const SleepWorld *world,
              const SleepEvents *events, void *userdata, Sleep **ret) {
        logind_events = events;
        logind_userdata = userdata;
        *ret = NULL;
        return 0;
}
Sleep *sleep_free(_unused_ Sleep *s) {
        return NULL;
}
void sleep_bus_connected(_unused_ Sleep *s, _unused_ sd_bus *bus) {
}
void sleep_bus_lost(_unused_ Sleep *s) {
}
void sleep_writing(_unused_ Sleep *s) {
        logind_waits = true;
}
void sleep_ready(_unused_ Sleep *s) {
        simulator_emit("no command is under way: the suspend may begin");
}

/* ---- PID 1 ---- */

static FsckStatusFn pid1_answered;
static Pid1NewsFn pid1_news;
static void *pid1_userdata;
static int pid1_error;
static bool pid1_queried, pid1_silent;
static char pid1_lacks[64]; /* name of a device unit that is not active; "": none */
static struct { char name[64], sysname[32]; } checks[8];
static unsigned n_checks;

WRAP(int, pid1_new, _unused_ sd_event *event, _unused_ Broker *broker, _unused_ const Pid1Ways *ways,
     FsckStatusFn answered, Pid1NewsFn news, void *userdata, Pid1 **ret) {
        pid1_answered = answered;
        pid1_news = news;
        pid1_userdata = userdata;
        *ret = (Pid1 *) checks;
        return 0;
}
WRAP(Pid1 *, pid1_free, _unused_ Pid1 *p) {
        return NULL;
}
WRAP(void, pid1_disconnect, _unused_ Pid1 *p) {
}
WRAP(int, pid1_query_fsck_status, _unused_ Pid1 *p, _unused_ char *const *device_units) {
        quick_assert(!pid1_queried);
        pid1_queried = true;
        return 0;
}

static void pid1_answer(void) {
        char *inactive[] = { *pid1_lacks ? pid1_lacks : NULL, NULL };
        FsckUnit units[ELEMENTSOF(checks)] = {};
        const FsckStatus status = { .units = units, .n_units = pid1_error < 0 ? 0 : n_checks, .inactive = inactive };

        for (unsigned i = 0; i < n_checks; i++)
                units[i] = (FsckUnit){ .name = checks[i].name,
                                       .sysname = streq(checks[i].sysname, "root") ? NULL : checks[i].sysname,
                                       .root = streq(checks[i].sysname, "root") };
        pid1_queried = false;
        pid1_answered(pid1_userdata, pid1_error, &status);
}

/* ---- the kernel log ---- */

static int kmsg[2] = { -1, -1 }; /* a socket pair in the place of /dev/kmsg; kmsg[0] is the service's end */
static struct {
        bool closed;    /* true if standard input of the service is closed */
        mode_t type;    /* file type of standard input; 0: a character device */
        dev_t number;   /* device number of standard input */
        int seek_error; /* > 0: errno of the seek to the end */
        int read_error; /* > 0: errno of the next read */
} kmsg_state;

WRAP(int, fstat64, int fd, struct stat *st) {
        int r = __real_fstat64(fd, st);

        if (r == 0 && in_world && fd == kmsg[0]) {
                st->st_mode = (kmsg_state.type ?: S_IFCHR) | 0600;
                st->st_rdev = kmsg_state.number;
        }
        return r;
}
WRAP(off_t, lseek64, int fd, off_t offset, int whence) {
        char byte;

        if (!in_world || fd != kmsg[0])
                return __real_lseek64(fd, offset, whence);
        quick_assert(offset == 0 && whence == SEEK_END);
        while (recv(fd, &byte, 1, MSG_DONTWAIT) >= 0)
                ;
        errno = kmsg_state.seek_error;
        return errno > 0 ? -1 : 0;
}
/* Returns one whole record per read. The descriptor must be nonblocking, since the service must not wait for a record. */
WRAP(ssize_t, read, int fd, void *buf, size_t size) {
        if (!in_world || fd != kmsg[0])
                return __real_read(fd, buf, size);
        quick_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
        errno = kmsg_state.read_error ?: EINVAL;
        if (kmsg_state.read_error > 0 || recv(fd, buf, size, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT) > (ssize_t) size) {
                kmsg_state.read_error = 0;
                return -1;
        }
        return __real_read(fd, buf, size);
}
WRAP(ssize_t, __read_chk, int fd, void *buf, size_t size, _unused_ size_t room) {
        return __wrap_read(fd, buf, size);
}
WRAP(int, link_watch_new, sd_event *event, Manager *m, _unused_ int fd, LinkWatch **ret) {
        return __real_link_watch_new(event, m, kmsg_state.closed ? -1 : kmsg[0], ret);
}

/* ---- other calls of the service ---- */

WRAP(void, bus_connect, _unused_ Bus *b, _unused_ const char *address, _unused_ Sleep *sleep) {
}
WRAP(bool, sandbox_lacks_landlock, void) {
        return false;
}
static unsigned n_trims;

WRAP(void, memory_trim, void) {
        n_trims++;
}

static char notified[256]; /* the service's status text, which `systemctl status` would show */

WRAP(int, sd_notifyf, _unused_ int unset, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(notified, sizeof notified, format, ap);
        va_end(ap);
        return 1;
}

/* ---- the journal ---- */

WRAP(int, journal_socket_send, _unused_ JournalSocket *j, const char *record) {
        static const char *const words[] = { "emerg", "alert", "crit", "error", "warning", "notice", "info", "debug" };
        const char *priority = strstr(record, "PRIORITY="), *message = strstr(record, "\nMESSAGE=");

        quick_assert(priority && message);
        message += strlen("\nMESSAGE=");
        simulator_emit("journal %s: %.*s", words[priority[strlen("PRIORITY=")] - '0'], (int) strcspn(message, "\n"),
                       message);
        return 0;
}

/* ---- the broker, and workers ---- */

typedef struct Worker {
        char drive[32];
        int fd; /* < 0: there is no worker */
        void *request;
        VisitRequest *parsed;
        bool reported[64];
} Worker;

static Worker workers[1024];
static size_t n_workers; /* largest number of workers that ran at the same time */
static int broker_error;
static char broker_fails_for[32]; /* drive to which broker_error is limited; "": all drives */

static Worker *worker_find(const char *drive) {
        for (size_t i = 0; i < n_workers; i++)
                if (workers[i].fd > 0 && streq(workers[i].drive, drive))
                        return workers + i;
        return NULL;
}

static void worker_close(Worker *w) {
        (void) close(w->fd);
        w->fd = -1;
        free(w->request);
        free(w->parsed);
        w->request = w->parsed = NULL;
}

static size_t append(char *text, size_t size, const char *format, ...) _printf_(3, 4);
static size_t append(char *text, size_t size, const char *format, ...) {
        size_t n = strlen(text);
        va_list ap;

        va_start(ap, format);
        n += vsnprintf(text + n, size - n, format, ap);
        va_end(ap);
        quick_assert(n < size);
        return n;
}

static void append_known(char *text, const char *word, const ValueRange *range, const Value *like, KnownNumber n) {
        char value[VALUE_TEXT_MAX];

        if (n.known)
                (void) append(text, EMIT_MAX, ", %s %s", word,
                              value_format(range, &(Value){ .type = like->type, .number = n.number }, value));
}

/* Emits the request to a worker as one line. */
static void emit_request(const Worker *w) {
        const Visit *v = &w->parsed->visit;
        bool settings = v->work & WORK_SETTINGS;
        const struct {
                const char *word;
                bool is_set;
        } flags[] = {
                { "permanent", v->work & WORK_PERMANENT },
                { "active", v->active },
                { "no-spin-up", settings && !(v->work & WORK_WAKE) },
                { "ata-sleep", v->ata_sleep },
                { "read-only", settings && !(v->work & (WORK_WRITE_KERNEL | WORK_WRITE)) },
                { "probe", v->work & (WORK_POWER | WORK_WEAR) },
                { "spin-up", v->work & WORK_SPIN_UP },
                { "read-wear", v->work & WORK_WEAR },
                { "rewrite", v->work & WORK_REWRITE },
                { "bridge-known", v->bridge->queried },
                { "fragile", v->bridge->fragile },
        };
        char text[EMIT_MAX] = "";
        bool first = true;

        for (size_t i = 0; i < v->wishes->n_items; i++) {
                const Wish *wish = v->wishes->items + i;
                const Memory *m = v->memories + i;
                const Setting *s = setting_for_backends(&all_settings, wish->name, drive_backends(v->drive))
                                                   ?: setting_find(&all_settings, wish->name);
                char value[VALUE_TEXT_MAX], known[EMIT_MAX] = "";

                (void) append(text, sizeof text, " %s=%s", wish->name,
                              wish->withheld ? "withheld" : value_format(&s->range, &wish->value, value));
                append_known(known, "sent", &s->range, &wish->value, m->sent);
                append_known(known, "settled", &s->range, &wish->value, m->settled);
                append_known(known, "read", &s->range, &wish->value, m->read);
                if (*m->overruled)
                        (void) append(known, sizeof known, ", overruled: %s", m->overruled);
                if (*m->quarantined)
                        (void) append(known, sizeof known, ", quarantined: %s", m->quarantined);
                if (*known)
                        (void) append(text, sizeof text, " (%s)", known + 2);
        }
        for (size_t i = 0; i < ELEMENTSOF(flags); i++)
                if (flags[i].is_set) {
                        (void) append(text, sizeof text, "%s%s", first ? " | " : ", ", flags[i].word);
                        first = false;
                }
        simulator_emit("request %s:%s", w->drive, text);
}

/* Starts a simulated worker, and receives the worker's request. */
int broker_fork(_unused_ Broker *b, BrokerChild child, int fd) {
        Worker *w = workers;
        ssize_t n;

        quick_assert(child == BROKER_WORKER);
        /* The service must hold logind's sleep inhibitor before a worker writes to a drive. */
        quick_assert(logind_waits);
        if (broker_error < 0 && !*broker_fails_for)
                return broker_error;
        while (w->fd > 0)
                w++;
        quick_assert(w < workers + ELEMENTSOF(workers));
        n_workers = MAX(n_workers, (size_t) (w - workers) + 1);
        *w = (Worker){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3),
                       .request = malloc(VISIT_REQUEST_MAX_BYTES),
                       .parsed = malloc(sizeof *w->parsed) };
        quick_assert(w->fd >= 0 && w->request && w->parsed);
        n = recv(w->fd, w->request, VISIT_REQUEST_MAX_BYTES, 0);
        quick_assert(n > 0);
        quick_assert(visit_request_parse(w->request, n, &all_settings, w->parsed) == 0);
        (void) strcpy(w->drive, w->parsed->visit.drive->name);
        if (broker_error < 0 && streq(w->drive, broker_fails_for)) {
                worker_close(w);
                return broker_error;
        }
        emit_request(w);
        return 0;
}

static void worker_send_message(const Worker *w, const WorkerMessage *m) {
        uint8_t message[WORKER_MESSAGE_MAX_BYTES];
        size_t size = worker_message_write(m, message);

        quick_assert(send(w->fd, message, size, MSG_NOSIGNAL) == (ssize_t) size);
}

static bool workers_receive(void) {
        static const char *const orders[] = { "go", "unguarded", "stop" };
        bool heard = false;

        for (size_t i = 0; i < n_workers; i++) {
                Worker *w = workers + i;
                WorkerOrder order;
                ssize_t n = w->fd > 0 ? recv(w->fd, &order, sizeof order, MSG_DONTWAIT) : -1;

                if (n == sizeof order)
                        simulator_emit("order %s: %s", w->drive, orders[order]);
                else if (n == 0) {
                        simulator_emit("order %s: end", w->drive);
                        worker_close(w);
                }
                heard = heard || n >= 0;
        }
        return heard;
}

/* ---- the tracer ---- */

static int tracer_listener = -1, tracer_fd = -1;
static bool tracer_watches; /* true if the last request to the tracer was to watch a drive in standby */

static void tracer_listen(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = TRACER_SOCKET };

        tracer_listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        quick_assert(tracer_listener >= 0);
        quick_assert(bind(tracer_listener, (const struct sockaddr *) &address, sizeof address) == 0);
        quick_assert(listen(tracer_listener, 1) == 0);
}

static void tracer_close_fd(int *fd) {
        if (*fd >= 0)
                (void) close(*fd);
        *fd = -1;
}

static bool tracer_receive(void) {
        char text[256] = "";
        TracerRequest q = {};
        int r;

        if (tracer_fd < 0 && tracer_listener >= 0)
                tracer_fd = accept4(tracer_listener, NULL, NULL, SOCK_CLOEXEC);
        if (tracer_fd < 0)
                return false;
        r = wire_receive(tracer_fd, tracer_request_fields, &q, MSG_DONTWAIT);
        if (r < 0) {
                quick_assert(r != -EBADMSG);
                return false;
        }
        if (r == 0) {
                tracer_close_fd(&tracer_fd);
                return true;
        }
        tracer_watches = q.watch && !q.active;
        if (q.watch)
                (void) append(text, sizeof text, " at %u:%u:%u:%" PRIu64, q.drive.host, q.drive.channel, q.drive.id,
                              q.drive.lun);
        for (unsigned i = 0; q.watch && i < q.drive.n_above; i++)
                (void) append(text, sizeof text, " below %u:%u", q.drive.above[i].major, q.drive.above[i].minor);
        simulator_emit("%s %u:%u%s",
                       q.watch    ? q.active ? "watch active" : "watch"
                       : q.active ? "report"
                                  : "unwatch",
                       q.drive.disk.major, q.drive.disk.minor, text);
        return true;
}

static void tracer_send(const TracerAnswer *a) {
        quick_assert(tracer_fd >= 0);
        quick_assert(wire_send(tracer_fd, tracer_answer_fields, a, 0) == 0);
}

/* ---- the service ---- */

static sd_event *event;
static Daemon *service;

/* Runs the service until no event is pending. Also waits for the child processes that write the service's notes. */
static void world_run(void) {
        while (service) {
                siginfo_t si = {};
                bool received;
                int r;

                is_serving = true;
                r = sd_event_run(event, 0);
                is_serving = false;
                received = workers_receive();

                if (tracer_receive() || received || r > 0)
                        continue;
                if (sd_event_get_state(event) == SD_EVENT_FINISHED) {
                        int code;

                        quick_assert(sd_event_get_exit_code(event, &code) >= 0);
                        service = daemon_free(service);
                        memset(alarms, 0, sizeof alarms);
                        simulator_emit("the service ends: %s", code < 0 ? strerrorname_np(-code) : "well");
                        return;
                }
                if (r < 0)
                        ck_abort();
                if (pid1_queried && !pid1_silent) {
                        pid1_answer();
                        continue;
                }
                if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) < 0 || (storage_is_stuck() && si.si_pid == 0))
                        return;
                quick_assert(sd_event_run(event, UINT64_MAX) >= 0);
        }
}

/* Runs the service until the time `until`. Timers that are due earlier expire at their own time. */
static void world_pass_until(int64_t until) {
        world_run();
        for (int64_t due; (due = world_due()) <= until;) {
                passed_usec = MAX(passed_usec, due);
                world_run();
        }
        passed_usec = MAX(passed_usec, until);
        world_run();
}

static int world_start(void) {
        sigset_t mask;
        int r;

        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGTERM);
        (void) sigaddset(&mask, SIGINT);
        (void) sigaddset(&mask, SIGHUP);
        (void) sigaddset(&mask, SIGCHLD);
        quick_assert(sigprocmask(SIG_BLOCK, &mask, NULL) == 0);
        memset(alarms, 0, sizeof alarms);
        event = sd_event_unref(event);
        quick_assert(sd_event_new(&event) == 0);
        r = daemon_new(event, NULL, &service);
        world_run();
        return r;
}

static void storage_go_on(void) {
        char buf[PATH_MAX];

        (void) __real_unlink(redirect(STORAGE_STUCK, buf));
}

static void world_stop(void) {
        service = daemon_free(service);
        event = sd_event_unref(event);
        storage_go_on();
        while (waitpid(-1, NULL, 0) > 0)
                ;
        for (size_t i = 0; i < ELEMENTSOF(workers); i++)
                if (workers[i].fd > 0)
                        worker_close(workers + i);
        tracer_close_fd(&tracer_fd);
        memset(alarms, 0, sizeof alarms);
        pid1_queried = logind_waits = false;
}

static int source = -1; /* descriptor of the test's initial working directory */

static void world_setup(void) {
        source = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        /* The scratch directory is on a tmpfs, since replacing state files on a disk would take most of the time. */
        if (access("/dev/shm", W_OK) == 0)
                (void) strcpy(scratch, "/dev/shm/dk-test-XXXXXX");
        scratch_make();
        in_world = true;
        world_write("/proc/cmdline", "root=/dev/sdz1\n");
        world_write("/sys/kernel/uevent_seqnum", "100\n");
        world_write("/sys/class/block/empty", "");
        world_write("/run/drivekeep/drives/.changed", "");
        world_write("/run/systemd/none", "");
        world_write("/etc/drivekeep/none", "");
        world_write("/var/lib/drivekeep/none", "");
        tracer_listen();
        quick_assert(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, kmsg) == 0);
        kmsg_state = (typeof(kmsg_state)){ .number = makedev(1, 11) };
}

/* Restores the state in which the test started. */
static void world_teardown(void) {
        world_stop();
        tracer_close_fd(&tracer_listener);
        (void) close(kmsg[0]);
        (void) close(kmsg[1]);
        in_world = inventory_fails = pid1_silent = false;
        n_disks = n_checks = n_caught_up = n_trims = 0;
        passed_usec = slept = 0;
        boot = no_memory_at = 0;
        lacking[0] = broker_fails_for[0] = '\0';
        broker_error = pid1_error = timer_error = 0;
        full = NULL;
        pid1_lacks[0] = '\0';
        quick_assert(fchdir(source) == 0);
        closep(&source);
        scratch_remove();
}
