/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fsck-devices.h"
#include "fsck-wait.h"
#include "record.h"
#include "stack.h"
#include "timer.h"

#define SETTLE_RETRY_USEC (250ULL * 1000)   /* udev's events say when to look again; PID 1 is a little behind them */
#define FAILURE_RETRY_USEC (1000ULL * 1000) /* while PID 1 cannot be asked */
#define SAFETY_USEC (5000ULL * 1000)        /* while something waits, even if nobody tells us anything */
#define LINGER_USEC (3000ULL * 1000)        /* the next visit may follow at once */
#define TIMER_ACCURACY_USEC 1ULL            /* sd-event's own is a quarter of a second */

struct FsckTicket {
        FsckWait *wait;
        FsckTicket *next;
        char *disk;
        bool asked; /* the present question to PID 1 is for it, too */
        FsckWaitFn fn;
        void *userdata;
        WaitKind told; /* what its holder knows: WAIT_NOTHING is leave; _WAIT_KIND_MAX: nothing yet */
        char *told_name;
};

struct FsckWait {
        sd_event *event;
        Pid1 *pid1;
        FsckTicket *tickets;
        bool asking, again;
        bool thorough;          /* a check waits for a device that PID 1 does not know yet: ask about all devices */
        FsckDevices devices;    /* that the present question is about */
        sd_event_source *timer; /* next question, or the end of an idle connection */
};

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata);

static int fsck_wait_set_timer(FsckWait *g, uint64_t usec) {
        return timer_start(g->event, &g->timer, usec, TIMER_ACCURACY_USEC, on_timer, g);
}

/* Nobody has leave or waits for it. An idle connection to PID 1 means wake-ups for its signals. */
static void fsck_wait_rest(FsckWait *g) {
        g->again = false;
        (void) fsck_wait_set_timer(g, LINGER_USEC);
}

/* Ask soon; never from in here. */
static void fsck_wait_look(FsckWait *g) {
        if (g->asking)
                g->again = true;
        else if (g->tickets)
                (void) fsck_wait_set_timer(g, 0);
}

static void on_news(void *userdata) {
        fsck_wait_look(userdata);
}

int fsck_wait_new(sd_event *event, FsckWait **ret) {
        _cleanup_(fsck_wait_freep) FsckWait *g = NULL;
        int r;

        g = calloc(1, sizeof *g);
        if (!g)
                return -ENOMEM;

        g->event = sd_event_ref(event);
        r = pid1_new(event, &pid1_ways, on_news, g, &g->pid1);
        /* Here, where an error can be told. */
        if (r >= 0)
                r = fsck_wait_set_timer(g, LINGER_USEC);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(g);
        return 0;
}

FsckWait *fsck_wait_free(FsckWait *g) {
        if (!g)
                return NULL;

        while (g->tickets)
                (void) fsck_ticket_free(g->tickets);
        (void) pid1_free(g->pid1);
        sd_event_source_disable_unref(g->timer);
        sd_event_unref(g->event);
        fsck_devices_done(&g->devices);
        free(g);
        return NULL;
}

Wait fsck_ticket_waits(const FsckTicket *t) {
        return (Wait){ t->told, t->told_name };
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

        free(t->told_name);
        free(t->disk);
        free(t);
        if (!g->tickets)
                fsck_wait_rest(g);
        return NULL;
}

static bool has_leave(const FsckTicket *t) {
        return t->told == WAIT_NOTHING;
}

static bool fsck_wait_has_waiting(const FsckWait *g) {
        for (const FsckTicket *t = g->tickets; t; t = t->next)
                if (!has_leave(t))
                        return true;
        return false;
}

/* What keeps this ticket waiting. `ret_soon`: look again in a moment, without being told. */
static Wait ticket_blocker(const FsckTicket *t, const FsckStatus *s, bool *ret_soon) {
        _cleanup_(names_freep) char **above = NULL;

        /* Nothing waits for a check, as nearly always. */
        if (s->n_units == 0 && has_leave(t))
                return (Wait){ WAIT_NOTHING };

        if (stack_above(INVENTORY_CLASSDIR, t->disk, &above) < 0)
                return (Wait){ WAIT_MEMORY };

        for (size_t i = 0; i < s->n_units; i++) {
                if (!unit_covers(&t->wait->devices, s, s->units + i, t->disk, above))
                        continue;
                if (!s->units[i].sysname && !s->units[i].root)
                        *ret_soon = *ret_soon ||
                                    !disk_is_settled(&t->wait->devices, s, t->disk, above); /* else udev tells */
                return (Wait){ WAIT_CHECK, s->units[i].name };
        }

        if (!has_leave(t) && !disk_is_settled(&t->wait->devices, s, t->disk, above)) {
                *ret_soon = true;
                return (Wait){ WAIT_UDEV };
        }

        return (Wait){ WAIT_NOTHING };
}

/* Whoever is told may free the ticket. */
static void ticket_tell(FsckTicket *t, Wait w) {
        if (t->told == w.kind && streq_ptr(t->told_name, w.name))
                return;

        t->told = w.kind;
        (void) string_replace(&t->told_name, w.name);
        t->fn(t->userdata, w);
}

/* Is there a check of which nobody can say yet what it is for? */
static bool is_unresolved(const FsckStatus *s) {
        for (size_t i = 0; i < s->n_units; i++)
                if (!s->units[i].sysname && !s->units[i].root)
                        return true;
        return false;
}

static void on_fsck_status(void *userdata, int error, const FsckStatus *status) {
        FsckWait *g = userdata;
        bool soon = false;

        /* Were all devices asked about that matter? If not, no answer can be given yet. */
        if (g->tickets && error >= 0 && !g->thorough && is_unresolved(status)) {
                g->asking = false;
                g->thorough = true;
                fsck_wait_look(g);
                return;
        }

        for (FsckTicket *t = g->tickets, *next; t; t = next) {
                next = t->next;
                if (t->asked && error < 0)
                        ticket_tell(t, (Wait){ WAIT_SYSTEMD });
                else if (t->asked)
                        ticket_tell(t, ticket_blocker(t, status, &soon));
        }
        fsck_devices_done(&g->devices);
        g->asking = g->thorough = false;

        if (!g->tickets)
                fsck_wait_rest(g);
        else if (g->again)
                fsck_wait_look(g);
        /* PID 1 and udev tell when to look again; the first is a little behind the other. */
        else if (fsck_wait_has_waiting(g))
                (void) fsck_wait_set_timer(g, error < 0 ? FAILURE_RETRY_USEC : soon ? SETTLE_RETRY_USEC : SAFETY_USEC);
}

/* udev is asked about the disks that have to be settled first, or about all. */
static void fsck_wait_ask_pid1(FsckWait *g) {
        _cleanup_free_ char **units = NULL; /* the names are the devices' */
        int r = 0;

        g->asking = true;
        g->again = false;
        fsck_devices_done(&g->devices);
        for (FsckTicket *t = g->tickets; t; t = t->next) {
                t->asked = true;
                if (r >= 0 && (!has_leave(t) || g->thorough))
                        r = fsck_devices_add(&g->devices, t->disk);
        }
        if (r >= 0)
                r = fsck_devices_units(&g->devices, &units);
        if (r >= 0)
                r = pid1_ask_fsck_status(g->pid1, units, on_fsck_status, g);

        if (r < 0)
                on_fsck_status(g, r, NULL);
}

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        FsckWait *g = userdata;

        if (g->asking)
                return 0;
        if (g->tickets)
                fsck_wait_ask_pid1(g);
        else
                pid1_disconnect(g->pid1);
        return 0;
}

int fsck_wait_ask(FsckWait *g, const char *disk, FsckWaitFn fn, void *userdata, FsckTicket **ret) {
        FsckTicket *t;
        char *copy;

        copy = strdup(disk);
        t = copy ? malloc(sizeof *t) : NULL;
        if (!t) {
                free(copy);
                return -ENOMEM;
        }

        /* An answer on its way already is older than this, and none for it. */
        *t = (FsckTicket){
                .wait = g,
                .next = g->tickets,
                .disk = copy,
                .fn = fn,
                .userdata = userdata,
                .told = _WAIT_KIND_MAX,
        };
        g->tickets = t;
        fsck_wait_look(g);

        *ret = t;
        return 0;
}

void fsck_wait_poke(FsckWait *g) {
        if (fsck_wait_has_waiting(g))
                fsck_wait_look(g);
}
