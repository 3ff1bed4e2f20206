/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus.h"
#include "readers.h"
#include "timer.h"

/* One that was stopped in the midst of it does not keep a drive from being visited for ever. */
#define LEAVE_USEC (60ULL * 1000 * 1000)

#define ERROR_NOT_NOW "org.drivekeep1.Error.NotNow"

struct Reader {
        Readers *readers;
        sd_bus *bus;              /* borrowed: readers_forget() comes before it goes */
        char *name;               /* of the drive */
        sd_bus_message *question; /* not answered yet */
        FsckTicket *ticket;
        sd_event_source *end;
        Reader *next;
};

static Reader *reader_free(Reader *r) {
        if (!r)
                return NULL;

        (void) fsck_ticket_free(r->ticket);
        (void) sd_bus_message_unref(r->question);
        sd_event_source_disable_unref(r->end);
        free(r->name);
        free(r);
        return NULL;
}

static void reader_leave(Reader *r) {
        Readers *readers = r->readers;

        for (Reader **p = &readers->items; *p; p = &(*p)->next)
                if (*p == r) {
                        *p = r->next;
                        break;
                }
        (void) reader_free(r);
        manager_schedule(readers->manager);
}

static int on_end(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        reader_leave(userdata);
        return 0;
}

/* Who is refused has no leave, and the drive is not kept for it. */
static void on_leave(void *userdata, Wait w) {
        Reader *r = userdata;

        if (w.kind == WAIT_NOTHING) {
                r->ticket = fsck_ticket_free(r->ticket);
                (void) sd_bus_reply_method_return(r->question, "");
                r->question = sd_bus_message_unref(r->question);
        } else if (w.kind == WAIT_CHECK) {
                (void) sd_bus_reply_method_errorf(r->question, ERROR_NOT_NOW, "it waits for %s", wait_describe(w));
                reader_leave(r);
        }
}

static void reader_go_on(Reader *r) {
        Target *t = manager_find(r->readers->manager, r->name);
        int k;

        if (!r->question || r->ticket || (t && target_has_worker(t)))
                return;

        k = t ? fsck_wait_ask(t->env->fsck_wait, r->name, on_leave, r, &r->ticket) : -ENODEV;
        if (k < 0) {
                (void) sd_bus_reply_method_errno(r->question, k, NULL);
                reader_leave(r);
        }
}

static Reader *readers_find(Readers *readers, const sd_bus *bus, const char *name) {
        for (Reader *r = readers->items; r; r = r->next)
                if (r->bus == bus && streq(r->name, name))
                        return r;
        return NULL;
}

static Reader *reader_new(Readers *readers, sd_bus *bus, const char *name) {
        Reader *r = calloc(1, sizeof *r);

        if (!r)
                return NULL;
        *r = (Reader){ .readers = readers, .bus = bus, .name = strdup(name), .next = readers->items };
        if (!r->name)
                return reader_free(r);
        readers->items = r;
        return r;
}

int readers_method(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Readers *readers = userdata;
        const char *name;
        Reader *r;
        int k;

        k = sd_bus_message_read(m, "s", &name);
        if (k < 0)
                return k;
        /* There it would not be noticed that somebody goes. */
        if (sd_bus_is_bus_client(sd_bus_message_get_bus(m)) > 0)
                return sd_bus_error_set(error, SD_BUS_ERROR_NOT_SUPPORTED,
                                        "That is asked at the service's own socket only.");
        if (!manager_find(readers->manager, name))
                return sd_bus_error_setf(error, BUS_ERROR_NO_SUCH_DRIVE, "There is no drive '%s'.", name);

        r = readers_find(readers, sd_bus_message_get_bus(m), name);
        if (r && r->question)
                return -EBUSY;
        if (!r)
                r = reader_new(readers, sd_bus_message_get_bus(m), name);
        k = r ? timer_start(readers->event, &r->end, LEAVE_USEC, 0, on_end, r) : -ENOMEM;
        if (k < 0) {
                if (r)
                        reader_leave(r);
                return k;
        }

        r->question = sd_bus_message_ref(m);
        reader_go_on(r);
        return 1;
}

void readers_forget(Readers *readers, const sd_bus *bus) {
        for (Reader *r = readers->items, *next; r; r = next) {
                next = r->next;
                if (!bus || r->bus == bus)
                        reader_leave(r);
        }
}

void readers_drive_rested(Readers *readers, const Target *t) {
        for (Reader *r = readers->items, *next; r; r = next) {
                next = r->next;
                if (streq(r->name, t->drive->name))
                        reader_go_on(r);
        }
}

bool readers_read(const Readers *readers, const Target *t) {
        for (const Reader *r = readers->items; r; r = r->next)
                if (streq(r->name, t->drive->name))
                        return true;
        return false;
}
