/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fsck-wait.h"
#include "pid1.h"
#include "drive-record.h"
#include "stack.h"
#include "timer.h"

#define SETTLE_RETRY_USEC (250ULL * 1000)   /* PID 1 knows devices a little later than udev */
#define FAILURE_RETRY_USEC (1000ULL * 1000) /* while PID 1 cannot be asked */
#define SAFETY_USEC (5000ULL * 1000)        /* while a ticket waits, also without a signal */
#define LINGER_USEC (3000ULL * 1000)        /* the next visit may follow at once */
#define TIMER_ACCURACY_USEC 1ULL            /* sd-event's own is a quarter of a second */

struct FsckTicket {
        FsckWait *wait;
        FsckTicket *next;
        char *disk;
        Readiness known;     /* of the disk itself, when the ticket was made */
        bool queried;        /* the present question to PID 1 is for this ticket, too … */
        FsckDevices devices; /* … and about these devices; none: it has permission, and there was no check */
        FsckWaitFn fn;
        void *userdata;
        WaitKind reported; /* to the holder: WAIT_NOTHING is permission; _WAIT_KIND_MAX: nothing yet */
        char *reported_name;
};

struct FsckWait {
        sd_event *event; /* borrowed */
        Pid1 *pid1;
        FsckTicket *tickets;
        bool asking, again;
        bool checks;            /* the last answer had checks: the next question covers all devices of all tickets */
        sd_event_source *timer; /* next question, or the end of an idle connection */
};

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata);

static int fsck_wait_set_timer(FsckWait *g, uint64_t usec) {
        return timer_start(g->event, &g->timer, usec, TIMER_ACCURACY_USEC, on_timer, g);
}

/* There is no ticket. Closes the connection later, as PID 1's signals wake up its listeners. */
static void fsck_wait_stop_polling(FsckWait *g) {
        g->again = false;
        (void) fsck_wait_set_timer(g, LINGER_USEC);
}

/* Asks PID 1 from the event loop. */
static void fsck_wait_query_soon(void *userdata) {
        FsckWait *g = userdata;

        if (g->asking)
                g->again = true;
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

/* What this ticket waits for. *ret_soon: ask again in a moment, without a signal. */
static Wait ticket_blocker(const FsckTicket *t, const FsckStatus *s, bool *ret_soon) {
        bool settled;

        /* There are no checks, as nearly always. */
        if (s->n_units == 0 && has_permission(t))
                return (Wait){ WAIT_NOTHING };

        settled = fsck_devices_settled(&t->devices, s);
        *ret_soon = *ret_soon || !settled;
        for (size_t i = 0; i < s->n_units; i++)
                if (fsck_devices_covered(&t->devices, s, s->units + i))
                        return (Wait){ WAIT_CHECK, s->units[i].name };
        return (Wait){ settled || has_permission(t) ? WAIT_NOTHING : WAIT_UDEV };
}

/* The holder may free the ticket. */
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
        /* The question was made without checks, and did not cover all devices: asks again. */
        if (overlooked) {
                g->asking = false;
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

        g->asking = false;
        if (!g->tickets)
                fsck_wait_stop_polling(g);
        else if (g->again)
                fsck_wait_query_soon(g);
        /* Signals and udev's events cause the next question; the timer is for what they miss. */
        else if (any_ticket_waits(g))
                (void) fsck_wait_set_timer(g, error < 0 ? FAILURE_RETRY_USEC : soon ? SETTLE_RETRY_USEC : SAFETY_USEC);
}

/* The names belong to the devices. */
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

        g->asking = true;
        g->again = false;
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

        if (g->asking)
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
        /* Makes the timer now, where an error can be returned. */
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

        /* A question under way is older than this ticket and not for it. */
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
