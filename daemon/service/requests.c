/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus.h"
#include "requests.h"

/* A call of Apply() that waits for its visits. */
struct Request {
        sd_bus_message *message;
        sd_bus_message *reply; /* the names, as they were asked for */
        char **pending;        /* drives still to rest */
        size_t n_pending;
        Request *next;
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
        char *copy;
        int r;

        r = sd_bus_message_append(q->reply, "s", name);
        if (r < 0)
                return r;

        if (!GREW(q->pending, q->n_pending))
                return -ENOMEM;

        copy = strdup(name);
        if (!copy)
                return -ENOMEM;

        q->pending[q->n_pending++] = copy;
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
                        return sd_bus_error_setf(error, BUS_ERROR_NO_SUCH_DRIVE, "There is no drive '%s'.", name);
                r = request_add(q, name);
        }

        for (Target *t = manager_first(m); t && r >= 0 && !any; t = t->next)
                r = request_add(q, t->drive->name);

        return r < 0 ? r : sd_bus_message_close_container(q->reply);
}

static void request_answer(Request *q) {
        /* Whoever asked may be gone. */
        (void) sd_bus_send(NULL, q->reply, NULL);
        (void) request_free(q);
}

static void request_done_at(Request *q, size_t i) {
        free(q->pending[i]);
        q->pending[i] = q->pending[--q->n_pending];
}

/* A visit that is deferred is as good as over: it may take hours. */
static bool is_over(const Target *t) {
        return !t->visit.job || (t->visit.reason == VISIT_RETRY && t->record->waiting_kind != WAIT_NOTHING);
}

int requests_visit(Requests *requests, sd_bus_message *m, VisitReason reason, sd_bus_error *error) {
        _cleanup_(request_freep) Request *q = NULL;
        int r;

        q = calloc(1, sizeof *q);
        if (!q)
                return -ENOMEM;
        q->message = sd_bus_message_ref(m);

        r = request_read(q, requests->manager, error);
        if (r < 0)
                return r;

        for (size_t i = 0; i < q->n_pending; i++) {
                Target *t = manager_find(requests->manager, q->pending[i]);

                if (t)
                        manager_visit(requests->manager, t, reason);
        }

        /* Some have rested at once. */
        for (size_t i = q->n_pending; i-- > 0;) {
                const Target *t = manager_find(requests->manager, q->pending[i]);

                if (!t || is_over(t))
                        request_done_at(q, i);
        }

        if (q->n_pending == 0) {
                request_answer(TAKE_PTR(q));
                return 1;
        }
        q->next = requests->items;
        requests->items = TAKE_PTR(q);
        return 1;
}

/* Those who wait at this connection wait for nothing any more. */
void requests_forget(Requests *requests, const sd_bus *bus) {
        for (Request **p = &requests->items; *p;) {
                Request *q = *p;

                if (sd_bus_message_get_bus(q->message) != bus) {
                        p = &q->next;
                        continue;
                }
                *p = q->next;
                (void) request_free(q);
        }
}

void requests_drive_rested(Requests *requests, const Target *t) {
        /* The visit that was asked for has just begun. */
        if (!is_over(t))
                return;

        for (Request **p = &requests->items; *p;) {
                Request *q = *p;

                for (size_t i = q->n_pending; i-- > 0;)
                        if (streq(q->pending[i], t->drive->name))
                                request_done_at(q, i);
                if (q->n_pending > 0) {
                        p = &q->next;
                        continue;
                }
                *p = q->next;
                request_answer(q);
        }
}

void requests_done(Requests *requests) {
        while (requests->items) {
                Request *q = requests->items;

                requests->items = q->next;
                (void) request_free(q);
        }
}
