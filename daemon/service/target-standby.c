/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <syslog.h>

#include "clock.h"
#include "device.h"
#include "inventory.h"
#include "kernel-view.h"
#include "target-standby.h"
#include "watch-drive.h"

/* The drive counts from the end of the last command, by a clock of its own. */
#define MARGIN_USEC (5ULL * 1000 * 1000)
/* Nobody means a shorter one; it would be a timer that runs all the time. */
#define SHORTEST_USEC (30ULL * 1000 * 1000)

/* ---- whether to look ---- */

uint64_t wishes_spin_down(const Wishes *w, const SettingTable *t, unsigned backends) {
        uint64_t ms = UINT64_MAX;

        for (const Wish *i = w->items; i < w->items + w->n_items; i++) {
                const Setting *s = setting_for_backends(t, i->name, backends);

                if (!s || !s->spins_down || i->withheld || !setting_is_active(s, &i->value))
                        continue;
                ms = MIN(ms, s->range.type == VALUE_STANDBY_TIMER
                                             ? standby_timer_to_seconds((uint8_t) i->value.number) * 1000
                                             : (uint64_t) i->value.number);
        }

        return ms == UINT64_MAX ? ms : ms * 1000;
}

static uint64_t target_spin_down(const Target *t) {
        return wishes_spin_down(&t->wishes, t->env->settings, drive_backends(t->drive));
}

static bool target_logs_wakes(const Target *t) {
        WakeLog log = (WakeLog) t->files->config->wake_log;

        if (!t->env->tracer || log == WAKE_LOG_OFF || t->wishes.n_items == 0 || !t->drive->rotational ||
            !(drive_backends(t->drive) & (1U << BACKEND_ATA | 1U << BACKEND_SCSI_MODE)))
                return false;
        return log == WAKE_LOG_ON || target_spin_down(t) != UINT64_MAX;
}

/* How long the drive has to be without use before it is asked. */
static uint64_t target_patience(const Target *t) {
        uint64_t usec = target_spin_down(t);

        usec = usec == UINT64_MAX ? STANDBY_LOOK_USEC : MAX(usec, SHORTEST_USEC) + usec / 16 + MARGIN_USEC;
        return usec << t->standby.n_looks;
}

static void standby_expect(Target *t) {
        t->standby.look_at = monotonic_usec() + target_patience(t);
        t->env->changed(t->env->userdata, t);
}

/* Used now, as far as is known: the time without use begins. */
static void standby_begin(Target *t) {
        TargetStandby *s = &t->standby;

        s->n_looks = 0;
        if (activity_read(t->drive->syspath, &s->used) >= 0)
                standby_expect(t);
}

void target_standby_rested(Target *t) {
        if (!target_logs_wakes(t))
                target_standby_done(t);
        else if (!t->standby.asleep && t->standby.look_at == 0)
                standby_begin(t);
}

uint64_t target_standby_due(const Target *t) {
        return t->standby.look_at > 0 ? t->standby.look_at : UINT64_MAX;
}

void target_standby_tick(Target *t) {
        TargetStandby *s = &t->standby;
        uint64_t used;

        if (s->look_at == 0 || monotonic_usec() < s->look_at)
                return;

        s->look_at = 0;
        if (activity_read(t->drive->syspath, &used) < 0)
                return;
        if (used != s->used) {
                standby_begin(t);
                return;
        }

        /* The next time is set first: what the look finds may undo it. Once all looks were in vain, only the kernel's counter is
         * read. */
        if (s->n_looks < STANDBY_LOOKS_MAX) {
                s->n_looks++;
                standby_expect(t);
                target_visit(t, VISIT_STANDBY);
        } else
                standby_expect(t);
}

/* ---- it sleeps ---- */

static void standby_wake(Target *t, const Wake *w) {
        TargetStandby *s = &t->standby;

        if (w)
                journal_wake(t->drive, w, monotonic_usec() - s->since);
        target_standby_done(t);
        if (target_logs_wakes(t))
                standby_begin(t);
}

/* Without the tracer it is not known when it wakes, so that its time without use goes on. */
static void standby_sleep(Target *t) {
        TargetStandby *s = &t->standby;
        WatchDrive w;
        int r;

        r = watch_drive_read(INVENTORY_CLASSDIR, t->drive, &w);
        if (r >= 0)
                r = tracer_watch(t->env->tracer, &w);
        if (r < 0) {
                if (r != -EBUSY)
                        journal_log(LOG_NOTICE, "%s sleeps, and who wakes it will not be known: %s", t->drive->name,
                                    strerror(-r));
                return;
        }

        s->asleep = true;
        s->disk = w.disk;
        s->since = monotonic_usec();
        s->look_at = 0;
        (void) activity_read(t->drive->syspath, &s->used);
}

/* Reading and writing wake a drive; of other commands nobody knows that of each drive: then the drive is asked. */
static bool is_certain(const Wake *w) {
        return w->kind != WAKE_COMMAND && !command_is_doubtful(w->cdb, w->cdb_len);
}

/* A visit may also have ended, or have been left out, without an answer. */
static bool is_being_asked(const Target *t) {
        return pending_has(&t->pending, VISIT_STANDBY) ||
               (t->visit.job && pending_has(&t->visit.pending, VISIT_STANDBY));
}

/* In the place of who it was before. */
static void wake_replace(Wake **old, const Wake *w) {
        free(*old);
        *old = malloc(sizeof **old);
        if (*old)
                **old = *w;
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

        if (pending_has(&t->pending, VISIT_STANDBY))
                return;

        later = s->later;
        if (s->suspect && command_is_doubtful(s->suspect->cdb, s->suspect->cdb_len))
                s->harmless |= 1U << s->suspect->kind;
        free(s->suspect);
        s->suspect = s->later = NULL;
        if (later)
                target_standby_woken(t, later);
}

void target_standby_told(Target *t, PowerMode power) {
        TargetStandby *s = &t->standby;

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

        /* It was used between the look and this. */
        if (t->standby.asleep && activity_read(t->drive->syspath, &used) >= 0 &&
            (used != t->standby.used || activity_in_flight(t->drive->syspath)))
                standby_wake(t, NULL);
}

void target_standby_lost(Target *t) {
        if (t->standby.asleep)
                standby_wake(t, NULL);
}

void target_standby_done(Target *t) {
        if (t->standby.asleep)
                tracer_unwatch(t->env->tracer, t->standby.disk);
        free(t->standby.suspect);
        free(t->standby.later);
        t->standby = (TargetStandby){};
}
