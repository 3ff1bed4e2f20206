/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <sys/epoll.h>
#include <sys/socket.h>
#include <syslog.h>

#include "clock.h"
#include "journal.h"
#include "tracer.h"
#include "unix-socket.h"
#include "validate.h"

/* A kernel that has no tracefs has none later either, and what was killed may have been killed by a lack of memory. */
#define LOST_USEC (600ULL * 1000 * 1000)

struct Tracer {
        sd_event *event; /* borrowed */
        const char *path;
        const TracerEvents *events;
        void *userdata;
        int fd; /* < 0: there is no process */
        sd_event_source *io;
        uint64_t lost_at; /* CLOCK_MONOTONIC; 0: it was not */
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
        journal_log(LOG_NOTICE, "Who wakes sleeping drives is not known for now: %s.", tracing_obstacle(why));
        tracer_close(t);
        t->lost_at = monotonic_usec();
        t->events->lost(t->userdata);
}

static bool wake_is_valid(const Wake *w) {
        return (unsigned) w->kind < _WAKE_KIND_MAX && bools_are_valid(&w->has_sector, &w->content) &&
               w->cdb_len <= sizeof w->cdb && text_ends(w->process.comm, sizeof w->process.comm) &&
               text_ends(w->process.unit, sizeof w->process.unit) && text_ends(w->thread, sizeof w->thread) &&
               text_ends(w->process.command_line, sizeof w->process.command_line);
}

static unsigned tracer_find(const Tracer *t, WatchDevice disk) {
        unsigned i = 0;

        while (i < t->n_watched && !watch_device_equal(t->watched[i], disk))
                i++;
        return i;
}

static int on_answer(sd_event_source *source _unused_, int fd, uint32_t events _unused_, void *userdata) {
        Tracer *t = userdata;
        TracerAnswer a;
        ssize_t n;

        /* With MSG_TRUNC it is told how long the answer was. */
        n = recv(fd, &a, sizeof a, MSG_DONTWAIT | MSG_TRUNC);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n != (ssize_t) sizeof a || (unsigned) a.tracing >= _TRACING_MAX || !bools_are_valid(&a.woken, &a.woken) ||
            (a.woken && !wake_is_valid(&a.wake)))
                tracer_lose(t, TRACING_ENDED);
        else if (a.tracing != TRACING_FINE)
                tracer_lose(t, a.tracing);
        /* It may have said so before it knew that the drive is not to be watched any more. */
        else if (tracer_find(t, a.disk) == t->n_watched)
                return 0;
        else if (a.woken)
                t->events->woken(t->userdata, a.disk, &a.wake);
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
        if (t->lost_at > 0 && monotonic_usec() - t->lost_at < LOST_USEC)
                return -EBUSY;

        r = unix_connect(t->path);
        if (r < 0) {
                t->tracing = TRACING_NO_SOCKET;
                return r;
        }
        t->fd = r;
        return sd_event_add_io(t->event, &t->io, t->fd, EPOLLIN, on_answer, t);
}

static int tracer_ask(const Tracer *t, const TracerRequest *q) {
        return send(t->fd, q, sizeof *q, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int tracer_watch(Tracer *t, const WatchDrive *d) {
        unsigned i = tracer_find(t, d->disk);
        int r;

        if (i == TRACER_DRIVES_MAX)
                return -ENOSPC;

        r = tracer_open(t);
        if (r >= 0)
                r = tracer_ask(t, &(TracerRequest){ .watch = true, .drive = *d });
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
        /* Where the message is lost, more is told than is asked for; the process ends with the last drive all the same. */
        (void) tracer_ask(t, &(TracerRequest){ .drive.disk = disk });
        if (t->n_watched == 0)
                tracer_close(t);
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
