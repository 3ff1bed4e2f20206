/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fsck-wait.h"
#include "pid1.h"
#include "drive-record.h"
#include "stack.h"
#include "timer.h"

#define SETTLE_RETRY_USEC (250ULL * 1000)   /* interval of queries while PID 1 lags behind udev */
#define FAILURE_RETRY_USEC (1000ULL * 1000) /* interval of queries while PID 1 is not reachable */
#define SAFETY_USEC (5000ULL * 1000)        /* interval of queries while a ticket waits and PID 1 sends no signal */
#define LINGER_USEC (3000ULL * 1000) /* an idle connection stays open for this time, since another visit may follow */
#define TIMER_ACCURACY_USEC 1ULL     /* the default of sd-event, 250 ms, is too coarse */

struct FsckTicket {
        FsckWait *wait;
        FsckTicket *next;
        char *disk;
        Readiness known; /* the disk's state in udev's database when the ticket was created */
        bool queried;    /* the query under way covers this ticket */
        FsckDevices devices; /* the devices in the query under way; empty if the ticket has permission and no check was pending */
        FsckWaitFn fn;
        void *userdata;
        WaitKind reported; /* last value given to FsckWaitFn; _WAIT_KIND_MAX before the first call */
        char *reported_name;
};

struct FsckWait {
        sd_event *event; /* borrowed */
        Pid1 *pid1;
        FsckTicket *tickets;
        bool querying, repeat;
        bool checks;            /* the last reply listed checks, so the next query covers all devices of all tickets */
        sd_event_source *timer; /* starts the next query, or closes an idle connection */
};

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata);

static int fsck_wait_set_timer(FsckWait *g, uint64_t usec) {
        return timer_start(g->event, &g->timer, usec, TIMER_ACCURACY_USEC, on_timer, g);
}

/* Called when no ticket is left. Schedules the end of the connection: while the connection is open, each signal of
 * PID 1 wakes the service up. */
static void fsck_wait_stop_polling(FsckWait *g) {
        g->repeat = false;
        (void) fsck_wait_set_timer(g, LINGER_USEC);
}

/* Schedules a query of PID 1 from the event loop. */
static void fsck_wait_query_soon(void *userdata) {
        FsckWait *g = userdata;

        if (g->querying)
                g->repeat = true;
        else if (g->tickets)
                (void) fsck_wait_set_timer(g, 0);
}

FsckWait *fsck_wait_free(FsckWait *g) {
        if (!g)
                return NULL;

        while (g->tickets)
                (void) fsck_ticket_free(g->tickets);
        (void) pid1_free(g->pid1);
        sd_event_source_disable_unref(g->timer);
        free(g);
        return NULL;
}

Wait fsck_ticket_waits(const FsckTicket *t) {
        return (Wait){ t->reported, t->reported_name };
}

FsckTicket *fsck_ticket_free(FsckTicket *t) {
        FsckWait *g;

        if (!t)
                return NULL;

        g = t->wait;
        for (FsckTicket **p = &g->tickets; *p; p = &(*p)->next)
                if (*p == t) {
                        *p = t->next;
                        break;
                }

        fsck_devices_done(&t->devices);
        free(t->disk);
        free(t->reported_name);
        free(t);
        if (!g->tickets)
                fsck_wait_stop_polling(g);
        return NULL;
}

static bool has_permission(const FsckTicket *t) {
        return t->reported == WAIT_NOTHING;
}

static bool any_ticket_waits(const FsckWait *g) {
        for (const FsckTicket *t = g->tickets; t; t = t->next)
                if (!has_permission(t))
                        return true;
        return false;
}

/* Returns what this ticket waits for. Sets *ret_soon if the query must be repeated after SETTLE_RETRY_USEC, since no signal reports
 * the end of this wait. */
static Wait ticket_blocker(const FsckTicket *t, const FsckStatus *s, bool *ret_soon) {
        bool settled;

        /* The common case: no checks. */
        if (s->n_units == 0 && has_permission(t))
                return (Wait){ WAIT_NOTHING };

        settled = fsck_devices_settled(&t->devices, s);
        *ret_soon = *ret_soon || !settled;
        for (size_t i = 0; i < s->n_units; i++)
                if (fsck_devices_covered(&t->devices, s, s->units + i))
                        return (Wait){ WAIT_CHECK, s->units[i].name };
        return (Wait){ settled || has_permission(t) ? WAIT_NOTHING : WAIT_UDEV };
}

/* Calls FsckWaitFn, which may free the ticket. */
static void ticket_report(FsckTicket *t, Wait w) {
        if (t->reported == w.kind && streq_ptr(t->reported_name, w.name))
                return;

        t->reported = w.kind;
        (void) string_replace(&t->reported_name, w.name);
        t->fn(t->userdata, w);
}

static void on_fsck_status(void *userdata, int error, const FsckStatus *status) {
        FsckWait *g = userdata;
        bool checks = error >= 0 && status->n_units > 0, overlooked = checks && !g->checks && g->tickets, soon = false;

        g->checks = checks;
        /* Repeats the query: the last query assumed that no check is pending, and did not cover all devices. */
        if (overlooked) {
                g->querying = false;
                fsck_wait_query_soon(g);
                return;
        }

        for (FsckTicket *t = g->tickets, *next; t; t = next) {
                next = t->next;
                if (t->queried && error < 0)
                        ticket_report(t, (Wait){ error == -ENOMEM ? WAIT_MEMORY : WAIT_SYSTEMD });
                else if (t->queried)
                        ticket_report(t, ticket_blocker(t, status, &soon));
        }

        g->querying = false;
        if (!g->tickets)
                fsck_wait_stop_polling(g);
        else if (g->repeat)
                fsck_wait_query_soon(g);
        /* Signals and udev events start the next query. The timer starts a query for changes that cause no signal and
         * no event. */
        else if (any_ticket_waits(g))
                (void) fsck_wait_set_timer(g, error < 0 ? FAILURE_RETRY_USEC : soon ? SETTLE_RETRY_USEC : SAFETY_USEC);
}

/* The device units in a query. The names are borrowed from the devices. */
typedef struct UnitNames {
        GROWING_ARRAY(char *, items);
} UnitNames;

static void unit_names_done(UnitNames *n) {
        free(n->items);
}

static int unit_names_add(UnitNames *n, char *name) {
        if (!GREW(n, items))
                return -ENOMEM;
        n->items[n->n_items++] = name;
        return 0;
}

static int add_units(UnitNames *units, const FsckDevices *d) {
        int r = 0;

        for (size_t i = 0; i < d->n_items && r >= 0; i++)
                if (d->items[i].unit)
                        r = unit_names_add(units, d->items[i].unit);
        return r;
}

static void fsck_wait_query_pid1(FsckWait *g) {
        _cleanup_(unit_names_done) UnitNames units = {};
        int r = 0;

        g->querying = true;
        g->repeat = false;
        for (FsckTicket *t = g->tickets; t; t = t->next) {
                t->queried = true;
                fsck_devices_done(&t->devices);
                if (r >= 0 && (!has_permission(t) || g->checks))
                        r = fsck_devices_read(&t->devices, t->disk, g->checks ? NULL : &t->known);
                if (r >= 0)
                        r = add_units(&units, &t->devices);
        }
        if (r >= 0)
                r = unit_names_add(&units, NULL);
        if (r >= 0)
                r = pid1_query_fsck_status(g->pid1, units.items);

        if (r < 0)
                on_fsck_status(g, r, NULL);
}

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        FsckWait *g = userdata;

        if (g->querying)
                return 0;
        if (g->tickets)
                fsck_wait_query_pid1(g);
        else
                pid1_disconnect(g->pid1);
        return 0;
}

int fsck_wait_new(sd_event *event, Broker *broker, FsckWait **ret) {
        _cleanup_(fsck_wait_freep) FsckWait *g = NULL;
        int r;

        g = calloc(1, sizeof *g);
        if (!g)
                return -ENOMEM;

        g->event = event;
        r = pid1_new(event, broker, &pid1_ways, on_fsck_status, fsck_wait_query_soon, g, &g->pid1);
        /* The timer is created here, where an error can be returned. */
        if (r >= 0)
                r = fsck_wait_set_timer(g, LINGER_USEC);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(g);
        return 0;
}

int fsck_wait_request(FsckWait *g, const Drive *drive, FsckWaitFn fn, void *userdata, FsckTicket **ret) {
        FsckTicket *t;

        t = malloc(sizeof *t);
        if (!t)
                return -ENOMEM;

        /* A query that is already under way does not cover this ticket, so `queried` is false. */
        *t = (FsckTicket){
                .wait = g,
                .next = g->tickets,
                .disk = strdup(drive->name),
                .known = { .initialized = true, .plugged = drive->plugged },
                .fn = fn,
                .userdata = userdata,
                .reported = _WAIT_KIND_MAX,
        };
        if (!t->disk) {
                free(t);
                return -ENOMEM;
        }
        g->tickets = t;
        fsck_wait_query_soon(g);

        *ret = t;
        return 0;
}

void fsck_wait_poke(FsckWait *g) {
        if (any_ticket_waits(g))
                fsck_wait_query_soon(g);
}
