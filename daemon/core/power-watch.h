/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Is the drive active or in standby, and which I/O made it spin up? A state machine without clock, drive or journal: the caller
 * passes the time, the kernel's counters, the answers to probes, the tracer's reports and the service's own commands, and gets the
 * PowerNews that follow. All times are of CLOCK_MONOTONIC, in µs.
 *
 *                  power_watch_settle(): somebody wants to know
 *          OFF ─────────────────────────────────────────────────► POLLED ◄───────────────┐
 *           ▲                                                   │   │ ▲                  │ a spin-up, or the tracer ended
 *           └───────────────────────────────────────────────────┘   │ │                  │
 *                  nobody does                                      │ │ POWER_NEWS_PROBE │
 *                                                                   ▼ │ POWER_NEWS_IDLE  │
 *                                       a probe finds standby ──► TRACED ────────────────┘
 *
 * No drive reports that its standby timer has run out. So while the drive is POLLED, the counters of its I/O are read four times in
 * its patience, the time without I/O after which it should be in standby. When that time is over without I/O, the drive is probed
 * by a command that resets no timer, or is spun down where the service does that. A probe that finds it active is repeated after
 * twice, four and eight times the patience, then no more until there is I/O. A probe that finds it in standby hands it to the
 * tracer, and while it is TRACED nothing is polled: the tracer reports each command that reaches the drive. Most commands spin a
 * drive up; after one that only some drives spin up for, the drive is probed. Where no tracer runs, polling goes on, and I/O after
 * a spin-down by the service is a spin-up by an unknown process.
 *
 * I/O that the kernel does not count (queue/iostats is 0) cannot be seen: such a drive is probed as if it were idle, and is never
 * spun down. */

#include "drive.h"
#include "wake.h"

#define POWER_WATCH_PROBES_MAX 4U

/* What the files and the verdicts ask for. The watch is off unless the service spins the drive down, or its spin-ups are traced. */
typedef struct PowerPolicy {
        uint64_t patience;   /* a drive without I/O for so long is probed or spun down; µs */
        bool by_service;     /* the service spins it down */
        bool traced;         /* the tracer watches it in standby … */
        bool traced_stopped; /* … or does so after a spin-down by the service alone */
} PowerPolicy;

/* The kernel's counters at this moment. */
typedef struct PowerCounters {
        uint64_t now;
        int error;   /* 0; -ENODATA: I/O is not counted; else: the drive is probably gone */
        uint64_t io; /* since the drive was attached, without the service's own commands */
        bool in_flight;
} PowerCounters;

typedef enum PowerEvent {
        POWER_NEWS_IO = 1 << 0,           /* I/O was seen: the gap without I/O is over */
        POWER_NEWS_ACTIVE = 1 << 1,       /* the drive is active just now, and a command more does not matter */
        POWER_NEWS_SPUN_UP = 1 << 2,      /* a spin-up to count and to log */
        POWER_NEWS_WOKEN = 1 << 3,        /* no longer in standby, as far as that is known */
        POWER_NEWS_STILL_ACTIVE = 1 << 4, /* a probe found it active although it had no I/O for its patience */
        POWER_NEWS_MODE = 1 << 5,         /* power_watch_mode() was confirmed or changed */
        POWER_NEWS_COUNTED = 1 << 6,      /* a time without I/O begins */
        POWER_NEWS_UNCOUNTED = 1 << 7,    /* the kernel does not count its I/O */
        POWER_NEWS_TRACE = 1 << 8,        /* hand it to the tracer; power_watch_traced() when that has it */
        POWER_NEWS_UNTRACE = 1 << 9,
        POWER_NEWS_PROBE = 1 << 10, /* probe its power mode; power_watch_probed() */
        POWER_NEWS_IDLE = 1 << 11,  /* the service may spin it down; power_watch_stopped(), _delay() or _give_up() */
} PowerEvent;

typedef struct PowerNews {
        unsigned events;
        bool has_waker;                       /* else the waker is not known */
        Wake waker;                           /* of POWER_NEWS_SPUN_UP and POWER_NEWS_WOKEN */
        bool by_io;                           /* POWER_NEWS_WOKEN: somebody used the drive */
        bool to_log;                          /* POWER_NEWS_SPUN_UP: the policy wants spin-ups logged */
        uint64_t standby_from, standby_until; /* POWER_NEWS_SPUN_UP: it was in standby at least so long */
        uint64_t stopped_at;                  /* POWER_NEWS_WOKEN: the service had spun it down then; 0: it had not */
        bool has_gap;                         /* POWER_NEWS_IO: how long the gap was is known … */
        uint64_t gap_least, gap_most;         /* … to lie between these; µs */
        uint64_t watched; /* POWER_NEWS_IO: since the last such news the drive was watched so long; s */
} PowerNews;

typedef struct PowerWatch {
        PowerPolicy policy;
        PowerMode mode;      /* POWER_UNKNOWN: not known, or no longer */
        bool is_traced;      /* the state is TRACED; else … */
        uint64_t poll_at;    /* … 0: it is OFF; else it is POLLED */
        uint64_t traced_at;  /* it is in standby at least since then */
        uint64_t stopped_at; /* the service spun it down, and no spin-up is known since; 0: it did not */
        struct {
                Wake *suspect, *later; /* may have made it spin up: the drive is being probed; and the next one */
                unsigned harmless;     /* doubtful ones of these kinds (a bit for each WakeKind) did not */
        } command;
        uint64_t patience; /* the policy's, when the time without I/O began */
        bool is_uncounted, has_given_up;
        unsigned n_probes; /* that found it active, without I/O between them */
        struct {
                uint64_t io;          /* the counter at the last poll that saw I/O … */
                uint64_t from, since; /* … the last I/O was between the two … */
                uint64_t until;       /* … and there was none from then to here; 0: not polled since */
        } quiet;
        uint64_t watched_at; /* PowerNews.watched counts from then; 0: from the next time without I/O */
} PowerWatch;

void power_watch_done(PowerWatch *w);

/* Does the policy want the watch, and the tracer in it? */
bool power_watch_is_wanted(const PowerWatch *w);
bool power_watch_wants_trace(const PowerWatch *w);

/* No visit is under way, or the policy changed: turns the watch on or off. `quiet_since`, `quiet_io`: an earlier run of the service
 * saw no I/O since then, and the counter was this; 0: no such run is known. */
void power_watch_settle(PowerWatch *w, const PowerCounters *c, uint64_t quiet_since, uint64_t quiet_io, PowerNews *ret);

/* The drive was active up to now: it lost its settings, say. */
void power_watch_restart(PowerWatch *w, const PowerCounters *c, PowerNews *ret);

/* When to call power_watch_poll(); UINT64_MAX: never. Before that time it does nothing. */
uint64_t power_watch_due(const PowerWatch *w);
void power_watch_poll(PowerWatch *w, const PowerCounters *c, PowerNews *ret);

/* ---- what a visit finds out ---- */

typedef struct PowerProbe {
        PowerMode mode;
        bool on_purpose; /* the visit was to probe it */
        bool spun_down;  /* the visit was to spin it down: its result is of interest without a policy, too */
        bool again;      /* one more probe is pending */
        uint64_t quiet_since, quiet_io; /* as power_watch_settle() has them */
} PowerProbe;

void power_watch_probed(PowerWatch *w, const PowerProbe *p, const PowerCounters *c, PowerNews *ret);

/* The service spun it down; power_watch_probed() follows where the drive confirms that. */
void power_watch_stopped(PowerWatch *w, bool unverifiable, uint64_t now, PowerNews *ret);
/* It cannot be spun down before `until`. */
void power_watch_delay(PowerWatch *w, uint64_t until, uint64_t now);
/* … or not just now. */
void power_watch_retry(PowerWatch *w, uint64_t now);
/* … or not before there is I/O. */
void power_watch_give_up(PowerWatch *w);

/* ---- what the tracer reports ---- */

/* It has the drive. */
void power_watch_traced(PowerWatch *w, const PowerCounters *c);
/* It sees all commands from now on. */
void power_watch_confirmed(PowerWatch *w, const PowerCounters *c, PowerNews *ret);
/* A command reached the drive. `is_probing`: a visit that probes it, or spins it up, is pending or under way. */
void power_watch_command(PowerWatch *w, const Wake *by, bool is_probing, const PowerCounters *c, PowerNews *ret);
/* The tracer ended. */
void power_watch_lost(PowerWatch *w, const PowerCounters *c, PowerNews *ret);

/* Should the next probe find it active, this was the waker. */
void power_watch_suspect(PowerWatch *w, const Wake *by);

/* ---- what others ask ---- */

static inline PowerMode power_watch_mode(const PowerWatch *w) {
        return w->mode;
}

/* Is the drive in standby, and the tracer watching it? */
static inline bool power_watch_is_traced(const PowerWatch *w) {
        return w->is_traced;
}

static inline bool power_watch_is_stopped(const PowerWatch *w) {
        return w->stopped_at > 0;
}

/* Is the drive polled, so that the service may spin it down when it is idle? */
bool power_watch_may_spin_down(const PowerWatch *w);

/* When its time without I/O is over; c->now or earlier: it is over. */
uint64_t power_watch_idle_at(const PowerWatch *w, const PowerCounters *c);
