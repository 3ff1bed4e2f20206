/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-error.h"
#include "bus-requests.h"
#include "stack.h"
#include "target-rewrite.h"
#include "target-trigger.h"

/* A call, such as Apply() or Undo(), whose reply waits for visits. */
struct Request {
        sd_bus_message *message;
        char **names;     /* the drives, in the order of the call; NULL-terminated */
        size_t n_waiting; /* the reply waits only for visits to the first n_waiting of `names` */
        bool rewrites;    /* the reply has the results of target_rewrite() for the only drive in `names` */
        Request *next;
};

static Request *request_free(Request *q) {
        if (!q)
                return NULL;

        (void) names_free(q->names);
        (void) sd_bus_message_unref(q->message);
        free(q);
        return NULL;
}
DEFINE_CLEANUP(Request *, request_free);

static int request_read(Request *q, Manager *m, VisitReason reason, sd_bus_error *error) {
        int r;

        r = sd_bus_message_read_strv(q->message, &q->names);
        if (r < 0)
                return r;
        for (char **n = q->names; n && *n; n++)
                if (!manager_find(m, *n))
                        return sd_bus_error_setf(error, ERROR_NO_SUCH_DRIVE, "There is no drive '%s'.", *n);

        if (!q->names || !q->names[0]) {
                /* An empty list, for example from an unset variable, must not spin down all drives. */
                if (reason == VISIT_SPIN_DOWN)
                        return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
                                                "No drive given: SpinDown needs at least one drive name.");
                q->names = names_free(q->names);
                for (Target *t = manager_first(m); t && r >= 0; t = t->next)
                        r = names_add(&q->names, t->drive->name);
        }
        while (q->names && q->names[q->n_waiting])
                q->n_waiting++;
        return r;
}

/* Sends the reply. If the caller has disconnected, the reply is dropped. */
static void request_answer(Request *q, Manager *m) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        Target *t = q->rewrites ? manager_find(m, q->names[0]) : NULL;
        int r;

        r = q->rewrites && !t ? -ENODEV : sd_bus_message_new_method_return(q->message, &reply);
        if (r >= 0)
                r = t ? target_rewrite_answer(t, reply) : sd_bus_message_append_strv(reply, q->names);
        if (r >= 0)
                r = sd_bus_send(NULL, reply, NULL);
        if (r < 0)
                (void) sd_bus_reply_method_errno(q->message, r, NULL);
}

/* Returns true if the caller need not wait for a visit to this drive any longer. The caller does not wait for a deferred
 * visit, which may begin hours later. */
static bool is_over(const Target *t) {
        WaitKind waits = t->record->waiting_kind;

        return !t->visit.job || (!(t->visit.pending.work & WORK_REPORT) && waits != WAIT_NOTHING) ||
               (pending_only_spins_down(&t->visit.pending) && waits == WAIT_CHECK);
}

static bool request_is_over(Request *q, Manager *m) {
        for (; q->n_waiting > 0; q->n_waiting--) {
                const Target *t = manager_find(m, q->names[q->n_waiting - 1]);

                if (t && !(q->rewrites ? target_rewrite_is_over(t) : is_over(t)))
                        return false;
        }
        return true;
}

/* Adds a request. The reply is sent after the visits to the request's drives. Takes ownership of `q`. */
static int requests_add(Requests *requests, Request *q) {
        q->next = requests->items;
        requests->items = q;
        /* Some visits may have ended already. */
        requests_visit_finished(requests);
        return 1;
}

static Request *request_new(sd_bus_message *m) {
        Request *q = calloc(1, sizeof *q);

        if (q)
                q->message = sd_bus_message_ref(m);
        return q;
}

int requests_wait(Requests *requests, sd_bus_message *m, const Target *only) {
        _cleanup_(request_freep) Request *q = request_new(m);
        int r = 0;

        if (!q)
                return -ENOMEM;

        for (Target *t = manager_first(requests->manager); t && r >= 0; t = t->next)
                if (t->visit.job && (!only || t == only)) {
                        r = names_add(&q->names, t->drive->name);
                        q->n_waiting++;
                }
        return r < 0 ? r : requests_add(requests, TAKE_PTR(q));
}

int requests_rewrite(Requests *requests, sd_bus_message *m, const Target *t) {
        _cleanup_(request_freep) Request *q = request_new(m);
        int r;

        if (!q)
                return -ENOMEM;
        q->rewrites = true;
        q->n_waiting = 1;
        r = names_add(&q->names, t->drive->name);
        return r < 0 ? r : requests_add(requests, TAKE_PTR(q));
}

int requests_visit(Requests *requests, sd_bus_message *m, VisitReason reason, sd_bus_error *error) {
        _cleanup_(request_freep) Request *q = request_new(m);
        int r;

        if (!q)
                return -ENOMEM;

        r = request_read(q, requests->manager, reason, error);
        if (r < 0)
                return r;

        for (size_t i = 0; i < q->n_waiting; i++) {
                Target *t = manager_find(requests->manager, q->names[i]);

                if (reason == VISIT_RECHECK)
                        target_read(t);
                else
                        target_visit(t, reason);
        }

        return requests_add(requests, TAKE_PTR(q));
}

void requests_visit_finished(Requests *requests) {
        for (Request **p = &requests->items; *p;) {
                Request *q = *p;

                if (!request_is_over(q, requests->manager)) {
                        p = &q->next;
                        continue;
                }
                *p = q->next;
                request_answer(q, requests->manager);
                (void) request_free(q);
        }
}

void requests_done(Requests *requests) {
        while (requests->items) {
                Request *q = requests->items;

                requests->items = q->next;
                (void) request_free(q);
        }
}
