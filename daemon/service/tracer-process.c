/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <syslog.h>

#include "drive-command.h"
#include "inventory.h"
#include "journal.h"
#include "sandbox.h"
#include "tracer.h"
#include "wake-count.h"
#include "watch-read.h"
#include "wire.h"

/* The size of the trace buffer per processor. A small buffer is sufficient: a drive in standby has few events, and if
 * an event is lost, only a waker stays unknown, or a use of an active drive is not counted. */
#define BUFFER_KB 16
/* The kernel's limit for the text of a filter, including the NUL (event_filter_write()). */
#define FILTER_MAX 4096U
#define LINE_MAX_BYTES 512U

/* `other`: the event's name in kernels before 5.18. `optional`: tracing works without this event, but some wakers stay unknown. */
static const struct {
        const char *name, *other;
        TraceKind kind;
        bool optional;
} events[] = {
        { "block/block_bio_queue", NULL, TRACE_BIO },
        { "scsi/scsi_dispatch_cmd_start", NULL, TRACE_COMMAND },
        { "rpm/rpm_resume", NULL, TRACE_RESUME, .optional = true },
        { "writeback/writeback_dirty_folio", "writeback/writeback_dirty_page", TRACE_DIRTY, .optional = true },
        { "writeback/writeback_mark_inode_dirty", NULL, TRACE_DIRTY, .optional = true },
};

typedef struct Trace {
        const char *instance;
        int manager, pipe; /* `pipe`: descriptor of trace_pipe; < 0: tracing has not started */
        Watch watches[TRACER_DRIVES_MAX];
        unsigned n_watches;
        char line[LINE_MAX_BYTES];
        size_t line_len; /* length of the incomplete line; LINE_MAX_BYTES: the line is too long and is skipped */
} Trace;

/* ---- tracefs ---- */

_printf_(3, 4) static int trace_write(const Trace *t, const char *text, const char *format, ...) {
        _cleanup_close_ int fd = -EBADF;
        char path[512];
        va_list ap;
        int n;

        n = snprintf(path, sizeof path, "%s/", t->instance);
        va_start(ap, format);
        (void) vsnprintf(path + n, sizeof path - n, format, ap);
        va_end(ap);

        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                return -errno;
        return 0;
}

static int trace_write_event(const Trace *t, size_t event, const char *file, const char *text) {
        int r;

        r = trace_write(t, text, "events/%s/%s", events[event].name, file);
        return r == -ENOENT && events[event].other ? trace_write(t, text, "events/%s/%s", events[event].other, file)
                                                   : r;
}

/* Opens the tracefs instance. Returns -ENODEV if the unit could not create the instance. */
static int trace_open(Trace *t) {
        char path[512], size[16];
        int r;

        if (access(t->instance, F_OK) < 0)
                return errno == ENOENT ? -ENODEV : -errno;

        (void) snprintf(size, sizeof size, "%d", BUFFER_KB);
        r = trace_write(t, size, "buffer_size_kb");
        if (r < 0)
                return r;

        (void) snprintf(path, sizeof path, "%s/trace_pipe", t->instance);
        t->pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        return t->pipe < 0 ? -errno : 0;
}

/* ---- filters ---- */

typedef struct Filter {
        char text[FILTER_MAX];
        size_t len;
} Filter;

/* Adds a condition to the filter, joined by "||". Returns false if there is no room. */
_printf_(2, 3) static bool filter_add(Filter *f, const char *format, ...) {
        size_t start = f->len;
        va_list ap;
        int n;

        if (start > 0)
                start += snprintf(f->text + start, sizeof f->text - start, "||");
        va_start(ap, format);
        n = start < sizeof f->text ? vsnprintf(f->text + start, sizeof f->text - start, format, ap) : -1;
        va_end(ap);
        if (n < 0 || start + n >= sizeof f->text) {
                f->text[f->len] = '\0';
                return false;
        }
        f->len = start + n;
        return true;
}

/* Adds a condition for a block device. The kernel's device numbers have 20 bits for the minor number, unlike those of
 * the C library. */
static bool filter_add_device(Filter *f, TraceKind kind, WatchDevice d) {
        if (d.major == WATCH_BTRFS)
                return kind == TRACE_BIO || filter_add(f, "name==\"btrfs-%u\"", d.minor);
        if (kind == TRACE_BIO)
                return filter_add(f, "dev==%u", d.major << 20 | d.minor);
        return filter_add(f, "name==\"%u:%u\"", d.major, d.minor);
}

static bool filter_add_drive(Filter *f, TraceKind kind, const WatchDrive *d) {
        if (kind == TRACE_COMMAND)
                return filter_add(f, "(host_no==%u&&channel==%u&&id==%u&&lun==%" PRIu64 ")", d->host, d->channel, d->id,
                                  d->lun);
        if (kind == TRACE_RESUME)
                return filter_add(f, "name==\"%u:%u:%u:%" PRIu64 "\"", d->host, d->channel, d->id, d->lun);
        return filter_add_device(f, kind, d->disk);
}

static int trace_filter(const Trace *t, size_t event) {
        TraceKind kind = events[event].kind;
        Filter f = {};
        bool room = true;

        for (unsigned i = 0; i < t->n_watches; i++) {
                const WatchDrive *d = &t->watches[i].drive;

                room = filter_add_drive(&f, kind, d) && room;
        }
        /* A device that is stacked on a drive may find no room in the filter. The waker is then possibly reported as a
         * kernel thread. */
        for (unsigned i = 0; i < t->n_watches && kind != TRACE_COMMAND && kind != TRACE_RESUME; i++)
                for (unsigned k = 0; k < t->watches[i].drive.n_above; k++)
                        (void) filter_add_device(&f, kind, t->watches[i].drive.above[k]);

        return room ? trace_write_event(t, event, "filter", f.text) : -ENOSPC;
}

/* Enables the events, filtered for the watched drives. Returns -ENOSYS if the kernel lacks a required event. */
static int trace_adapt(const Trace *t) {
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(events) && r >= 0; i++) {
                r = t->n_watches > 0 ? trace_filter(t, i) : 0;
                if (r >= 0)
                        r = trace_write_event(t, i, "enable", t->n_watches > 0 ? "1" : "0");
                if (r != -ENOENT)
                        continue;
                r = events[i].optional ? 0 : -ENOSYS;
                if (r < 0)
                        journal_log(LOG_NOTICE, "The kernel has no trace event %s.", events[i].name);
        }
        return r;
}

/* ---- requests ---- */

static unsigned find_watch(const Trace *t, WatchDevice disk) {
        unsigned i = 0;

        while (i < t->n_watches && !watch_device_equal(t->watches[i].drive.disk, disk))
                i++;
        return i;
}

/* Sends an answer to the manager. Returns 1 or a negative errno. */
static int send_answer(const Trace *t, const TracerAnswer *a) {
        int r = wire_send(t->manager, tracer_answer_fields, a, 0);

        return r < 0 ? r : 1;
}

/* Reports to the manager that tracing is not possible. Returns 0 if tracefs or one of its events is missing, since this
 * is not a failure of the unit. */
static int end_untraced(const Trace *t, WatchDevice disk, int error) {
        const TracerAnswer a = { .disk = disk,
                                 .tracing = error == -ENODEV   ? TRACING_UNMOUNTED
                                            : error == -ENOSYS ? TRACING_NO_EVENTS
                                                               : TRACING_DENIED };

        if (error == -ENODEV)
                journal_log(LOG_NOTICE, "tracefs is not mounted, or the instance %s cannot be created.", t->instance);
        (void) send_answer(t, &a);
        return a.tracing == TRACING_DENIED ? error : 0;
}

static void drop_watch(Trace *t, unsigned i) {
        free(t->watches[i].counts);
        t->watches[i] = t->watches[--t->n_watches];
}

static int begin_watch(Trace *t, unsigned i, const TracerRequest *q) {
        WakeCounts *counts = q->active ? calloc(1, sizeof *counts) : NULL;

        if (q->active && !counts)
                return -ENOMEM;

        if (i < t->n_watches)
                free(t->watches[i].counts);
        t->watches[i] = (Watch){ .drive = q->drive, .counts = counts };
        process_find_swap("/proc/swaps", INVENTORY_CLASSDIR, t->watches + i);
        t->n_watches = MAX(t->n_watches, i + 1);
        return 0;
}

/* Reports what an active drive's programs did, and ends the watch of the drive. Returns 1 or a negative errno. */
static int send_counts(Trace *t, unsigned i) {
        WakeCounts *counts = t->watches[i].counts;
        WatchDevice disk = t->watches[i].drive.disk;
        int r = 1;

        if (!counts)
                return 1;
        wake_counts_sort(counts);
        for (unsigned k = 0; k < counts->n_items && r >= 0; k++)
                r = send_answer(t, &(TracerAnswer){ .disk = disk,
                                                    .counted = true,
                                                    .times = counts->items[k].times,
                                                    .wake = counts->items[k].wake });
        if (r >= 0)
                r = send_answer(t, &(TracerAnswer){ .disk = disk, .counted = true });
        drop_watch(t, i);
        return r;
}

/* Handles a request of the manager. Returns 1, or 0 if the manager has disconnected or tracing is not possible. */
static int take_request(Trace *t) {
        TracerRequest q = {};
        unsigned i;
        int r;

        r = wire_receive(t->manager, tracer_request_fields, &q, 0);
        if (r <= 0)
                return r == -ECONNRESET ? 0 : r;

        i = find_watch(t, q.drive.disk);
        if (i == TRACER_DRIVES_MAX)
                return -EBADMSG;
        if (q.watch)
                r = begin_watch(t, i, &q);
        else if (i < t->n_watches && q.active)
                r = send_counts(t, i);
        else if (i < t->n_watches)
                drop_watch(t, i);
        if (r < 0)
                return r;

        r = t->pipe < 0 ? trace_open(t) : 0;
        if (r >= 0)
                r = trace_adapt(t);
        if (r < 0)
                return end_untraced(t, q.drive.disk, r);
        return q.watch ? send_answer(t, &(TracerAnswer){ .disk = q.drive.disk }) : 1;
}

/* ---- the trace ---- */

/* Ends the watches of all active drives that are in heavy use. */
static int end_full(Trace *t) {
        int r = 0;

        for (unsigned i = t->n_watches; i-- > 0 && r >= 0;)
                if (t->watches[i].counts && wake_counts_full(t->watches[i].counts))
                        r = send_counts(t, i);
        return r < 0 ? r : trace_adapt(t);
}

static int take_line(Trace *t) {
        TraceEvent e;
        bool full = false;
        int r = 0;

        if (!trace_line_parse(t->line, &e))
                return 0;

        for (Watch *w = t->watches; w < t->watches + t->n_watches && r >= 0; w++) {
                TracerAnswer a = { .disk = w->drive.disk, .woken = true };
                bool fed = watch_feed(w, &e, process_lookup, NULL, &a.wake);

                if (w->counts) {
                        w->counts->n_events += watch_has(w, &e);
                        if (fed)
                                wake_counts_add(w->counts, &a.wake, e.usec);
                        full = full || wake_counts_full(w->counts);
                        continue;
                }
                if (!fed)
                        continue;
                /* This command wakes the drive, so the earlier events are no longer needed. A command such as a flush
                 * spins up only some drives. After such a command the events are kept, since the next write has the
                 * same waker. */
                if (!command_may_spin_up(a.wake.cdb, a.wake.cdb_len))
                        watch_reset(w);
                r = send_answer(t, &a);
        }
        return r < 0 || !full ? MIN(r, 0) : end_full(t);
}

/* Reads the trace once. Requests are handled between two reads, even if events arrive faster than they can be read. */
static int take_trace(Trace *t) {
        char text[4096];
        ssize_t n = read(t->pipe, text, sizeof text);
        int r = 0;

        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;

        for (ssize_t i = 0; i < n && r >= 0; i++)
                if (text[i] != '\n') {
                        if (t->line_len < sizeof t->line)
                                t->line[t->line_len++] = text[i];
                } else {
                        if (t->line_len < sizeof t->line) {
                                t->line[t->line_len] = '\0';
                                r = take_line(t);
                        }
                        t->line_len = 0;
                }
        return r;
}

static int tracer_serve(Trace *t) {
        for (;;) {
                struct pollfd polls[] = { { .fd = t->manager, .events = POLLIN }, { .fd = t->pipe, .events = POLLIN } };
                int r = 1;

                if (poll(polls, ELEMENTSOF(polls), -1) < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }

                if (polls[1].revents)
                        r = take_trace(t);
                if (r >= 0 && polls[0].revents)
                        r = take_request(t);
                else if (r >= 0)
                        r = 1;
                /* The manager has disconnected. */
                if (r == -EPIPE || r == -ECONNRESET)
                        return 0;
                if (r <= 0)
                        return r;
        }
}

int tracer_run(int listener, const char *instance) {
        static Trace t;
        int r;

        t = (Trace){ .instance = instance, .pipe = -EBADF };
        t.manager = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (t.manager < 0)
                return -errno;
        /* Checks the peer, although the socket's mode already excludes other users. */
        r = unix_peer_owns_socket(t.manager) ? sandbox_tracer(instance) : -EPERM;
        if (r >= 0)
                r = tracer_serve(&t);

        closep(&t.pipe);
        closep(&t.manager);
        return r;
}
