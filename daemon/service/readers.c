/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-error.h"
#include "readers.h"
#include "timer.h"

/* A reader loses the permission after this time without a request, for example when its process was stopped. */
#define PERMISSION_USEC (60ULL * 1000 * 1000)

typedef struct Reader Reader;

struct Reader {
        Target *target;
        sd_bus *bus;          /* borrowed; readers_remove() is called before the connection is freed */
        sd_bus_message *call; /* the call of GetReadPermission() that waits for a reply; NULL: none */
        FsckTicket *ticket;
        sd_event_source *timeout;
        Reader *next;
};

typedef struct TargetReaders {
        Reader *first;
} TargetReaders;

static TargetReaders *readers_of(const Target *t) {
        return target_part(t, &readers_part);
}

static void reader_remove(Reader *r) {
        Target *t = r->target;
        Reader **p = &readers_of(t)->first;

        while (*p != r)
                p = &(*p)->next;
        *p = r->next;

        (void) fsck_ticket_free(r->ticket);
        (void) sd_bus_message_unref(r->call);
        sd_event_source_disable_unref(r->timeout);
        free(r);
        target_changed(t);
}

static int on_timeout(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        reader_remove(userdata);
        return 0;
}

/* Replies to the reader. During a file system check, refuses permission and removes the reader, so that the reader does not block
 * visits. */
static void on_permission(void *userdata, Wait w) {
        Reader *r = userdata;

        if (w.kind == WAIT_NOTHING) {
                r->ticket = fsck_ticket_free(r->ticket);
                (void) sd_bus_reply_method_return(r->call, "");
                r->call = sd_bus_message_unref(r->call);
        } else if (w.kind == WAIT_CHECK) {
                (void) sd_bus_reply_method_errorf(r->call, ERROR_NOT_NOW, "the drive waits for %s", wait_describe(w));
                reader_remove(r);
        }
}

static void reader_refuse(Reader *r, int error) {
        if (r->call)
                (void) sd_bus_reply_method_errno(r->call, error, NULL);
        reader_remove(r);
}

void readers_resume(Target *t) {
        for (Reader *r = readers_of(t)->first, *next; r && !target_has_worker(t); r = next) {
                int k = 0;

                next = r->next;
                if (r->call && !r->ticket)
                        k = fsck_wait_request(t->env->fsck_wait, t->drive, on_permission, r, &r->ticket);
                if (k < 0)
                        reader_refuse(r, k);
        }
}

static Reader *reader_get(Target *t, sd_bus *bus) {
        Reader *r = readers_of(t)->first;

        while (r && r->bus != bus)
                r = r->next;
        if (r)
                return r;

        r = malloc(sizeof *r);
        if (r) {
                *r = (Reader){ .target = t, .bus = bus, .next = readers_of(t)->first };
                readers_of(t)->first = r;
        }
        return r;
}

int readers_request(Target *t, sd_bus_message *m) {
        sd_bus *bus = sd_bus_message_get_bus(m);
        Reader *r;
        int k;

        r = reader_get(t, bus);
        if (!r)
                return -ENOMEM;
        if (r->call)
                return -EBUSY;
        k = timer_start(t->env->event, &r->timeout, PERMISSION_USEC, 0, on_timeout, r);
        if (k < 0) {
                reader_remove(r);
                return k;
        }

        r->call = sd_bus_message_ref(m);
        readers_resume(t);
        return 1;
}

void readers_remove(Target *t, const sd_bus *bus) {
        for (Reader *r = readers_of(t)->first, *next; r; r = next) {
                next = r->next;
                if (!bus || r->bus == bus)
                        reader_refuse(r, -ENODEV);
        }
}

bool readers_any(const Target *t) {
        return readers_of(t)->first;
}

static void readers_detach(Target *t) {
        readers_remove(t, NULL);
}

const TargetPart readers_part = {
        .size = sizeof(TargetReaders),
        .detach = readers_detach,
};
