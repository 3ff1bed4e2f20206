/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "clock.h"
#include "drive-command.h"
#include "device.h"
#include "inventory.h"
#include "kernel-view.h"
#include "target-spindown.h"
#include "target-standby.h"
#include "target-use.h"
#include "watch-read.h"

/* The drive counts from the end of the last command, by a clock of its own. */
#define MARGIN_USEC (5ULL * 1000 * 1000)
/* Nobody means a shorter one; it would be a timer that runs all the time. */
#define SHORTEST_USEC (30ULL * 1000 * 1000)

/* ---- whether to look ---- */

bool target_can_sleep(const Target *t) {
        return drive_can_sleep(t->drive, drive_backends(t->drive));
}

static bool target_logs_wakes(const Target *t) {
        WakeLog log = (WakeLog) t->files->config->wake_log;

        if (!t->env->tracer || log == WAKE_LOG_OFF || !target_can_sleep(t))
                return false;
        return (log == WAKE_LOG_ON && t->wishes.n_items > 0) || target_spin_down(t).wish || t->spindown.stopped_at > 0;
}

bool target_looks_out(const Target *t) {
        return target_logs_wakes(t) || target_spins_down(t);
}

/* ---- use ---- */

static bool commands_are_use(const Target *t) {
        const Wish *w = target_spin_down(t).wish;

        return w && w->commands_are_use;
}

int target_used(const Target *t, uint64_t *ret) {
        uint64_t commands = target_has_worker(t) ? t->visit.commands : 0;
        int r;

        r = activity_read(t->drive->syspath, ret);
        if ((r < 0 && r != -ENODATA) || !commands_are_use(t) ||
            (commands == 0 && activity_commands(t->drive->syspath, &commands) < 0))
                return r;
        /* Reads and writes are commands, too. */
        *ret = (r < 0 ? 0 : *ret) + commands - t->record->own_commands;
        return 0;
}

void target_own_commands_begin(Target *t) {
        if (commands_are_use(t))
                (void) activity_commands(t->drive->syspath, &t->visit.commands);
}

void target_own_commands_end(Target *t) {
        uint64_t commands;

        if (t->visit.commands > 0 && activity_commands(t->drive->syspath, &commands) >= 0)
                t->record->own_commands += commands - t->visit.commands;
        t->visit.commands = 0;
}

/* ---- spin-ups ---- */

/* Counts a spin-up, for `wakes`, the metrics and `explain` alike. `w`: NULL: the waker is not known. `until`: when the drive was last
 * known to sleep. */
static void count_spin_up(Target *t, const Wake *w, uint64_t since, uint64_t until) {
        target_use_spun_up(t, since);
        if (!target_logs_wakes(t))
                return;
        w = w ?: &(const Wake){ .kind = WAKE_UNKNOWN };
        journal_wake(t->drive, w, MAX(until, since) - since);
        target_count(t, &t->record->wakes, wake_source(w));
}

/* ---- when to look ---- */

/* How long the drive has to be without use before it is asked, or is told to spin down. */
static uint64_t target_patience(const Target *t) {
        uint64_t usec = target_spin_down(t).usec;

        if (target_spins_down(t))
                return MAX(usec, SPINDOWN_SOONEST_USEC);
        return usec == UINT64_MAX ? STANDBY_LOOK_USEC : MAX(usec, SHORTEST_USEC) + usec / 16 + MARGIN_USEC;
}

static void standby_look_at(Target *t, uint64_t usec) {
        t->standby.look_at = usec;
        t->env->changed(t->env->userdata, t);
}

/* When all of its time without use is over; after looks that found it awake, when several times that is. */
static uint64_t standby_end(const Target *t) {
        return t->standby.quiet_since + (t->standby.patience << t->standby.n_looks);
}

/* The next time, after a look at the end of a time without use. */
static void standby_expect(Target *t) {
        uint64_t now = monotonic_usec(), end = standby_end(t);

        standby_look_at(t, end > now ? end : now + (t->standby.patience << t->standby.n_looks));
}

/* The time without use begins. When in the time before this look the last use was is not known: so while it is used there are four
 * looks in its time. */
static void standby_count(Target *t, uint64_t used, uint64_t since) {
        TargetStandby *s = &t->standby;
        uint64_t now = monotonic_usec();

        s->n_looks = 0;
        s->used = t->record->quiet_used = used;
        s->quiet_since = s->used_from = t->record->quiet_since = since;
        s->quiet_at = 0;
        s->uncounted = false;
        s->watched_at = s->watched_at ?: now;
        s->patience = target_patience(t);
        t->spindown.spent = false;
        target_spindown_counted(t);
        standby_look_at(t, MIN(now + s->patience / 4, MAX(standby_end(t), now)));
        target_save(t);
}

/* The drive's I/O is not counted. A drive that the service would spin down stays awake; any other drive is probed as if it were idle. */
static void standby_uncounted(Target *t) {
        TargetStandby *s = &t->standby;
        uint64_t now = monotonic_usec();

        if (!s->uncounted) {
                s->uncounted = true;
                s->n_looks = 0;
                s->quiet_since = now;
                s->quiet_at = s->watched_at = t->record->quiet_since = 0;
                s->patience = target_patience(t);
                t->spindown.spent = false;
                target_save(t);
        }
        target_spindown_uncounted(t);
        if (target_spins_down(t))
                standby_look_at(t, now + s->patience / 4);
        else
                standby_expect(t);
}

/* There was no I/O since `since` if the count still equals *quiet_used (NULL: not known). */
static void standby_start(Target *t, uint64_t since, const uint64_t *quiet_used) {
        uint64_t used;
        int r;

        r = target_used(t, &used);
        if (r == -ENODATA)
                standby_uncounted(t);
        else if (r >= 0)
                standby_count(t, used, quiet_used && used == *quiet_used ? since : monotonic_usec());
}

void target_standby_begin(Target *t) {
        if (!t->standby.asleep && target_looks_out(t))
                standby_start(t, 0, NULL);
}

/* As target_standby_begin(), but a run of the daemon before this one may have seen that the drive is without use. */
static void standby_go_on(Target *t) {
        const DriveRecord *r = t->record;

        standby_start(t, MIN(r->quiet_since, monotonic_usec()), r->quiet_since > 0 ? &r->quiet_used : NULL);
}

static void note_tracing(Target *t, Tracing tracing) {
        if (t->record->tracing == tracing)
                return;
        t->record->tracing = tracing;
        target_save(t);
}

void target_standby_rested(Target *t) {
        TargetStandby *s = &t->standby;

        target_spindown_note(t);
        if (!target_logs_wakes(t))
                note_tracing(t, TRACING_FINE);
        if (!target_looks_out(t)) {
                target_standby_done(t);
                standby_look_at(t, 0);
        } else if (!s->asleep && s->look_at == 0)
                standby_go_on(t);
        else if (!s->asleep && s->patience != target_patience(t)) {
                s->patience = target_patience(t);
                s->n_looks = 0;
                /* Not at once: the journal, which may lie on the drive, was told of something just now. */
                standby_look_at(t, MAX(standby_end(t), monotonic_usec() + s->patience / 4));
        }
}

uint64_t target_standby_due(const Target *t) {
        return t->standby.look_at > 0 ? t->standby.look_at : UINT64_MAX;
}

void target_standby_tick(Target *t) {
        TargetStandby *s = &t->standby;
        uint64_t used, now = monotonic_usec();
        int r;

        if (s->look_at == 0 || now < s->look_at)
                return;

        s->look_at = 0;
        r = target_used(t, &used);
        if (r == -ENODATA) {
                bool ask = s->uncounted && now >= standby_end(t) && !target_spins_down(t);

                if (ask)
                        s->n_looks = MIN(s->n_looks + 1, STANDBY_LOOKS_MAX);
                standby_uncounted(t);
                if (ask)
                        target_visit(t, VISIT_STANDBY);
                return;
        }
        /* The drive is most likely gone, and udev's event follows. Until then the drives that spin down with it stay awake. */
        if (r < 0 && target_spins_down(t)) {
                s->uncounted = true;
                standby_look_at(t, now + s->patience / 4);
        }
        if (r < 0)
                return;
        if (s->uncounted) {
                standby_count(t, used, now);
                return;
        }
        if (used != s->used) {
                uint64_t from = s->quiet_at ?: s->quiet_since;

                target_use_seen(t, from, now);
                /* No trace ran while the drive slept. */
                if (t->spindown.stopped_at > 0)
                        count_spin_up(t, NULL, t->spindown.stopped_at, from);
                target_spindown_woken(t, NULL, true);
                standby_count(t, used, now);
                s->used_from = from;
                target_use_ask(t);
                return;
        }
        s->quiet_at = now;

        /* The next time is set first: what is done now may undo it. */
        standby_expect(t);
        if (now < standby_end(t))
                return;
        if (target_spins_down(t)) {
                uint64_t wait = target_spindown_try(t);

                if (wait > now)
                        /* It may be left awake for an hour, and its use is to be known meanwhile. */
                        standby_look_at(t, MIN(wait, now + s->patience / 2));
        } else if (s->n_looks < STANDBY_LOOKS_MAX) {
                /* Once all looks were in vain, only the kernel's counter is read. */
                s->n_looks++;
                standby_expect(t);
                target_visit(t, VISIT_STANDBY);
        }
}

/* ---- it sleeps ---- */

/* Whether it sleeps is not known any more. */
static void standby_forget(Target *t, const Wake *w) {
        target_spindown_woken(t, w, w);
        target_standby_done(t);
        target_standby_begin(t);
        target_save(t);
}

/* `w`: NULL: nobody knows who it was. */
static void standby_wake(Target *t, const Wake *w) {
        TargetStandby *s = &t->standby;
        uint64_t now = monotonic_usec();

        target_use_seen(t, now, now);
        count_spin_up(t, w, s->since, now);
        if (w)
                target_spin_up_others(t, w);
        standby_forget(t, w);
}

/* Without the tracer it is not known when it wakes, so that its time without use goes on. */
static void standby_sleep(Target *t) {
        TargetStandby *s = &t->standby;
        uint64_t used;
        WatchDrive w;
        int r;

        r = watch_drive_read(INVENTORY_CLASSDIR, INVENTORY_BTRFSDIR, t->drive, &w);
        if (r >= 0)
                r = tracer_watch(t->env->tracer, &w);
        if (r < 0) {
                if (r != -EBUSY)
                        journal_log(LOG_NOTICE, "%s sleeps, and who wakes it will not be known: %s", t->drive->name,
                                    strerror(-r));
                note_tracing(t, tracer_tracing(t->env->tracer));
                return;
        }

        s->asleep = true;
        s->disk = w.disk;
        s->since = monotonic_usec();
        s->look_at = 0;
        if (target_used(t, &used) >= 0 && used != s->used) {
                s->used_from = s->quiet_at ?: s->quiet_since;
                s->quiet_since = s->since;
                s->used = used;
        }
        s->quiet_at = s->since;
}

/* Reading and writing wake a drive; of other commands nobody knows that of each drive: then the drive is asked. */
static bool is_certain(const Wake *w) {
        return w->kind != WAKE_COMMAND && !command_is_doubtful(w->cdb, w->cdb_len);
}

/* A visit may also have ended, or have been left out, without an answer. */
static bool is_being_asked(const Target *t) {
        VisitWork work = t->pending.work | (t->visit.job ? t->visit.pending.work : 0);

        return work & (WORK_POWER | WORK_SPIN_UP);
}

/* In the place of who it was before. */
static void wake_replace(Wake **old, const Wake *w) {
        free(*old);
        *old = malloc(sizeof **old);
        if (*old)
                **old = *w;
}

void target_standby_suspect(Target *t, const Wake *w) {
        wake_replace(&t->standby.suspect, w);
}

void target_standby_woken(Target *t, const Wake *w) {
        TargetStandby *s = &t->standby;

        if (!s->asleep)
                return;
        /* Who asks a drive again and again what it is does not have it asked as often whether it sleeps. */
        if (command_is_doubtful(w->cdb, w->cdb_len) && s->harmless & 1U << w->kind)
                return;
        if (s->suspect && !command_is_doubtful(s->suspect->cdb, s->suspect->cdb_len) && is_being_asked(t)) {
                if (!s->later)
                        wake_replace(&s->later, w);
                return;
        }
        if (is_certain(w)) {
                standby_wake(t, w);
                return;
        }

        wake_replace(&s->suspect, w);
        target_visit(t, VISIT_STANDBY);
}

/* It was not the one who was asked about. Who is to be asked about still was told of after this visit had looked. */
static void standby_goes_on(Target *t) {
        _cleanup_free_ Wake *later = NULL;
        TargetStandby *s = &t->standby;

        if (t->pending.work & WORK_POWER)
                return;

        later = s->later;
        if (s->suspect && command_is_doubtful(s->suspect->cdb, s->suspect->cdb_len))
                s->harmless |= 1U << s->suspect->kind;
        free(s->suspect);
        s->suspect = s->later = NULL;
        if (later)
                target_standby_woken(t, later);
}

void target_standby_told(void *target, PowerMode power) {
        Target *t = target;
        TargetStandby *s = &t->standby;

        /* The service has just started and finds the drive asleep: this sleep counts, too. */
        if (power != POWER_AWAKE && !s->asleep && s->look_at == 0 && target_logs_wakes(t))
                standby_go_on(t);
        target_spindown_told_power(t, power);
        if (!target_logs_wakes(t))
                return;

        if (power == POWER_AWAKE && s->asleep)
                standby_wake(t, s->suspect);
        else if (power != POWER_AWAKE && !s->asleep)
                standby_sleep(t);
        else if (power != POWER_AWAKE)
                standby_goes_on(t);
}

void target_standby_watched(Target *t) {
        uint64_t used;

        note_tracing(t, TRACING_FINE);
        /* There may have been I/O between the last poll and now. If the tracer saw the waker, its report comes before the drive can answer. */
        if (t->standby.asleep && (t->standby.uncounted || target_used(t, &used) < 0 || used != t->standby.used ||
                                  activity_in_flight(t->drive->syspath)))
                target_visit(t, VISIT_STANDBY);
}

void target_standby_lost(Target *t) {
        if (!t->standby.asleep)
                return;
        note_tracing(t, tracer_tracing(t->env->tracer));
        standby_forget(t, NULL);
        target_spindown_told_power(t, POWER_UNKNOWN);
}

void target_standby_done(Target *t) {
        if (t->standby.asleep)
                tracer_unwatch(t->env->tracer, t->standby.disk);
        free(t->standby.suspect);
        free(t->standby.later);
        t->standby = (TargetStandby){};
}
