/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "gate.h"
#include "inventory.h"
#include "pid1.h"
#include "stack.h"

#define SETTLE_RETRY_USEC (250ULL * 1000)   /* udev's events say when to look again; PID 1 is a little behind them */
#define FAILURE_RETRY_USEC (1000ULL * 1000) /* while PID 1 cannot be asked */
#define SAFETY_USEC (5000ULL * 1000)        /* while something waits, even if nobody tells us anything */
#define LINGER_USEC (3000ULL * 1000)        /* an idle connection to PID 1 means wake-ups for its signals */

struct GateTicket {
        Gate *gate;
        GateTicket *next;
        char *disk;
        bool settled;
        unsigned since; /* the first survey that may answer it */
        GateFn fn;
        void *userdata;
        char *waiting_for;
        bool answered;       /* by the survey that is being told of … */
        const char *blocker; /* … with this */
};

struct Gate {
        sd_event *event;
        Pid1 *pid1;
        GateTicket *tickets;
        unsigned survey; /* number of the last one begun */
        bool surveying, again;
        bool thorough;          /* a check waits for a device that PID 1 does not know yet: ask about all devices */
        char **asked;           /* the device units that the present survey asks about */
        sd_event_source *timer; /* next look, or the end of an idle connection */
};

static void gate_look(Gate *g);

int gate_new(sd_event *event, Gate **ret) {
        _cleanup_(gate_freep) Gate *g = NULL;
        int r;

        g = calloc(1, sizeof *g);
        if (!g)
                return -ENOMEM;

        g->event = sd_event_ref(event);
        r = pid1_new(event, &g->pid1);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(g);
        return 0;
}

Gate *gate_free(Gate *g) {
        if (!g)
                return NULL;

        while (g->tickets)
                (void) gate_ticket_free(g->tickets);
        (void) pid1_free(g->pid1);
        sd_event_source_disable_unref(g->timer);
        sd_event_unref(g->event);
        (void) names_free(g->asked);
        free(g);
        return NULL;
}

GateTicket *gate_ticket_free(GateTicket *t) {
        if (!t)
                return NULL;

        for (GateTicket **p = &t->gate->tickets; *p; p = &(*p)->next)
                if (*p == t) {
                        *p = t->next;
                        break;
                }

        free(t->waiting_for);
        free(t->disk);
        free(t);
        return NULL;
}

static int on_timer(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata) {
        Gate *g = userdata;

        if (g->tickets)
                gate_look(g);
        else if (!g->surveying)
                pid1_disconnect(g->pid1);
        return 0;
}

static void gate_set_timer(Gate *g, uint64_t usec) {
        int r;

        if (!g->timer)
                r = sd_event_add_time_relative(g->event, &g->timer, CLOCK_MONOTONIC, usec, 0, on_timer, g);
        else {
                r = sd_event_source_set_time_relative(g->timer, usec);
                if (r >= 0)
                        r = sd_event_source_set_enabled(g->timer, SD_EVENT_ONESHOT);
        }

        /* Without a timer udev's events still make us look again. */
        (void) r;
}

/* The block device of the root file system; NULL when that has none of its own (btrfs, overlay). */
static char *root_device(void) {
        char path[64];
        _cleanup_free_ char *real = NULL;
        struct stat st;

        if (stat("/", &st) < 0)
                return NULL;

        (void) snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
        real = realpath(path, NULL);
        return real ? strdup(strrchr(real, '/') + 1) : NULL;
}

/* Does PID 1 know this device? udev is a little ahead of it, and only then is a check's job bound to the device. */
static bool is_plugged(const Gate *g, const Survey *s, const Readiness *ready) {
        _cleanup_free_ char *unit = NULL;

        if (!ready->plugged || !ready->node)
                return true;
        if (device_unit_name(ready->node, &unit) < 0)
                return false;
        return names_contain(g->asked, unit) && !names_contain(s->inactive, unit);
}

/* May something still come to light on this device that a waiting check is for? What udev or PID 1 have not processed, and
 * LUKS, LVM or RAID members that nothing has opened yet. */
static bool is_unresolved(const Gate *g, const Survey *s, const char *name) {
        Readiness ready = {};
        bool answer;
        int r;

        /* A device that is gone hides nothing; one that cannot be asked about may. */
        r = inventory_readiness(name, &ready);
        if (r < 0)
                answer = r != -ENODEV;
        else
                answer = !ready.initialized || !ready.ready || !is_plugged(g, s, &ready) ||
                         (ready.container && !stack_is_held(INVENTORY_CLASSDIR, name));
        readiness_done(&ready);
        return answer;
}

static bool disk_is_unresolved(const Gate *g, const Survey *s, const char *disk, char *const *above) {
        if (is_unresolved(g, s, disk))
                return true;
        for (; above && *above; above++)
                if (is_unresolved(g, s, *above))
                        return true;
        return false;
}

static bool unit_covers(const Gate *g, const Survey *s, const FsckUnit *u, const char *disk, char *const *above) {
        _cleanup_free_ char *root = u->root ? root_device() : NULL;
        const char *sysname = u->root ? root : u->sysname;

        if (sysname)
                return streq(sysname, disk) || names_contain(above, sysname);
        /* When it cannot be known which device that is, it may lie on this one. */
        return u->root || disk_is_unresolved(g, s, disk, above);
}

static bool is_settled(const Gate *g, const Survey *s, const char *name) {
        Readiness ready = {};
        bool settled;
        int r;

        r = inventory_readiness(name, &ready);
        if (r < 0)
                settled = r == -ENODEV;
        else
                settled = ready.initialized && is_plugged(g, s, &ready);
        readiness_done(&ready);
        return settled;
}

/* Are the disk and all its parts known to udev and PID 1? Jobs for checks come only then. */
static bool disk_is_settled(const Gate *g, const Survey *s, const char *disk, char *const *above) {
        if (!is_settled(g, s, disk))
                return false;
        for (; above && *above; above++)
                if (!is_settled(g, s, *above))
                        return false;
        return true;
}

/* What keeps this ticket waiting, NULL for nothing. `ret_soon`: look again in a moment, without being told. */
static const char *ticket_blocker(const GateTicket *t, const Survey *s, bool *ret_soon) {
        _cleanup_(names_freep) char **above = NULL;

        if (stack_above(INVENTORY_CLASSDIR, t->disk, &above) < 0)
                return "memory";

        for (size_t i = 0; i < s->n_units; i++) {
                if (!unit_covers(t->gate, s, s->units + i, t->disk, above))
                        continue;
                if (!s->units[i].sysname && !s->units[i].root)
                        *ret_soon = *ret_soon || !disk_is_settled(t->gate, s, t->disk, above); /* else udev tells */
                return s->units[i].name;
        }

        if (t->settled && !disk_is_settled(t->gate, s, t->disk, above)) {
                *ret_soon = true;
                return "udev";
        }

        return NULL;
}

static void ticket_wait(GateTicket *t, const char *what) {
        if (streq_ptr(t->waiting_for, what))
                return;

        free(t->waiting_for);
        t->waiting_for = strdup(what);
        t->fn(t->userdata, what);
}

static void on_jobs(void *userdata) {
        gate_poke(userdata);
}

static GateTicket *gate_answered(Gate *g) {
        for (GateTicket *t = g->tickets; t; t = t->next)
                if (t->answered)
                        return t;
        return NULL;
}

static void on_survey(void *userdata, int error, const Survey *survey) {
        Gate *g = userdata;
        bool soon = false;
        int r;

        g->surveying = false;

        /* Were all devices asked about that matter? If not, no answer can be given yet. */
        if (error >= 0 && !g->thorough)
                for (size_t i = 0; i < survey->n_units; i++)
                        if (!survey->units[i].sysname && !survey->units[i].root) {
                                g->thorough = true;
                                gate_look(g);
                                return;
                        }

        for (GateTicket *t = g->tickets; t; t = t->next) {
                if ((int) (t->since - g->survey) > 0)
                        continue;
                t->answered = true;
                t->blocker = error < 0 ? "systemd" : ticket_blocker(t, survey, &soon);
        }

        /* Whoever is told may ask anew and withdraw questions, so the list is begun from the top each time. */
        for (GateTicket *t; (t = gate_answered(g));) {
                GateFn fn = t->fn;
                void *fn_userdata = t->userdata;

                t->answered = false;
                if (t->blocker) {
                        ticket_wait(t, t->blocker);
                        continue;
                }
                (void) gate_ticket_free(t);
                fn(fn_userdata, NULL);
        }

        g->thorough = false;
        if (!g->tickets) {
                (void) pid1_watch_jobs(g->pid1, NULL, NULL);
                gate_set_timer(g, LINGER_USEC);
                return;
        }

        if (g->again) {
                gate_look(g);
                return;
        }

        /* Events are to tell when to look again, but one may have passed before they were asked for, and a connection
         * that breaks takes them with it. */
        r = error < 0 ? error : pid1_watch_jobs(g->pid1, on_jobs, g);
        gate_set_timer(g, r > 0 || soon ? SETTLE_RETRY_USEC : r < 0 ? FAILURE_RETRY_USEC : SAFETY_USEC);
}

static int units_add(char ***units, const char *name) {
        _cleanup_free_ char *unit = NULL;
        Readiness ready = {};
        size_t n = 0;
        char **p;
        int r = 0;

        if (inventory_readiness(name, &ready) >= 0 && ready.plugged && ready.node)
                r = device_unit_name(ready.node, &unit);
        readiness_done(&ready);
        if (r < 0 || !unit)
                return r;

        while (*units && (*units)[n])
                n++;
        p = reallocarray(*units, n + 2, sizeof *p);
        if (!p)
                return -ENOMEM;
        *units = p;
        p[n] = TAKE_PTR(unit);
        p[n + 1] = NULL;
        return 0;
}

/* The device units of everything on the disks whose tickets want them settled, or of all. */
static int device_units(const Gate *g, char ***ret) {
        _cleanup_(names_freep) char **units = NULL;

        for (const GateTicket *t = g->tickets; t; t = t->next) {
                _cleanup_(names_freep) char **above = NULL;
                int r;

                if (!t->settled && !g->thorough)
                        continue;

                r = stack_above(INVENTORY_CLASSDIR, t->disk, &above);
                if (r >= 0)
                        r = units_add(&units, t->disk);
                for (char **a = above; r >= 0 && a && *a; a++)
                        r = units_add(&units, *a);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(units);
        return 0;
}

static void gate_look(Gate *g) {
        int r;

        g->again = g->surveying;
        if (g->surveying)
                return;

        g->asked = names_free(g->asked);
        r = device_units(g, &g->asked);
        if (r >= 0)
                r = pid1_survey(g->pid1, g->asked, on_survey, g);
        if (r < 0) {
                gate_set_timer(g, FAILURE_RETRY_USEC);
                return;
        }

        g->survey++;
        g->surveying = true;
}

int gate_ask(Gate *g, const char *disk, bool settled, GateFn fn, void *userdata, GateTicket **ret) {
        GateTicket *t;
        char *copy;

        copy = strdup(disk);
        t = copy ? malloc(sizeof *t) : NULL;
        if (!t) {
                free(copy);
                return -ENOMEM;
        }

        /* An answer on its way already may be older than the question. */
        *t = (GateTicket){
                .gate = g,
                .next = g->tickets,
                .disk = copy,
                .settled = settled,
                .since = g->survey + 1,
                .fn = fn,
                .userdata = userdata,
        };
        g->tickets = t;
        gate_look(g);

        *ret = t;
        return 0;
}

void gate_poke(Gate *g) {
        if (g->tickets)
                gate_look(g);
}
