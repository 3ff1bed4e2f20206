/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <systemd/sd-bus.h>

#include "bus.h"
#include "config.h"

#define BUS_NAME "org.drivekeep1"
#define BUS_PATH "/org/drivekeep1"
#define BUS_INTERFACE "org.drivekeep1.Manager"
#define ERROR_NO_SUCH_DRIVE "org.drivekeep1.Error.NoSuchDrive"

/* A call of Apply() that waits for its visits. */
typedef struct Request Request;
struct Request {
        sd_bus_message *message;
        sd_bus_message *reply; /* the names, as they were asked for */
        char **pending;        /* drives still to rest; entries are set to "" */
        size_t n_pending, n_left;
        Request *next;
};

struct Bus {
        sd_bus *bus;
        Manager *manager;
        Request *requests;
};

static Request *request_free(Request *q) {
        if (!q)
                return NULL;

        for (size_t i = 0; i < q->n_pending; i++)
                free(q->pending[i]);
        free(q->pending);
        (void) sd_bus_message_unref(q->message);
        (void) sd_bus_message_unref(q->reply);
        free(q);
        return NULL;
}
DEFINE_CLEANUP(Request *, request_free);

static int request_add(Request *q, const char *name) {
        char **p, *copy;
        int r;

        r = sd_bus_message_append(q->reply, "s", name);
        if (r < 0)
                return r;

        p = reallocarray(q->pending, q->n_pending + 1, sizeof *p);
        if (!p)
                return -ENOMEM;
        q->pending = p;

        copy = strdup(name);
        if (!copy)
                return -ENOMEM;

        p[q->n_pending++] = copy;
        q->n_left++;
        return 0;
}

static int request_read(Request *q, Manager *m, sd_bus_error *error) {
        bool any = false;
        const char *name;
        int r;

        r = sd_bus_message_new_method_return(q->message, &q->reply);
        if (r >= 0)
                r = sd_bus_message_open_container(q->reply, 'a', "s");
        if (r >= 0)
                r = sd_bus_message_enter_container(q->message, 'a', "s");

        while (r >= 0 && (r = sd_bus_message_read(q->message, "s", &name)) > 0) {
                any = true;
                if (!manager_find(m, name))
                        return sd_bus_error_setf(error, ERROR_NO_SUCH_DRIVE, "There is no drive '%s'.", name);
                r = request_add(q, name);
        }

        for (Watched *w = manager_first(m); w && r >= 0 && !any; w = w->next)
                r = request_add(q, w->drive->name);

        return r < 0 ? r : sd_bus_message_close_container(q->reply);
}

static void bus_answer(Bus *b, Request *q) {
        for (Request **p = &b->requests; *p; p = &(*p)->next)
                if (*p == q) {
                        *p = q->next;
                        break;
                }

        /* Whoever asked may be gone. */
        (void) sd_bus_send(b->bus, q->reply, NULL);
        (void) request_free(q);
}

static void request_rested(Request *q, const char *name) {
        for (size_t i = 0; i < q->n_pending; i++)
                if (streq(q->pending[i], name)) {
                        q->pending[i][0] = '\0';
                        q->n_left--;
                }
}

static int method_apply(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        _cleanup_(request_freep) Request *q = NULL;
        Bus *b = userdata;
        Request *shared;
        int r;

        q = calloc(1, sizeof *q);
        if (!q)
                return -ENOMEM;
        q->message = sd_bus_message_ref(m);

        r = request_read(q, b->manager, error);
        if (r < 0)
                return r;

        shared = TAKE_PTR(q);
        shared->next = b->requests;
        b->requests = shared;

        /* One more, so that drives which rest at once do not end the request under our hands. */
        shared->n_left++;
        for (size_t i = 0; i < shared->n_pending; i++) {
                Watched *w = shared->pending[i][0] ? manager_find(b->manager, shared->pending[i]) : NULL;

                if (w)
                        manager_visit(b->manager, w, VISIT_REQUEST);
                if (!w || !w->visitor)
                        request_rested(shared, shared->pending[i]);
        }
        if (--shared->n_left == 0)
                bus_answer(b, shared);

        return 1;
}

static int method_list_drives(sd_bus_message *m, void *userdata, sd_bus_error *error _unused_) {
        sd_bus_message *reply = NULL;
        Bus *b = userdata;
        int r;

        r = sd_bus_message_new_method_return(m, &reply);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "(sss)");
        for (Watched *w = manager_first(b->manager); w && r >= 0; w = w->next)
                r = sd_bus_message_append(reply, "(sss)", w->drive->name, drive_state_to_string(w->record->state),
                                          w->record->identity);
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        if (r >= 0)
                r = sd_bus_send(NULL, reply, NULL);

        (void) sd_bus_message_unref(reply);
        return r;
}

static int property_version(sd_bus *bus _unused_, const char *path _unused_, const char *interface _unused_,
                            const char *property _unused_, sd_bus_message *reply, void *userdata _unused_,
                            sd_bus_error *error _unused_) {
        return sd_bus_message_append(reply, "s", DRIVEKEEP_VERSION);
}

/* Methods without UNPRIVILEGED are for callers with CAP_SYS_ADMIN; sd-bus refuses the others. */
static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("Apply", SD_BUS_ARGS("as", names), SD_BUS_RESULT("as", visited), method_apply, 0),
        SD_BUS_METHOD_WITH_ARGS("ListDrives", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(sss)", drives), method_list_drives,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_PROPERTY("Version", "s", property_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_VTABLE_END,
};

int bus_new(sd_event *event, Manager *m, Bus **ret) {
        Bus *b;
        int r;

        b = calloc(1, sizeof *b);
        if (!b)
                return -ENOMEM;
        b->manager = m;

        r = sd_bus_open_system(&b->bus);
        if (r >= 0)
                r = sd_bus_add_object_vtable(b->bus, NULL, BUS_PATH, BUS_INTERFACE, vtable, b);
        if (r >= 0)
                r = sd_bus_request_name_async(b->bus, NULL, BUS_NAME, 0, NULL, NULL);
        if (r >= 0)
                r = sd_bus_attach_event(b->bus, event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0) {
                (void) bus_free(b);
                return r;
        }

        *ret = b;
        return 0;
}

Bus *bus_free(Bus *b) {
        if (!b)
                return NULL;

        while (b->requests) {
                Request *q = b->requests;

                b->requests = q->next;
                (void) request_free(q);
        }
        (void) sd_bus_flush_close_unref(b->bus);
        free(b);
        return NULL;
}

void bus_drive_rested(Bus *b, const Watched *w) {
        Request *next;

        /* The visit that was asked for has just begun. One that is deferred is as good as over: it may take hours. */
        if (w->visitor && !w->gone && w->reason != VISIT_RETRY)
                return;

        for (Request *q = b->requests; q; q = next) {
                next = q->next;
                request_rested(q, w->drive->name);
                if (q->n_left == 0)
                        bus_answer(b, q);
        }
}
