/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Tracks whether a drive is active or in standby, and which I/O made it spin up.
 *
 * The state machine has no clock, and no access to the drive, the kernel or the journal. Its caller passes events: polls of the kernel's
 * I/O counters, answers to probes, reports of the tracer, and spin-downs by the service. An event returns PowerNews, on which the caller
 * acts. All times are CLOCK_MONOTONIC, in µs.
 *
 *            the policy wants the watch             a probe finds standby
 *        ────────────────────────────────►         ─────────────────────────►
 *    OFF                                   POLLED                             TRACED
 *        ◄────────────────────────────────         ◄─────────────────────────
 *         the policy no longer wants it,            the drive spins up,
 *         from either state                         or the tracer ends
 *
 * POLLED: The drive is active, or its power mode is not known. PowerPolicy.patience is the time without I/O after which the drive should
 * be in standby. No drive reports that its standby timer has expired, so the I/O counters are polled four times during the patience. After
 * the patience without I/O, the service spins the drive down (POWER_NEWS_IDLE), or probes the drive with a command that does not restart the
 * standby timer (POWER_NEWS_PROBE). If the probe finds the drive active, the probe is repeated after two, four and eight times the
 * patience, and then not again before the next I/O.
 *
 * TRACED: The drive is in standby. Its counters are not polled, since the tracer reports each command that reaches the drive. Most
 * commands spin a drive up. After a command that spins up only some drives, the drive is probed.
 *
 * Without a tracer, a drive in standby stays POLLED. I/O after a spin-down by the service then counts as a spin-up by an unknown process.
 *
 * The kernel does not count I/O while queue/iostats is 0. A drive without counters is probed as if it were idle, and is never spun
 * down by the service. */

#include "drive.h"
#include "wake.h"

#define POWER_WATCH_PROBES_MAX 4U
/* Time between a command of another program and the probe that follows. Programs such as smartctl send several commands in a row. If such
 * a command has to wait for the probe, the kernel sends the command later from a thread of its own, and the tracer cannot name the program. */
#define POWER_WATCH_BURST_USEC (1000ULL * 1000)

/* The policy that follows from the configuration and the verdicts. The watch is on if the service spins the drive down or if the
 * drive's spin-ups are traced. */
typedef struct PowerPolicy {
        uint64_t patience; /* time without I/O after which the drive is probed or spun down; µs */
        bool by_service;   /* the service spins the drive down */
        bool traced;       /* the tracer watches the drive during each standby */
        bool traced_stopped; /* the tracer watches the drive only after a spin-down by the service or by a runtime suspend */
} PowerPolicy;

/* The kernel's I/O counters at the time `now`. */
typedef struct PowerCounters {
        uint64_t now;
        int error;      /* 0; -ENODATA: the kernel does not count I/O; other errno: the drive is probably gone */
        uint64_t io;    /* number of I/O requests since attach, without the service's own commands */
        bool in_flight; /* a request is in flight */
        bool suspended; /* the drive is runtime-suspended; read only for power_watch_confirmed() */
} PowerCounters;

/* Events to report, and actions that the caller must do. After an action, the caller calls the function that the
 * comment on the action names. */
typedef enum PowerEvent {
        POWER_NEWS_IO = 1 << 0,           /* I/O was seen after a time without I/O */
        POWER_NEWS_ACTIVE = 1 << 1,       /* the drive is active now, so another command does not spin it up */
        POWER_NEWS_SPUN_UP = 1 << 2,      /* count and log a spin-up */
        POWER_NEWS_LEFT_STANDBY = 1 << 3, /* the drive is probably no longer in standby */
        POWER_NEWS_STILL_ACTIVE = 1 << 4, /* a probe found the drive active after PowerPolicy.patience without I/O */
        POWER_NEWS_MODE = 1 << 5,         /* the result of power_watch_mode() was confirmed or has changed */
        POWER_NEWS_COUNTED = 1 << 6,      /* a time without I/O begins */
        POWER_NEWS_UNCOUNTED = 1 << 7,    /* the kernel does not count the drive's I/O */
        POWER_NEWS_TRACE = 1 << 8,        /* let the tracer watch the drive, then call power_watch_traced() */
        POWER_NEWS_UNTRACE = 1 << 9,      /* the tracer need no longer watch the drive */
        POWER_NEWS_PROBE = 1 << 10,       /* probe the power mode, then call power_watch_probed() */
        POWER_NEWS_IDLE = 1 << 11, /* spin the drive down, then call power_watch_stopped(), _delay() or _give_up() */
} PowerEvent;

typedef struct PowerNews {
        unsigned events;
        bool has_waker; /* the waker is known */
        Wake waker;     /* valid with POWER_NEWS_SPUN_UP and POWER_NEWS_LEFT_STANDBY, if has_waker */
        bool by_io;     /* POWER_NEWS_LEFT_STANDBY: I/O made the drive spin up */
        bool to_log;    /* POWER_NEWS_SPUN_UP: the policy requires a record in the journal */
        uint64_t standby_from, standby_until; /* POWER_NEWS_SPUN_UP: the drive was in standby at least in this period */
        uint64_t stopped_at; /* POWER_NEWS_LEFT_STANDBY: time of the spin-down by the service; 0: no such spin-down */
        bool has_gap;        /* POWER_NEWS_IO: gap_least and gap_most are valid */
        uint64_t gap_least, gap_most; /* bounds of the length of the gap without I/O; µs */
        uint64_t watched;  /* POWER_NEWS_IO: how long the drive was watched since the last POWER_NEWS_IO; s */
        uint64_t probe_at; /* POWER_NEWS_PROBE: earliest time of the probe; 0: now */
} PowerNews;

typedef struct WatchCommand {
        Wake wake;
        uint64_t at; /* when the command was reported; 0: not known */
} WatchCommand;

typedef struct PowerWatch {
        PowerPolicy policy;
        PowerMode mode;
        bool is_traced;      /* the state is TRACED */
        uint64_t poll_at;    /* POLLED: time of the next poll; 0: the state is OFF or TRACED */
        uint64_t traced_at;  /* TRACED: the drive is in standby at least since this time */
        uint64_t stopped_at; /* time of the spin-down by the service, if no spin-up followed; 0: none */
        bool is_suspended;   /* a runtime suspend spun the drive down, and no spin-up followed */
        struct {
                WatchCommand *suspect; /* the command that may have made the drive spin up; a probe will show whether it did */
                WatchCommand *later; /* the first command that reached the drive after `suspect` */
                unsigned harmless;   /* mask of 1 << WakeKind: kinds of commands that spin up some drives
                                        * (command_may_spin_up()), but did not spin up this one */
        } command;
        uint64_t patience; /* PowerPolicy.patience when the time without I/O began */
        bool is_uncounted; /* the kernel does not count I/O */
        bool has_given_up; /* the service does not spin the drive down before the next I/O */
        unsigned n_probes; /* number of probes since the last I/O that found the drive active */
        struct {
                uint64_t io;          /* the I/O counter at the last poll that saw I/O */
                uint64_t from, since; /* the last I/O occurred between `from` and `since` */
                uint64_t until;       /* no I/O occurred from `since` to this time; 0: no poll after `since` */
        } quiet;
        uint64_t watched_at; /* when the time in PowerNews.watched began; 0: it will begin with the next time without I/O */
} PowerWatch;

void power_watch_done(PowerWatch *w);

/* Returns true if the policy requires the watch. */
bool power_watch_is_wanted(const PowerWatch *w);
/* Returns true if the policy requires that the tracer watches the drive in standby. */
bool power_watch_wants_trace(const PowerWatch *w);

/* Turns the watch on or off. Call this function after a visit or a change of the policy. `quiet_since`: an earlier run of the service saw
 * no I/O since this time; 0: not known. `quiet_io`: the I/O counter at that time. */
void power_watch_settle(PowerWatch *w, const PowerCounters *c, uint64_t quiet_since, uint64_t quiet_io, PowerNews *ret);

/* Starts a new time without I/O. Call this function if the drive is known to have been active until now, for example after a reset. */
void power_watch_restart(PowerWatch *w, const PowerCounters *c, PowerNews *ret);

/* Returns the time at which to call power_watch_poll(), which does nothing before that time; UINT64_MAX: never. */
uint64_t power_watch_due(const PowerWatch *w);
void power_watch_poll(PowerWatch *w, const PowerCounters *c, PowerNews *ret);

/* ---- results of visits ---- */

typedef struct PowerProbe {
        PowerMode mode;
        bool on_purpose; /* the visit's purpose was the probe */
        bool spun_down;  /* the visit's purpose was a spin-down: `mode` is stored even if the watch is off */
        bool again;      /* another probe is pending */
        uint64_t quiet_since, quiet_io; /* as in power_watch_settle() */
} PowerProbe;

void power_watch_probed(PowerWatch *w, const PowerProbe *p, const PowerCounters *c, PowerNews *ret);

/* Call this function when a runtime suspend has spun the drive down. */
void power_watch_suspended(PowerWatch *w, const PowerCounters *c, PowerNews *ret);
/* Call this function when the kernel has resumed the drive after power_watch_suspended(). */
void power_watch_resumed(PowerWatch *w, const PowerCounters *c, PowerNews *ret);
/* Call this function after the service spun the drive down. `unverifiable`: the drive cannot confirm the spin-down. If the drive can
 * confirm the spin-down, call power_watch_probed() next. */
void power_watch_stopped(PowerWatch *w, bool unverifiable, uint64_t now, PowerNews *ret);
/* Call this function if the drive cannot be spun down before `until`. */
void power_watch_delay(PowerWatch *w, uint64_t until, uint64_t now);
/* Call this function if the drive cannot be spun down now, to try again after a quarter of PowerPolicy.patience. */
void power_watch_retry(PowerWatch *w, uint64_t now);
/* Call this function if the drive cannot be spun down before the next I/O. */
void power_watch_give_up(PowerWatch *w);

/* ---- reports of the tracer ---- */

/* Call this function after the tracer was told to watch the drive. */
void power_watch_traced(PowerWatch *w, const PowerCounters *c);
/* Call this function when the tracer runs, so that it sees all commands from now on. */
void power_watch_confirmed(PowerWatch *w, const PowerCounters *c, PowerNews *ret);
/* Call this function when a command reached the drive. `is_probing`: a visit that probes the drive or spins it up is pending or
 * under way. */
void power_watch_command(PowerWatch *w, const Wake *by, bool is_probing, const PowerCounters *c, PowerNews *ret);
/* Call this function when the tracer has ended. */
void power_watch_lost(PowerWatch *w, const PowerCounters *c, PowerNews *ret);

/* Stores the waker to report if the next probe finds the drive active. */
void power_watch_suspect(PowerWatch *w, const Wake *by);

/* ---- queries ---- */

static inline PowerMode power_watch_mode(const PowerWatch *w) {
        return w->mode;
}

/* Returns true if the drive is in standby and the tracer watches it. */
static inline bool power_watch_is_traced(const PowerWatch *w) {
        return w->is_traced;
}

static inline bool power_watch_is_stopped(const PowerWatch *w) {
        return w->stopped_at > 0;
}

/* Returns true if a runtime suspend spun the drive down, and no spin-up followed. */
static inline bool power_watch_is_suspended(const PowerWatch *w) {
        return w->is_suspended;
}

/* Returns true if the drive is polled, and the service may spin the drive down before the next I/O (`has_given_up` is false). */
bool power_watch_may_spin_down(const PowerWatch *w);

/* Returns the time at which PowerPolicy.patience has passed since the last I/O. If the result is not later than c->now, the drive has had
 * no I/O for that long. */
uint64_t power_watch_idle_at(const PowerWatch *w, const PowerCounters *c);
