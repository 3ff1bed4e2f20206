/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/epoll.h>
#include <sys/socket.h>
#include <syslog.h>

#include "clock.h"
#include "journal.h"
#include "tracer.h"
#include "wire.h"

/* The delay from the loss of the tracer to the next attempt to start it. An earlier attempt would often fail for the
 * same reason, such as a kernel without tracefs or a lack of memory. */
#define RETRY_USEC (600ULL * 1000 * 1000)

/* ---- messages ---- */

/* clang-format off */
/* Device numbers of the kernel: 12 bits for the major, 20 bits for the minor number. */
static const WireField disk_fields[] = {
        WIRE_WORD(WatchDevice, major, 1U << 12),
        WIRE_WORD(WatchDevice, minor, 1U << 20),
        {}
};

/* Like disk_fields, but without a limit for `minor`: for a btrfs, `minor` is the N of "btrfs-N". */
static const WireField above_fields[] = {
        WIRE_WORD(WatchDevice, major, 1U << 12),
        WIRE(WatchDevice, minor, WIRE_INT),
        {}
};

static const WireField drive_fields[] = {
        WIRE_PART(WatchDrive, disk, disk_fields),
        WIRE(WatchDrive, host, WIRE_INT),
        WIRE(WatchDrive, channel, WIRE_INT),
        WIRE(WatchDrive, id, WIRE_INT),
        WIRE(WatchDrive, lun, WIRE_NUMBER),
        WIRE_PARTS(WatchDrive, above, above_fields),
        WIRE_WORD(WatchDrive, n_above, WATCH_ABOVE_MAX + 1),
        {}
};

const WireField tracer_request_fields[] = {
        WIRE(TracerRequest, watch, WIRE_BOOL),
        WIRE(TracerRequest, active, WIRE_BOOL),
        WIRE_PART(TracerRequest, drive, drive_fields),
        {}
};

static const WireField process_fields[] = {
        WIRE(WakeProcess, pid, WIRE_INT),
        WIRE_ARRAY(WakeProcess, comm),
        WIRE_ARRAY(WakeProcess, unit),
        WIRE_ARRAY(WakeProcess, command_line),
        {}
};

static const WireField wake_fields[] = {
        WIRE_WORD(Wake, kind, _WAKE_KIND_MAX),
        WIRE_PART(Wake, process, process_fields),
        WIRE_ARRAY(Wake, thread),
        WIRE(Wake, has_sector, WIRE_BOOL),
        WIRE(Wake, content, WIRE_BOOL),
        WIRE(Wake, sector, WIRE_NUMBER),
        WIRE(Wake, inode, WIRE_NUMBER),
        WIRE_OCTETS(Wake, cdb),
        WIRE_WORD(Wake, cdb_len, WAKE_CDB_MAX + 1),
        {}
};

const WireField tracer_answer_fields[] = {
        WIRE_PART(TracerAnswer, disk, disk_fields),
        WIRE_WORD(TracerAnswer, tracing, _TRACING_MAX),
        WIRE(TracerAnswer, woken, WIRE_BOOL),
        WIRE(TracerAnswer, counted, WIRE_BOOL),
        WIRE(TracerAnswer, times, WIRE_INT),
        WIRE_PART(TracerAnswer, wake, wake_fields),
        {}
};
/* clang-format on */

/* ---- the manager's half ---- */

struct Tracer {
        sd_event *event; /* borrowed */
        const char *path;
        const TracerEvents *events;
        void *userdata;
        int fd; /* the connection to the tracer; < 0: not connected */
        sd_event_source *io;
        uint64_t lost_at; /* when the tracer was lost (CLOCK_MONOTONIC, µs); 0: never */
        Tracing tracing;
        WatchDevice watched[TRACER_DRIVES_MAX];
        unsigned n_watched;
};

static void tracer_close(Tracer *t) {
        t->io = sd_event_source_disable_unref(t->io);
        closep(&t->fd);
        t->fd = -EBADF;
        t->n_watched = 0;
}

static void tracer_lose(Tracer *t, Tracing why) {
        t->tracing = why;
        journal_log(LOG_NOTICE, "Programs that wake drives are not traced: %s.", tracing_obstacle(why));
        tracer_close(t);
        t->lost_at = monotonic_usec();
        t->events->lost(t->userdata);
}

static unsigned tracer_find(const Tracer *t, WatchDevice disk) {
        unsigned i = 0;

        while (i < t->n_watched && !watch_device_equal(t->watched[i], disk))
                i++;
        return i;
}

static int on_answer(sd_event_source *source _unused_, int fd, uint32_t events _unused_, void *userdata) {
        Tracer *t = userdata;
        TracerAnswer a = {};
        int r;

        r = wire_receive(fd, tracer_answer_fields, &a, MSG_DONTWAIT);
        if (r == -EAGAIN || r == -EINTR)
                return 0;
        if (r <= 0)
                tracer_lose(t, TRACING_ENDED);
        else if (a.tracing != TRACING_FINE)
                tracer_lose(t, a.tracing);
        /* Ignores the message if the drive is no longer watched: the tracer sent the message before the request to unwatch arrived. */
        else if (tracer_find(t, a.disk) == t->n_watched)
                return 0;
        else if (a.woken)
                t->events->woken(t->userdata, a.disk, &a.wake);
        else if (a.counted)
                t->events->counted(t->userdata, a.disk, a.times > 0 ? &a.wake : NULL, a.times);
        else {
                t->tracing = TRACING_FINE;
                t->events->watched(t->userdata, a.disk);
        }
        return 0;
}

static int tracer_open(Tracer *t) {
        int r;

        if (t->fd >= 0)
                return 0;
        if (t->lost_at > 0 && monotonic_usec() - t->lost_at < RETRY_USEC)
                return -EBUSY;

        r = unix_connect(t->path, SOCK_SEQPACKET);
        if (r < 0) {
                t->tracing = TRACING_NO_SOCKET;
                return r;
        }
        t->fd = r;
        return sd_event_add_io(t->event, &t->io, t->fd, EPOLLIN, on_answer, t);
}

static int tracer_request(const Tracer *t, const TracerRequest *q) {
        return wire_send(t->fd, tracer_request_fields, q, MSG_DONTWAIT);
}

int tracer_watch(Tracer *t, const WatchDrive *d, bool active) {
        unsigned i = tracer_find(t, d->disk);
        int r;

        /* Active drives may use only half of the places. The others are for drives in standby. */
        if (i == TRACER_DRIVES_MAX || (active && i == t->n_watched && i >= TRACER_DRIVES_MAX / 2))
                return -ENOSPC;

        r = tracer_open(t);
        if (r >= 0)
                r = tracer_request(t, &(TracerRequest){ .watch = true, .active = active, .drive = *d });
        if (r < 0) {
                if (t->n_watched == 0)
                        tracer_close(t);
                return r;
        }

        t->watched[i] = d->disk;
        t->n_watched = MAX(t->n_watched, i + 1);
        return 0;
}

void tracer_unwatch(Tracer *t, WatchDevice disk) {
        unsigned i = tracer_find(t, disk);

        if (i == t->n_watched)
                return;

        t->watched[i] = t->watched[--t->n_watched];
        /* If this message is lost, the tracer continues to report the drive, and on_answer() ignores these reports. */
        (void) tracer_request(t, &(TracerRequest){ .drive.disk = disk });
        if (t->n_watched == 0)
                tracer_close(t);
}

int tracer_report(Tracer *t, WatchDevice disk) {
        return tracer_request(t, &(TracerRequest){ .active = true, .drive.disk = disk });
}

Tracing tracer_tracing(const Tracer *t) {
        return t->tracing;
}

int tracer_new(sd_event *event, const char *path, const TracerEvents *events, void *userdata, Tracer **ret) {
        Tracer *t;

        t = malloc(sizeof *t);
        if (!t)
                return -ENOMEM;

        *t = (Tracer){ .event = event, .path = path, .events = events, .userdata = userdata, .fd = -EBADF };
        *ret = t;
        return 0;
}

Tracer *tracer_free(Tracer *t) {
        if (!t)
                return NULL;

        tracer_close(t);
        free(t);
        return NULL;
}
