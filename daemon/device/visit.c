/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "power.h"
#include "visit.h"

static const Memory *visit_memory(const Visit *v, const Step *s) {
        return v->memories ? v->memories + (s->wish - v->wishes->items) : NULL;
}

static void step_error(Step *s, Device *d, int error) {
        s->error = error;
        (void) snprintf(s->reason, sizeof s->reason, "%s", d->error);
}

static bool step_is_open(const Step *s) {
        return s->verdict == _VERDICT_INVALID;
}

/* What changes the readings of others goes first. What is needed only where another setting cannot be had waits until
 * that has its verdict; and what puts the drive to sleep, until nothing else is to be read back. */
typedef enum Turn {
        TURN_FIRST,
        TURN_MAIN,
        TURN_SPARE,
        TURN_DEED,
        _TURN_MAX,
} Turn;

static bool step_has_turn(const Step *s, Turn turn) {
        SettingFlags flags = s->setting ? s->setting->flags : 0;

        if (s->setting && s->setting->unless)
                return turn == TURN_SPARE;
        if (flags & SETTING_AT_ATTACH)
                return turn == TURN_DEED;
        return turn == (flags & SETTING_FIRST ? TURN_FIRST : TURN_MAIN);
}

/* The step that wants this state, or NULL. Where its parts are wanted one by one: of them one that does not hold, if there
 * is any. */
static const Step *find_state(const Plan *p, const char *name) {
        const Step *found = NULL;

        for (size_t i = 0; i < p->n_steps; i++) {
                const Step *step = p->steps + i;
                const Setting *s = step->setting;

                if (!streq(step->wish->name, name) && !(s && (s->flags & SETTING_SAME) && streq(s->excludes, name)))
                        continue;
                if (!step_holds(step))
                        return step;
                found = step;
        }

        return found;
}

/* Ends all that has no verdict yet. */
static void visit_end(const Visit *v, Plan *p, int error, const char *why) {
        for (size_t i = 0; i < p->n_steps; i++) {
                Step *s = p->steps + i;

                if (!step_is_open(s))
                        continue;
                /* What was refused before stays so. */
                if (!s->failed) {
                        s->error = error;
                        (void) snprintf(s->reason, sizeof s->reason, "%s", why);
                }
                step_judge(s);
                if (v->ended)
                        v->ended(v->userdata, s);
        }
}

static void visit_ended(const Visit *v, Plan *p, const Step *s) {
        if (step_is_open(s))
                return;
        if (v->ended)
                v->ended(v->userdata, s);
        /* What is sent to a drive that is gone may reach another one, and nothing of it is to be noted. */
        if (s->verdict == VERDICT_VANISHED)
                visit_end(v, p, STEP_VANISHED, s->reason);
}

/* Before the first command that only an awake drive should get. */
static int visit_prepare(const Visit *v, const Plan *p, Device *d, Turn turn, Backend backend) {
        bool any = false;

        for (size_t i = 0; i < p->n_steps; i++) {
                const Step *s = p->steps + i;

                if (!step_has_turn(s, turn) || !step_is_open(s))
                        continue;
                any = any || s->setting->backend == backend;
                d->wake = d->wake || (s->wish->wake && !v->no_wake && !(s->setting->flags & SETTING_KERNEL));
        }

        return any ? power_look(d, backend) : 0;
}

/* Would this setting wake the drive? */
static bool step_would_wake(const Step *s, const Device *d) {
        if (s->setting->flags & SETTING_KERNEL)
                return false;
        if (d->wake)
                return false;
        if (s->setting->flags & SETTING_STANDBY_SAFE)
                return d->power == POWER_SUSPENDED || d->power == POWER_UNCLEAR;
        return d->power == POWER_SUSPENDED || d->power == POWER_UNCLEAR || d->power == POWER_STANDBY;
}

/* What the rows see of the step whose turn it is. */
static void visit_turn(const Visit *v, const Step *s, Device *d) {
        d->note[0] = '\0';
        d->allow_dangerous = s->wish->allow_dangerous;
        d->permanent = s->wish->permanent && (s->setting->flags & SETTING_SAVEABLE);
        d->save = v->permanent && d->permanent;
}

static void visit_settle(const Visit *v, Plan *p, Turn turn) {
        for (size_t i = 0; i < p->n_steps; i++) {
                Step *s = p->steps + i;

                /* With an error, it was ended and told of before its turn. */
                if (!step_has_turn(s, turn) || s->error < 0)
                        continue;
                if (step_settle(s, visit_memory(v, s)) ||
                    (turn == TURN_SPARE && step_spare(s, find_state(p, s->setting->unless))))
                        /* What rests on memory alone is told when the readings have not disproved it. */
                        if (!s->remembered)
                                visit_ended(v, p, s);
        }
}

/* What the kernel holds is found as wanted, and then a drive's setting before it makes the kernel look at the drive
 * anew: that resets some (Linux drivers/scsi/sd.c, sd_revalidate_disk()). They are looked at once more when it is their turn to be written. */
static bool step_may_be_reset(const Step *s, bool after_writing) {
        return after_writing && s->verdict == VERDICT_UNCHANGED &&
               (s->setting->backend == BACKEND_BLOCK || s->setting->backend == BACKEND_SCSI);
}

/* How asking each kind of settings whether it may be asked ended. */
typedef struct Asked {
        int error;
        char why[sizeof((Device *) NULL)->error];
} Asked;

static void visit_read_step(const Visit *v, Plan *p, Step *s, Device *d, const Asked *asked) {
        const Memory *memory = visit_memory(v, s);
        int r = 0;

        visit_turn(v, s, d);
        if (asked[s->setting->backend].error < 0)
                r = device_fail(d, asked[s->setting->backend].error, "%s", asked[s->setting->backend].why);
        else if (step_would_wake(s, d))
                s->before = (Reading){ .supported = true };
        else
                r = s->setting->read(d, s->setting, &s->before);
        if (r >= 0 && s->setting->localize)
                r = s->setting->localize(d, s->setting, &s->wanted);
        if (r < 0) {
                step_error(s, d, r);
                step_decide(s, memory, 0);
                visit_ended(v, p, s);
                return;
        }

        p->lost = p->lost || step_shows_loss(s, memory);
}

/* After all that can be read has been: nothing of it, or of the turns before, has shown a loss; or what rests on memory is read as
 * far as that goes, like anything else. */
static void visit_remember(const Visit *v, Plan *p, Device *d, Turn turn, const Asked *asked) {
        for (size_t i = 0; i < p->n_steps; i++) {
                Step *s = p->steps + i;
                bool remembered = s->remembered;

                if (!step_has_turn(s, turn) || !s->setting)
                        continue;
                if (p->lost)
                        step_distrust(s);
                if (!remembered)
                        continue;
                if (p->lost)
                        visit_read_step(v, p, s, d, asked);
                else
                        visit_ended(v, p, s);
        }
}

static void visit_read(const Visit *v, Plan *p, Device *d, Turn turn, bool dry) {
        Asked asked[_BACKEND_MAX] = {};
        bool writing = false;

        visit_settle(v, p, turn);

        for (Backend b = 0; b < _BACKEND_MAX; b++)
                if (b == BACKEND_ATA || b == BACKEND_SCSI_MODE || b == BACKEND_OPTICAL) {
                        asked[b].error = visit_prepare(v, p, d, turn, b);
                        (void) snprintf(asked[b].why, sizeof asked[b].why, "%s", d->error);
                }

        for (size_t i = 0; i < p->n_steps; i++)
                if (step_has_turn(p->steps + i, turn) && step_is_open(p->steps + i))
                        visit_read_step(v, p, p->steps + i, d, asked);
        visit_remember(v, p, d, turn, asked);

        for (size_t i = 0; i < p->n_steps; i++) {
                Step *s = p->steps + i;

                if (!step_has_turn(s, turn) || !step_is_open(s))
                        continue;

                step_decide(s, visit_memory(v, s),
                            (step_would_wake(s, d) ? DECIDE_ASLEEP : 0) | (v->permanent ? DECIDE_PERMANENT : 0) |
                                            (v->look ? DECIDE_LOOK : 0) |
                                            (d->power == POWER_UNCLEAR ? DECIDE_UNCLEAR : 0));
                if (!dry && step_may_be_reset(s, writing))
                        s->verdict = _VERDICT_INVALID;
                writing = writing || s->write;
                visit_ended(v, p, s);
        }
}

/* Is it still as wanted? Else it is to be written. */
static void visit_look_again(const Visit *v, Plan *p, Step *s, Device *d) {
        int r;

        s->before = (Reading){};
        r = s->setting->read(d, s->setting, &s->before);
        if (r < 0)
                step_error(s, d, r);
        step_decide(s, visit_memory(v, s), 0);
        visit_ended(v, p, s);
}

static bool step_is_dangerous(const Step *s) {
        return setting_is_dangerous(s->setting, &s->wish->value);
}

/* A store into the kernel's own state, which is gone with the kernel, needs no guard. Without the guard, what is harmless is
 * written all the same. */
static void visit_intend(const Visit *v, const Plan *p, Turn turn) {
        bool any = false;

        for (size_t i = 0; i < p->n_steps; i++) {
                const Step *s = p->steps + i;

                any = any || (step_has_turn(s, turn) && step_is_open(s) && s->write && !step_is_dangerous(s) &&
                              !(s->setting->flags & SETTING_KERNEL));
        }

        if (any && v->intend)
                (void) v->intend(v->userdata, NULL);
}

static int visit_intend_dangerous(const Visit *v, const Step *s, Device *d) {
        if (!v->intend || !step_is_dangerous(s) || v->intend(v->userdata, s) >= 0)
                return 0;
        return device_fail(
                        d, STEP_FORBIDDEN,
                        "it is dangerous, and the crash guard's note of it could not be stored below /var/lib/drivekeep, or an old one there cannot be read: then 'drivekeep release' removes that");
}

static void visit_writing(const Visit *v, const Step *s) {
        if (v->writing)
                v->writing(v->userdata, s);
}

/* Nothing of it has reached the drive, so there is nothing to read back. */
static void visit_unsent(const Visit *v, Plan *p, Step *s, Device *d, int error) {
        step_error(s, d, error);
        step_judge(s);
        visit_ended(v, p, s);
}

static void visit_write(const Visit *v, Plan *p, Device *d, Turn turn) {
        bool any = false;

        visit_intend(v, p, turn);

        for (size_t i = 0; i < p->n_steps; i++) {
                Step *s = p->steps + i;
                int r;

                if (!step_has_turn(s, turn) || !step_is_open(s))
                        continue;

                visit_turn(v, s, d);
                if (!s->write)
                        visit_look_again(v, p, s, d);
                if (!s->write)
                        continue;
                r = visit_intend_dangerous(v, s, d);
                if (r < 0) {
                        visit_unsent(v, p, s, d, r);
                        continue;
                }

                any = true;
                visit_writing(v, s);
                s->saving = d->save;
                r = s->setting->write(d, s->setting, &s->wanted);
                d->committed = false;
                if (r >= 0) {
                        s->written = true;
                        (void) snprintf(s->note, sizeof s->note, "%s", d->note);
                        continue;
                }

                if (r == STEP_DEFERRED || r == STEP_VANISHED) {
                        visit_unsent(v, p, s, d, r);
                        continue;
                }

                step_error(s, d, r);
                s->failed = true;
        }

        if (any)
                visit_writing(v, NULL);
}

/* What is in the drive now: of settings that were refused too, because a part of one may have been accepted. */
static void visit_verify(const Visit *v, Plan *p, Device *d, Turn turn) {
        bool refreshed = false;

        for (size_t i = 0; i < p->n_steps; i++) {
                Step *s = p->steps + i;
                int r;

                if (!step_has_turn(s, turn) || !step_is_open(s))
                        continue;

                if (!refreshed)
                        device_refresh(d);
                refreshed = true;
                visit_turn(v, s, d);
                if (!(s->setting->flags & SETTING_UNREADABLE)) {
                        r = s->setting->read(d, s->setting, &s->after);
                        if (r < 0 && !s->failed)
                                step_error(s, d, r);
                }

                step_judge(s);
                d->bridge.repeats_identify |= s->verdict == VERDICT_UNVERIFIABLE && s->after.repeated;
                visit_ended(v, p, s);
        }
}

bool visit_asks_identity(const Visit *v) {
        return v->bridge && !v->bridge->asked && drive_is_behind_bridge(v->drive);
}

/* Before anything is decided of a drive that udev knows only by its bridge. Returns true when the visit goes on. */
static bool visit_identify(const Visit *v, Plan *p, Device *d) {
        DriveIdentity identity = {};
        int r;

        if (v->bridge)
                d->bridge = *v->bridge;
        if (!visit_asks_identity(v))
                return true;

        r = bridge_ask(d, &identity);
        if (r == -EAGAIN || r == STEP_DEFERRED) {
                visit_end(v, p, STEP_DEFERRED, d->error);
                return false;
        }
        if (r <= 0)
                return true;

        if (v->bridged)
                v->bridged(v->userdata, &d->bridge, &identity);
        return false;
}

/* Member by member: what lies between them is nobody's. */
static bool bridge_equal(const Bridge *a, const Bridge *b) {
        return a->asked == b->asked && a->identified == b->identified && a->without_sat == b->without_sat &&
               a->without_registers == b->without_registers && a->repeats_identify == b->repeats_identify &&
               a->fragile == b->fragile && a->cdb == b->cdb;
}

static void visit_learned(const Visit *v, const Device *d) {
        if (v->bridge && v->bridged && !bridge_equal(v->bridge, &d->bridge))
                v->bridged(v->userdata, &d->bridge, NULL);
}

int visit_run(const Visit *v, Plan *ret) {
        Device d;
        Plan p;
        int r;

        r = plan_new(v->wishes, v->settings, drive_backends(v->drive), &p);
        if (r < 0)
                return r;

        device_init(&d, v->drive, v->io);
        d.active = v->active;
        d.power = v->ata_sleep ? POWER_SUSPENDED : POWER_UNKNOWN;
        d.plan = &p;
        if (visit_identify(v, &p, &d)) {
                for (Turn turn = 0; turn < _TURN_MAX; turn++) {
                        visit_read(v, &p, &d, turn, false);
                        visit_write(v, &p, &d, turn);
                        visit_verify(v, &p, &d, turn);
                }
                visit_learned(v, &d);
        }
        device_done(&d);

        *ret = p;
        return 0;
}

int visit_dry_run(const Visit *v, Plan *ret) {
        Device d;
        Plan p;
        int r;

        r = plan_new(v->wishes, v->settings, drive_backends(v->drive), &p);
        if (r < 0)
                return r;

        device_init(&d, v->drive, v->io ?: &device_io_real);
        d.active = v->active;
        d.power = v->ata_sleep ? POWER_SUSPENDED : POWER_UNKNOWN;
        d.plan = &p;
        if (v->bridge)
                d.bridge = *v->bridge;
        for (Turn turn = 0; turn < _TURN_MAX; turn++)
                visit_read(v, &p, &d, turn, true);
        device_done(&d);

        *ret = p;
        return 0;
}
