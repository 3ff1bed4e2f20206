/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus.h"
#include "requests.h"

/* A call of Apply() that waits for its visits. */
struct Request {
        sd_bus_message *message;
        sd_bus_message *reply; /* the names, as they were asked for */
        char **pending;        /* drives still to rest; entries are set to "" */
        size_t n_pending, n_left;
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
                        return sd_bus_error_setf(error, BUS_ERROR_NO_SUCH_DRIVE, "There is no drive '%s'.", name);
                r = request_add(q, name);
        }

        for (Target *t = manager_first(m); t && r >= 0 && !any; t = t->next)
                r = request_add(q, t->drive->name);

        return r < 0 ? r : sd_bus_message_close_container(q->reply);
}

static void requests_answer(Requests *requests, Request *q) {
        for (Request **p = &requests->items; *p; p = &(*p)->next)
                if (*p == q) {
                        *p = q->next;
                        break;
                }

        /* Whoever asked may be gone. */
        (void) sd_bus_send(NULL, q->reply, NULL);
        (void) request_free(q);
}

static void request_done_at(Request *q, size_t i) {
        if (q->pending[i][0] == '\0')
                return;
        q->pending[i][0] = '\0';
        q->n_left--;
}

static void request_rested(Request *q, const char *name) {
        for (size_t i = 0; i < q->n_pending; i++)
                if (streq(q->pending[i], name))
                        request_done_at(q, i);
}

/* A visit that is deferred is as good as over: it may take hours. */
static bool is_over(const Target *t) {
        return !t->visit.job || t->gone || (t->visit.reason == VISIT_RETRY && t->record->waiting_kind != WAIT_NOTHING);
}

int requests_visit(Requests *requests, sd_bus_message *m, VisitReason reason, sd_bus_error *error) {
        _cleanup_(request_freep) Request *q = NULL;
        Request *shared;
        int r;

        q = calloc(1, sizeof *q);
        if (!q)
                return -ENOMEM;
        q->message = sd_bus_message_ref(m);

        r = request_read(q, requests->manager, error);
        if (r < 0)
                return r;

        shared = TAKE_PTR(q);
        shared->next = requests->items;
        requests->items = shared;

        /* One more, so that drives which rest at once do not end the request under our hands. */
        shared->n_left++;
        for (size_t i = 0; i < shared->n_pending; i++) {
                Target *t = shared->pending[i][0] ? manager_find(requests->manager, shared->pending[i]) : NULL;

                if (t)
                        manager_visit(requests->manager, t, reason);
                if (!t || is_over(t))
                        request_done_at(shared, i);
        }
        if (--shared->n_left == 0)
                requests_answer(requests, shared);

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
        Request *next;

        /* The visit that was asked for has just begun. */
        if (!is_over(t))
                return;

        for (Request *q = requests->items; q; q = next) {
                next = q->next;
                request_rested(q, t->drive->name);
                if (q->n_left == 0)
                        requests_answer(requests, q);
        }
}

void requests_done(Requests *requests) {
        while (requests->items) {
                Request *q = requests->items;

                requests->items = q->next;
                (void) request_free(q);
        }
}
