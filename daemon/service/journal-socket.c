/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <syslog.h>

#include "clock.h"
#include "journal-socket.h"
#include "wire.h"

static int socket_connect(JournalSocket *j) {
        int r = unix_connect(j->path, SOCK_DGRAM);

        if (r >= 0)
                j->fd = r;
        /* socket() fails with EAFNOSUPPORT if the unit's RestrictAddressFamilies= forbids the socket, and with EPERM if
         * the process's seccomp filter does. */
        return r == -EPERM ? -EAFNOSUPPORT : MIN(r, 0);
}

static void socket_close(JournalSocket *j) {
        j->io = sd_event_source_disable_unref(j->io);
        closep(&j->fd);
        j->fd = -EBADF;
}

/* Sends one record. Returns -EAGAIN if the journal currently accepts no record. */
static int socket_put(JournalSocket *j, const char *record) {
        for (bool again = false;; again = true) {
                int r = j->fd < 0 ? socket_connect(j) : 0;

                if (r < 0)
                        return r;
                if (send(j->fd, record, strlen(record), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
                        return 0;
                r = -errno;
                if (again || r == -EAGAIN)
                        return r;

                /* Connects again, since journald may have created a new socket. */
                socket_close(j);
        }
}

/* ---- the queue ---- */

static void drop_waiting(JournalSocket *j, size_t n) {
        for (size_t i = 0; i < n; i++) {
                j->n_bytes -= strlen(j->waiting[i]);
                free(j->waiting[i]);
        }
        j->n_waiting -= n;
        if (n > 0)
                memmove(j->waiting, j->waiting + n, j->n_waiting * sizeof *j->waiting);
        if (j->n_waiting == 0) {
                free(j->waiting);
                j->waiting = NULL;
        }
}

static bool add_waiting(JournalSocket *j, const char *record) {
        char *copy;

        if (strlen(record) > JOURNAL_WAITING_MAX - j->n_bytes || !GREW(j, waiting))
                return false;
        copy = strdup(record);
        if (!copy)
                return false;

        j->waiting[j->n_waiting++] = copy;
        j->n_bytes += strlen(copy);
        return true;
}

/* Sends the waiting records. If records were lost, then sends a record with their number. Returns -EAGAIN if the
 * journal does not accept one of these records now. */
static int send_waiting(JournalSocket *j) {
        char record[192];
        size_t n = 0;
        int r = 0;

        for (; n < j->n_waiting; n++) {
                r = socket_put(j, j->waiting[n]);
                if (r == -EAGAIN)
                        break;
                if (r < 0)
                        j->n_lost++;
        }
        drop_waiting(j, n);
        if (r == -EAGAIN || j->n_lost == 0)
                return r == -EAGAIN ? r : 0;

        (void) snprintf(record, sizeof record,
                        "PRIORITY=%i\nSYSLOG_IDENTIFIER=drivekeepd\n"
                        "MESSAGE=%u record%s of drivekeep %s lost: the journal accepted no records for too long.\n",
                        LOG_WARNING, j->n_lost, j->n_lost == 1 ? "" : "s", j->n_lost == 1 ? "is" : "are");
        r = socket_put(j, record);
        if (r >= 0)
                j->n_lost = 0;
        return r == -EAGAIN ? r : 0;
}

static int on_writable(sd_event_source *source _unused_, int fd _unused_, uint32_t events _unused_, void *userdata) {
        JournalSocket *j = userdata;

        if (send_waiting(j) >= 0)
                j->io = sd_event_source_disable_unref(j->io);
        return 0;
}

int journal_socket_send(JournalSocket *j, const char *record) {
        int r;

        /* Keeps the order: waiting records go first. */
        r = send_waiting(j);
        if (r >= 0)
                r = socket_put(j, record);
        if (r >= 0 || r == -EAFNOSUPPORT)
                return r;

        /* After a record is lost, later records are lost, too, until the journal has accepted a record with the number
         * of lost records. */
        if (r != -EAGAIN || j->n_lost > 0 || !add_waiting(j, record))
                j->n_lost++;
        /* If no event source can be created, the next record causes another attempt. */
        if (r == -EAGAIN && j->event && !j->io)
                (void) sd_event_add_io(j->event, &j->io, j->fd, EPOLLOUT, on_writable, j);
        return 0;
}

void journal_socket_attach(JournalSocket *j, sd_event *event) {
        sd_event_unref(j->event);
        j->event = sd_event_ref(event);
}

void journal_socket_finish(JournalSocket *j, unsigned ms) {
        uint64_t end = monotonic_usec() + ms * 1000ULL;

        while (send_waiting(j) == -EAGAIN) {
                struct pollfd p = { .fd = j->fd, .events = POLLOUT };
                uint64_t now = monotonic_usec();

                if (now >= end || poll(&p, 1, (int) ((end - now) / 1000 + 1)) <= 0)
                        break;
        }
        j->io = sd_event_source_disable_unref(j->io);
        j->event = sd_event_unref(j->event);
}

void journal_socket_done(JournalSocket *j) {
        drop_waiting(j, j->n_waiting);
        socket_close(j);
        j->event = sd_event_unref(j->event);
}
