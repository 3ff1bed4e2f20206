/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "clock.h"
#include "journal-socket.h"

typedef struct Waiting {
        struct Waiting *next;
        char record[];
} Waiting;

struct JournalSocket {
        char *path;
        JournalLossFn loss;
        int fd;
        Waiting *first, **last;
        size_t n_bytes;
        unsigned n_lost; /* after all that wait */
        sd_event *event;
        sd_event_source *io; /* tells when the journal takes records again; NULL: nobody waits for that */
};

int journal_socket_new(const char *path, JournalLossFn loss, JournalSocket **ret) {
        JournalSocket *j;

        j = malloc(sizeof *j);
        if (!j)
                return -ENOMEM;

        *j = (JournalSocket){ .path = strdup(path), .loss = loss, .fd = -EBADF };
        if (!j->path) {
                free(j);
                return -ENOMEM;
        }
        j->last = &j->first;
        *ret = j;
        return 0;
}

static void drop_first(JournalSocket *j) {
        Waiting *w = j->first;

        j->first = w->next;
        if (!j->first)
                j->last = &j->first;
        j->n_bytes -= strlen(w->record);
        free(w);
}

JournalSocket *journal_socket_free(JournalSocket *j) {
        if (!j)
                return NULL;

        while (j->first)
                drop_first(j);
        sd_event_source_disable_unref(j->io);
        sd_event_unref(j->event);
        closep(&j->fd);
        free(j->path);
        free(j);
        return NULL;
}

static int socket_connect(JournalSocket *j) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = -EBADF;

        if (strlen(j->path) >= sizeof address.sun_path)
                return -ENAMETOOLONG;
        (void) strcpy(address.sun_path, j->path);

        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (const struct sockaddr *) &address, sizeof address) < 0)
                return -errno;
        j->fd = TAKE_FD(fd);
        return 0;
}

/* -EAGAIN: the journal takes none now. */
static int socket_put(JournalSocket *j, const char *record) {
        for (bool again = false;; again = true) {
                bool fresh = j->fd < 0;
                int r = fresh ? socket_connect(j) : 0;

                if (r < 0)
                        return r;
                if (send(j->fd, record, strlen(record), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
                        return 0;
                r = -errno;
                if (fresh || again || (r != -ECONNREFUSED && r != -ENOTCONN && r != -ECONNRESET))
                        return r;

                /* Somebody has made another socket in its place. */
                sd_event_source_disable_unref(TAKE_PTR(j->io));
                (void) close(TAKE_FD(j->fd));
        }
}

/* ---- what waits ---- */

static bool add_waiting(JournalSocket *j, const char *record) {
        size_t size = strlen(record);
        Waiting *w;

        w = size <= JOURNAL_WAITING_MAX - j->n_bytes ? malloc(sizeof *w + size + 1) : NULL;
        if (!w)
                return false;

        w->next = NULL;
        memcpy(w->record, record, size + 1);
        *j->last = w;
        j->last = &w->next;
        j->n_bytes += size;
        return true;
}

/* Sends what waits, and then what became of the rest. -EAGAIN: there is more. */
static int send_waiting(JournalSocket *j) {
        _cleanup_free_ char *record = NULL;
        int r;

        for (; j->first; drop_first(j)) {
                r = socket_put(j, j->first->record);
                if (r == -EAGAIN)
                        return r;
                if (r < 0)
                        j->n_lost++;
        }

        record = j->n_lost > 0 ? j->loss(j->n_lost) : NULL;
        if (!record)
                return 0;
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

static void wait_for_room(JournalSocket *j) {
        /* Should that fail, it is tried with the next record. */
        if (j->event && !j->io)
                (void) sd_event_add_io(j->event, &j->io, j->fd, EPOLLOUT, on_writable, j);
}

int journal_socket_send(JournalSocket *j, const char *record) {
        int r;

        /* In their order: none passes those that wait. */
        r = send_waiting(j);
        if (r >= 0)
                r = socket_put(j, record);
        if (r == -EAFNOSUPPORT)
                return r;
        if (r >= 0)
                return 0;

        /* What follows on a loss would wait before it is told. */
        if (r != -EAGAIN || j->n_lost > 0 || !add_waiting(j, record))
                j->n_lost++;
        if (r == -EAGAIN)
                wait_for_room(j);
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
