/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "drive-command.h"
#include "power-watch.h"

/* ---- policy ---- */

bool power_watch_wants_trace(const PowerWatch *w) {
        return w->policy.traced || (w->policy.traced_stopped && (w->stopped_at > 0 || w->is_suspended));
}

bool power_watch_is_wanted(const PowerWatch *w) {
        return power_watch_wants_trace(w) || w->policy.by_service;
}

static void watch_set_mode(PowerWatch *w, PowerMode mode, PowerNews *n) {
        w->mode = mode;
        n->events |= POWER_NEWS_MODE;
}

/* ---- polling ---- */

/* Returns the time of the next probe or spin-down if no I/O follows. The delay is w->patience, doubled for each probe that found the drive
 * active. */
static uint64_t watch_idle_at(const PowerWatch *w) {
        return w->quiet.since + (w->patience << w->n_probes);
}

/* Schedules the next poll for watch_idle_at(). */
static void watch_poll_when_idle(PowerWatch *w, uint64_t now) {
        uint64_t end = watch_idle_at(w);

        w->poll_at = end > now ? end : now + (w->patience << w->n_probes);
}

/* Begins a time without I/O. Polls four times during w->patience, so that the time of the last I/O is known to a quarter of w->patience. */
static void watch_count(PowerWatch *w, const PowerCounters *c, uint64_t since, PowerNews *n) {
        w->n_probes = 0;
        w->quiet.io = c->io;
        w->quiet.since = w->quiet.from = since;
        w->quiet.until = 0;
        w->is_uncounted = w->has_given_up = false;
        w->watched_at = w->watched_at ?: c->now;
        w->patience = w->policy.patience;
        w->poll_at = MIN(c->now + w->patience / 4, MAX(watch_idle_at(w), c->now));
        n->events |= POWER_NEWS_COUNTED;
}

/* Handles a drive whose I/O the kernel does not count. */
static void watch_uncounted(PowerWatch *w, uint64_t now, PowerNews *n) {
        if (!w->is_uncounted) {
                w->is_uncounted = true;
                w->has_given_up = false;
                w->n_probes = 0;
                w->quiet.since = now;
                w->quiet.until = w->watched_at = 0;
                w->patience = w->policy.patience;
        }
        /* Forgets the last spin-down by the service: without a count of I/O, a spin-up after it may have been missed. */
        w->stopped_at = 0;
        if (power_mode_in_standby(w->mode))
                watch_set_mode(w, POWER_UNKNOWN, n);
        n->events |= POWER_NEWS_UNCOUNTED;

        if (w->policy.by_service)
                w->poll_at = now + w->patience / 4;
        else
                watch_poll_when_idle(w, now);
}

/* Begins to poll. If the counter still equals *quiet_io (NULL: not known), there was no I/O since `since`. */
static void watch_start(PowerWatch *w, const PowerCounters *c, uint64_t since, const uint64_t *quiet_io, PowerNews *n) {
        if (c->error == -ENODATA)
                watch_uncounted(w, c->now, n);
        else if (c->error >= 0)
                watch_count(w, c, quiet_io && c->io == *quiet_io ? since : c->now, n);
}

/* Begins to poll. Continues the time without I/O that an earlier run of the service saw. */
static void watch_continue(PowerWatch *w, const PowerCounters *c, uint64_t quiet_since, uint64_t quiet_io,
                           PowerNews *n) {
        watch_start(w, c, MIN(quiet_since, c->now), quiet_since > 0 ? &quiet_io : NULL, n);
}

/* ---- standby ---- */

static void watch_forget_commands(PowerWatch *w) {
        free(w->command.suspect);
        free(w->command.later);
        w->command.suspect = w->command.later = NULL;
}

/* Enters the state OFF. */
static void watch_stop(PowerWatch *w, PowerNews *n) {
        if (w->is_traced)
                n->events |= POWER_NEWS_UNTRACE;
        watch_forget_commands(w);
        *w = (PowerWatch){
                .policy = w->policy,
                .mode = w->mode,
                .stopped_at = w->stopped_at,
                .is_suspended = w->is_suspended,
                .has_given_up = w->has_given_up,
        };
}

static void watch_set_waker(PowerNews *n, const Wake *by) {
        n->has_waker = by;
        if (by)
                n->waker = *by;
}

static void watch_note_io(PowerWatch *w, uint64_t from, uint64_t to, PowerNews *n) {
        n->events |= POWER_NEWS_IO;
        if (w->watched_at == 0)
                return;
        n->watched = (to - w->watched_at) / 1000000;
        w->watched_at += n->watched * 1000000;
        n->has_gap = w->quiet.until > 0;
        n->gap_least = from - w->quiet.since;
        n->gap_most = to - w->quiet.from;
}

/* Reports that the drive left standby. `by`: the waker; NULL: not known. */
static void watch_woken(PowerWatch *w, const Wake *by, bool by_io, PowerNews *n) {
        n->events |= POWER_NEWS_LEFT_STANDBY;
        watch_set_waker(n, by);
        n->by_io = by_io;
        n->stopped_at = w->stopped_at;
        w->stopped_at = 0;
        w->is_suspended = false;
        watch_set_mode(w, power_watch_is_wanted(w) ? POWER_ACTIVE : POWER_UNKNOWN, n);
}

/* Leaves the state TRACED: the tracer no longer shows whether the drive is in standby. */
static void watch_end_trace(PowerWatch *w, const PowerCounters *c, PowerNews *n) {
        watch_stop(w, n);
        if (power_watch_is_wanted(w))
                watch_start(w, c, 0, NULL, n);
}

static void watch_spun_up(PowerWatch *w, const Wake *by, uint64_t from, uint64_t until, PowerNews *n) {
        n->events |= POWER_NEWS_SPUN_UP;
        watch_set_waker(n, by);
        n->to_log = power_watch_wants_trace(w);
        n->standby_from = from;
        n->standby_until = MAX(from, until);
}

/* Reports a spin-up that the tracer or a probe found. `at`: the time of the spin-up. */
static void watch_spin_up_traced(PowerWatch *w, const Wake *by, uint64_t at, const PowerCounters *c, PowerNews *n) {
        watch_note_io(w, at, at, n);
        watch_spun_up(w, by, w->traced_at, at, n);
        watch_woken(w, by, by, n);
        watch_end_trace(w, c, n);
}

/* ---- inputs ---- */

void power_watch_done(PowerWatch *w) {
        watch_forget_commands(w);
}

void power_watch_settle(PowerWatch *w, const PowerCounters *c, uint64_t quiet_since, uint64_t quiet_io,
                        PowerNews *ret) {
        *ret = (PowerNews){};

        if (!power_watch_is_wanted(w))
                watch_stop(w, ret);
        else if (!w->is_traced && w->poll_at == 0)
                watch_continue(w, c, quiet_since, quiet_io, ret);
        else if (!w->is_traced && w->patience != w->policy.patience) {
                w->patience = w->policy.patience;
                w->n_probes = 0;
                /* Waits at least a quarter of w->patience, because the journal was just written to, and may be on this drive. */
                w->poll_at = MAX(watch_idle_at(w), c->now + w->patience / 4);
        }
}

void power_watch_restart(PowerWatch *w, const PowerCounters *c, PowerNews *ret) {
        *ret = (PowerNews){};

        if (!w->is_traced && power_watch_is_wanted(w))
                watch_start(w, c, 0, NULL, ret);
}

uint64_t power_watch_due(const PowerWatch *w) {
        return w->poll_at > 0 ? w->poll_at : UINT64_MAX;
}

/* Requests a spin-down or a probe, after w->patience without I/O. */
static void watch_idle(PowerWatch *w, uint64_t now, PowerNews *n) {
        if (w->policy.by_service) {
                if (!w->has_given_up)
                        n->events |= POWER_NEWS_IDLE;
        } else if (w->n_probes < POWER_WATCH_PROBES_MAX) {
                w->n_probes++;
                watch_poll_when_idle(w, now);
                n->events |= POWER_NEWS_PROBE;
        }
}

static void watch_poll_uncounted(PowerWatch *w, uint64_t now, PowerNews *n) {
        bool probe = w->is_uncounted && now >= watch_idle_at(w) && !w->policy.by_service;

        if (probe) {
                w->n_probes = MIN(w->n_probes + 1, POWER_WATCH_PROBES_MAX);
                n->events |= POWER_NEWS_PROBE;
        }
        watch_uncounted(w, now, n);
}

static void watch_poll_io(PowerWatch *w, const PowerCounters *c, PowerNews *n) {
        uint64_t from = w->quiet.until ?: w->quiet.since;

        watch_note_io(w, from, c->now, n);
        /* The service spun the drive down, and no tracer has watched the drive since: the waker is not known. */
        if (w->stopped_at > 0)
                watch_spun_up(w, NULL, w->stopped_at, from, n);
        watch_woken(w, NULL, true, n);
        watch_count(w, c, c->now, n);
        w->quiet.from = from;
        n->events |= POWER_NEWS_ACTIVE;
}

void power_watch_poll(PowerWatch *w, const PowerCounters *c, PowerNews *ret) {
        *ret = (PowerNews){};

        if (w->poll_at == 0 || c->now < w->poll_at)
                return;

        w->poll_at = 0;
        if (c->error == -ENODATA)
                watch_poll_uncounted(w, c->now, ret);
        else if (c->error < 0 && w->policy.by_service) {
                /* If the drive is gone, an event of udev follows. Until then, the drive counts as active, so that the other drives
                 * of its wake_together group are not spun down. */
                w->is_uncounted = true;
                w->poll_at = c->now + w->patience / 4;
        } else if (c->error < 0)
                return;
        else if (w->is_uncounted)
                watch_count(w, c, c->now, ret);
        else if (c->io != w->quiet.io)
                watch_poll_io(w, c, ret);
        else {
                w->quiet.until = c->now;
                watch_poll_when_idle(w, c->now);
                if (c->now >= watch_idle_at(w))
                        watch_idle(w, c->now, ret);
        }
}

static void watch_keep_command(WatchCommand **old, const Wake *by, uint64_t at) {
        free(*old);
        *old = malloc(sizeof **old);
        if (*old)
                **old = (WatchCommand){ *by, at };
}

/* Returns true if commands of this kind spin up only some drives. */
static bool watch_is_doubtful(const WatchCommand *c) {
        return command_may_spin_up(c->wake.cdb, c->wake.cdb_len);
}

/* Handles a command that was reported at the time `at`. */
static void watch_command(PowerWatch *w, const Wake *by, uint64_t at, bool is_probing, const PowerCounters *c,
                          PowerNews *n) {
        bool doubtful = command_may_spin_up(by->cdb, by->cdb_len);

        if (!w->is_traced)
                return;
        /* Commands of this kind spin up only some drives, and did not spin up this drive before: do not probe again. */
        if (doubtful && w->command.harmless & 1U << by->kind)
                return;

        if (w->command.suspect && !watch_is_doubtful(w->command.suspect) && is_probing) {
                if (!w->command.later)
                        watch_keep_command(&w->command.later, by, at);
        } else if (by->kind != WAKE_COMMAND && !doubtful)
                watch_spin_up_traced(w, by, at, c, n);
        else {
                watch_keep_command(&w->command.suspect, by, at);
                n->events |= POWER_NEWS_PROBE;
                n->probe_at = c->now + POWER_WATCH_BURST_USEC;
        }
}

/* Records that the command `suspect` did not make the drive spin up, and handles the command `later` as a new one. */
static void watch_clear_suspect(PowerWatch *w, const PowerCounters *c, PowerNews *n) {
        _cleanup_free_ WatchCommand *later = TAKE_PTR(w->command.later), *suspect = TAKE_PTR(w->command.suspect);

        if (suspect && watch_is_doubtful(suspect))
                w->command.harmless |= 1U << suspect->wake.kind;
        if (later)
                watch_command(w, &later->wake, later->at, false, c, n);
}

void power_watch_probed(PowerWatch *w, const PowerProbe *p, const PowerCounters *c, PowerNews *ret) {
        const WatchCommand *suspect = w->command.suspect;
        bool active = p->mode == POWER_ACTIVE;

        *ret = (PowerNews){};

        /* If the drive is in standby when the watch begins, count the time without I/O that an earlier run of the service saw. */
        if (!active && !w->is_traced && w->poll_at == 0 && power_watch_wants_trace(w))
                watch_continue(w, c, p->quiet_since, p->quiet_io, ret);

        if (active && p->on_purpose && !w->is_traced && !w->is_uncounted && c->error >= 0 && c->io == w->quiet.io)
                ret->events |= POWER_NEWS_STILL_ACTIVE;
        /* ATA Sleep mode is reported as standby. */
        watch_set_mode(w,
                       !power_watch_is_wanted(w) && !p->spun_down ? POWER_UNKNOWN
                       : p->mode == POWER_ATA_SLEEP               ? POWER_STANDBY
                                                                  : p->mode,
                       ret);
        if (!power_watch_wants_trace(w))
                return;

        if (active && w->is_traced)
                watch_spin_up_traced(w, suspect ? &suspect->wake : NULL, suspect && suspect->at ? suspect->at : c->now,
                                     c, ret);
        else if (!active && !w->is_traced)
                ret->events |= POWER_NEWS_TRACE;
        else if (!active && !p->again)
                watch_clear_suspect(w, c, ret);
}

void power_watch_suspended(PowerWatch *w, const PowerCounters *c, PowerNews *ret) {
        *ret = (PowerNews){};

        /* Notes I/O since the last poll. The drive is not active any more, so POWER_NEWS_ACTIVE is not reported. */
        if (w->poll_at > 0 && !w->is_uncounted && c->error >= 0 && c->io != w->quiet.io)
                watch_poll_io(w, c, ret);
        ret->events &= ~(unsigned) POWER_NEWS_ACTIVE;
        w->is_suspended = true;
        watch_set_mode(w, POWER_SUSPENDED, ret);
        if (power_watch_wants_trace(w) && !w->is_traced)
                ret->events |= POWER_NEWS_TRACE;
}

void power_watch_resumed(PowerWatch *w, const PowerCounters *c, PowerNews *ret) {
        *ret = (PowerNews){};

        /* The tracer reports the command that resumed the drive. */
        if (w->is_traced)
                return;
        watch_woken(w, NULL, false, ret);
        watch_end_trace(w, c, ret);
}

void power_watch_stopped(PowerWatch *w, bool unverifiable, uint64_t now, PowerNews *ret) {
        *ret = (PowerNews){};

        w->stopped_at = now;
        if (!unverifiable)
                return;
        /* The drive does not report its power mode, so only I/O shows that the drive is active. */
        w->has_given_up = true;
        watch_set_mode(w, POWER_UNKNOWN, ret);
}

void power_watch_delay(PowerWatch *w, uint64_t until, uint64_t now) {
        /* Polls before a long delay ends, so that I/O during the delay is seen in time. */
        if (until > now)
                w->poll_at = MIN(until, now + w->patience / 2);
}

void power_watch_retry(PowerWatch *w, uint64_t now) {
        if (w->poll_at > 0)
                w->poll_at = MIN(w->poll_at, now + w->patience / 4);
}

void power_watch_give_up(PowerWatch *w) {
        w->has_given_up = true;
}

void power_watch_traced(PowerWatch *w, const PowerCounters *c) {
        w->is_traced = true;
        w->traced_at = c->now;
        w->poll_at = 0;
        if (c->error >= 0 && c->io != w->quiet.io) {
                w->quiet.from = w->quiet.until ?: w->quiet.since;
                w->quiet.since = c->now;
                w->quiet.io = c->io;
        }
        w->quiet.until = c->now;
}

void power_watch_confirmed(PowerWatch *w, const PowerCounters *c, PowerNews *ret) {
        bool resumed = w->mode == POWER_SUSPENDED && !c->suspended;

        *ret = (PowerNews){};

        /* I/O since the last poll, or a command that resumed the drive, may have spun the drive up. The probe does not hide the waker: the
         * tracer reports a waker that it saw before the drive answers the probe. */
        if (w->is_traced && (resumed || w->is_uncounted || c->error < 0 || c->io != w->quiet.io || c->in_flight))
                ret->events |= POWER_NEWS_PROBE;
}

void power_watch_suspect(PowerWatch *w, const Wake *by) {
        watch_keep_command(&w->command.suspect, by, 0);
}

void power_watch_command(PowerWatch *w, const Wake *by, bool is_probing, const PowerCounters *c, PowerNews *ret) {
        *ret = (PowerNews){};

        watch_command(w, by, c->now, is_probing, c, ret);
}

void power_watch_lost(PowerWatch *w, const PowerCounters *c, PowerNews *ret) {
        *ret = (PowerNews){};

        if (!w->is_traced)
                return;
        watch_woken(w, NULL, false, ret);
        watch_end_trace(w, c, ret);
        watch_set_mode(w, POWER_UNKNOWN, ret);
}

/* ---- queries ---- */

bool power_watch_may_spin_down(const PowerWatch *w) {
        return !w->is_traced && w->poll_at > 0 && !w->has_given_up;
}

uint64_t power_watch_idle_at(const PowerWatch *w, const PowerCounters *c) {
        /* Treat the drive as active if its I/O is not counted, or while a command is in flight. */
        if (w->is_uncounted || c->error < 0 || c->io != w->quiet.io || c->in_flight)
                return c->now + w->patience / 4;
        return w->quiet.since + w->patience;
}
