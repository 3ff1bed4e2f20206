/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "ata-identify.h"
#include "ata.h"
#include "kernel-view.h"
#include "settings.h"
#include "power-mode.h"
#include "visit.h"
#include "wear-read.h"

/* ---- turns: parts of a visit, each of which reads, writes and verifies its settings before the next turn ---- */

/* FIRST: settings that change the readings of other settings. FALLBACK: settings that are written only if another setting is not in
 * force; the verdict on the other setting must be known first. AT_ATTACH: settings that spin the drive down, after which no other
 * setting is read. */
typedef enum Turn {
        TURN_FIRST,
        TURN_MAIN,
        TURN_FALLBACK,
        TURN_AT_ATTACH,
        _TURN_MAX,
} Turn;

static Turn setting_turn(const Setting *s) {
        if (s && s->unless)
                return TURN_FALLBACK;
        if (s && s->flags & SETTING_AT_ATTACH)
                return TURN_AT_ATTACH;
        return s && s->flags & SETTING_FIRST ? TURN_FIRST : TURN_MAIN;
}

/* Returns the turn, the part of the visit in which the step is read and written. Settings that exclude each other share a turn, because
 * both must be read before one is selected. */
static Turn plan_turn(const Plan *p, const Step *s) {
        Turn turn = setting_turn(s->setting);

        for (const Step *other = p->steps; other < p->steps + p->n_steps && turn == TURN_MAIN; other++)
                if (steps_exclude(s, other))
                        turn = setting_turn(other->setting);

        return turn;
}

/* Returns the step for the named setting, or NULL. If several steps set parts of the setting (error_recovery_read and _write), prefers a
 * step whose wanted value is not in force. */
static const Step *plan_find_state(const Plan *p, const char *name) {
        const Step *found = NULL;

        for (const Step *step = p->steps; step < p->steps + p->n_steps; step++) {
                const Setting *s = step->setting;

                if (step->winner ||
                    (!streq(step->wish->name, name) && !(s && (s->flags & SETTING_SAME) && streq(s->excludes, name))))
                        continue;
                if (!step_is_in_force(step))
                        return step;
                found = step;
        }

        return found;
}

/* ---- one setting of a visit: errors, and permission to send its commands ---- */

static void step_error(Step *s, int error, const char *why) {
        s->end = end_to_verdict(error);
        s->error = s->end == VERDICT_FAILED ? error : 0;
        (void) snprintf(s->reason, sizeof s->reason, "%s", why);
}

/* Adds advice to the reason why the drive, controller or kernel rejected a command or value. */
static void step_advise(Step *s) {
        bool is_bool = s->setting->range.type == VALUE_BOOL;
        char why[STEP_REASON_MAX];

        (void) snprintf(why, sizeof why, "%s", s->reason);
        (void) snprintf(s->reason, sizeof s->reason,
                        is_bool ? "%.170s: not supported; %s = \"keep\" leaves the setting unchanged"
                                : "%.170s: value not supported; try another value, or %s = \"keep\" for this drive",
                        why, s->setting->name);
}

/* Returns true if the service can spin the drive down in place of the drive's timer, by START STOP UNIT (power-mode.c). START STOP UNIT
 * works even if the USB bridge passes no ATA commands. */
static bool step_suits_service(const Step *s, const Device *d) {
        return s->setting->remedy == &by_service_remedy && d->bridge.without_sat && !d->failure.remediable &&
               s->wish->spindown_by == SPINDOWN_BY_DRIVE && setting_is_active(s->setting, &s->wish->value);
}

/* Ends the step with an error and the reason in Device.failure. */
static void step_fail(Step *s, const Device *d, int error) {
        step_error(s, error, d->failure.why);
        s->remediable = d->failure.remediable;
        if (error == END_UNSUPPORTED && step_suits_service(s, d)) {
                (void) snprintf(s->reason, sizeof s->reason, "%.120s: %s", d->failure.why, by_service_remedy.how);
                s->remediable = true;
        }
}

/* Returns true if the power mode must be probed before the setting is read. Only the three backends below need the probe, and a drive has
 * at most one of these backends. */
static bool step_needs_power_mode(const Step *s) {
        Backend b = s->setting->backend;

        return !(s->setting->flags & SETTING_READ_SAFE) &&
               (b == BACKEND_ATA || b == BACKEND_SCSI_MODE || b == BACKEND_OPTICAL);
}

/* Returns true if the drive is runtime-suspended, and writing this kernel setting would make the kernel resume the drive. */
static bool step_resumes(const Step *s, const Device *d) {
        return s->setting->resumes && s->setting->resumes(&s->wanted) && activity_is_suspended(d->drive->syspath);
}

/* Returns true if reading or writing the setting would spin up or resume the drive without permission. */
static bool step_would_wake(const Step *s, const Device *d) {
        if (d->wake)
                return false;
        if (s->setting->flags & SETTING_KERNEL)
                return step_resumes(s, d);
        if (d->power == POWER_STANDBY)
                return !(s->setting->flags & SETTING_STANDBY_SAFE);
        return d->power == POWER_SUSPENDED || d->power == POWER_ATA_SLEEP || d->power == POWER_UNCLEAR;
}

/* Returns true if an earlier write may have reset a setting that was unchanged. Writes to a drive can make the kernel revalidate the drive,
 * which resets some kernel settings (Linux drivers/scsi/sd.c, sd_revalidate_disk()). run_write() reads such settings again. */
static bool step_may_be_reset(const Step *s, bool after_writing) {
        return after_writing && s->verdict == VERDICT_UNCHANGED &&
               (s->setting->backend == BACKEND_BLOCK || s->setting->backend == BACKEND_SCSI);
}

/* ---- the visit ---- */

/* State of one visit. */
typedef struct Run {
        const Visit *visit;
        Plan plan;
        Device device;
        Turn turn;
        bool noted;            /* the crash guard was asked to store the note about harmless writes */
        Failure power_failure; /* failure of the latest power mode probe */
} Run;

static const Memory *run_memory(const Run *run, const Step *s) {
        const Visit *v = run->visit;

        return v->memories ? v->memories + (s->wish - v->wishes->items) : NULL;
}

static bool step_is_open(const Step *s) {
        return s->verdict == _VERDICT_INVALID;
}

static bool step_has_turn(const Run *run, const Step *s) {
        return plan_turn(&run->plan, s) == run->turn;
}

#define FOREACH_STEP(s, run) for (Step *s = (run)->plan.steps; s < (run)->plan.steps + (run)->plan.n_steps; s++)

/* Loops over the steps of the current part of the visit (Run.turn) that have no verdict yet. */
#define FOREACH_OPEN_STEP(s, run) \
        FOREACH_STEP(s, run)      \
        if (step_is_open(s) && step_has_turn((run), s))

static void run_report(const Run *run, const Step *s) {
        if (run->visit->ended)
                run->visit->ended(run->visit->userdata, s);
}

/* Ends all steps that have no verdict yet. */
static void run_end(Run *run, int error, const char *why) {
        FOREACH_STEP(s, run) {
                if (!step_is_open(s))
                        continue;
                /* A step whose write was rejected keeps the error of that write. */
                if (!s->failed)
                        step_error(s, error, why);
                step_judge(s);
                run_report(run, s);
        }
}

static void run_ended(Run *run, const Step *s) {
        if (step_is_open(s))
                return;
        run_report(run, s);
        /* Further commands may reach another drive, so all other steps end too. */
        if (s->verdict == VERDICT_VANISHED)
                run_end(run, END_VANISHED, s->reason);
}

/* Decides whether the drive may be spun up, and probes the power mode before the first command that needs an active drive. */
static void run_probe_power(Run *run) {
        Device *d = &run->device;
        const Step *prober = NULL;

        FOREACH_OPEN_STEP(s, run) {
                bool may_wake = !(s->setting->flags & SETTING_KERNEL) || step_resumes(s, d);

                d->wake = d->wake || (s->wish->wake && (run->visit->work & WORK_WAKE) && may_wake);
                if (step_needs_power_mode(s))
                        prober = s;
        }

        failure_keep(&run->power_failure, d, prober ? power_probe(d, prober->setting->backend) : 0);
}

/* Sets the members of the device that the setting's functions need for this step. */
static void run_select(Run *run, const Step *s) {
        Device *d = &run->device;

        d->note[0] = '\0';
        d->allow_dangerous = s->wish->allow_dangerous;
        d->permanent = s->wish->permanent && (s->setting->flags & SETTING_SAVEABLE);
        d->save = (run->visit->work & WORK_PERMANENT) && d->permanent;
}

static void run_settle_from_memory(Run *run) {
        FOREACH_STEP(s, run) {
                /* Skips steps with an error, because they were ended and reported before. */
                if (!step_has_turn(run, s) || step_has_error(s))
                        continue;
                if (step_settle(s, run_memory(run, s)) ||
                    (s->setting->unless && step_settle_unneeded(s, plan_find_state(&run->plan, s->setting->unless))))
                        /* Here, the verdict is reported only if no reading of another setting can change it. */
                        if (!s->remembered && !plan_excludes(&run->plan, s))
                                run_ended(run, s);
        }
}

/* Calls the setting's permit function. If the function does not permit the write, the step ends. */
static void run_permit(Run *run, Step *s) {
        int r;

        run_select(run, s);
        r = s->setting->permit ? s->setting->permit(&run->device, s->setting, &s->wanted) : 0;
        if (r >= 0)
                return;
        s->write = false;
        step_fail(s, &run->device, r);
        step_judge(s);
}

/* Returns why the setting must wait for an active drive; 0: the setting need not wait. */
static DecideFlags run_standby_flags(const Run *run, const Step *s) {
        const Device *d = &run->device;

        if (!step_would_wake(s, d))
                return 0;
        if ((s->setting->flags & SETTING_KERNEL) || d->power == POWER_SUSPENDED)
                return DECIDE_STANDBY | DECIDE_SUSPENDED;
        return DECIDE_STANDBY | (d->power == POWER_UNCLEAR ? DECIDE_UNCLEAR : 0);
}

static void run_decide(Run *run, Step *s, bool after_writing) {
        const Visit *v = run->visit;
        VisitWork writes = s->setting->flags & SETTING_KERNEL ? WORK_WRITE_KERNEL : WORK_WRITE;

        /* A visit that only spins the drive down must write the wish for standby, which scope_add_standby() has added. */
        if (streq(s->wish->name, SETTING_STANDBY))
                writes |= WORK_SPIN_DOWN;
        if (s->setting->keeps_active)
                writes |= WORK_KEEP_ACTIVE;
        if (s->wish->rewrite)
                writes = WORK_REWRITE;
        if (run->plan.lost)
                step_handle_loss(s);
        step_decide(s, run_memory(run, s),
                    (v->work & WORK_PERMANENT ? DECIDE_PERMANENT : 0) | (v->work & writes ? 0 : DECIDE_READ_ONLY) |
                                    run_standby_flags(run, s));
        if (step_may_be_reset(s, after_writing))
                s->verdict = _VERDICT_INVALID;
        if (step_is_open(s) && s->write)
                run_permit(run, s);
        run_ended(run, s);
}

static void run_read_step(Run *run, Step *s) {
        Device *d = &run->device;
        int r = 0;

        run_select(run, s);
        s->before = (Reading){};
        if (run->power_failure.error < 0 && step_needs_power_mode(s))
                r = device_fail_again(d, &run->power_failure);
        else if (!(s->setting->flags & (SETTING_READ_SAFE | SETTING_KERNEL)) && step_would_wake(s, d))
                s->before.supported = true;
        else
                r = s->setting->read(d, s->setting, &s->before);
        if (r >= 0 && s->setting->localize)
                r = s->setting->localize(d, s->setting, &s->wanted);
        if (r < 0) {
                step_fail(s, d, r);
                if (r == END_VANISHED || !plan_excludes(&run->plan, s))
                        run_decide(run, s, false);
        } else
                run->plan.lost = run->plan.lost || step_shows_loss(s, run_memory(run, s));
}

/* Called after all readings. Some settings were not read, but judged by the results of earlier visits. If a reading showed that the drive
 * lost settings, these settings are read now. Otherwise their verdicts are reported. */
static void run_check_memory(Run *run) {
        FOREACH_STEP(s, run) {
                if (!s->remembered || !step_has_turn(run, s))
                        continue;
                if (run->plan.lost) {
                        step_handle_loss(s);
                        run_read_step(run, s);
                } else if (!plan_excludes(&run->plan, s))
                        run_ended(run, s);
        }
}

/* Decides settings that exclude each other, in the order from the latest wish to the earliest. The latest wish that the drive supports
 * wins. */
static void run_exclude(Run *run, bool after_writing) {
        const Wishes *w = run->visit->wishes;

        for (size_t i = w->n_items; i-- > 0;)
                FOREACH_STEP(s, run) {
                        if (s->wish != w->items + i || !step_has_turn(run, s) || !plan_excludes(&run->plan, s) ||
                            (!step_is_open(s) && step_has_error(s)))
                                continue;
                        if (plan_exclude(&run->plan, s) || !step_is_open(s))
                                run_ended(run, s);
                        else
                                run_decide(run, s, after_writing);
                }
}

static void run_read(Run *run) {
        bool writing = false;

        run_settle_from_memory(run);
        run_probe_power(run);
        FOREACH_OPEN_STEP(s, run) {
                run_read_step(run, s);
        }
        run_check_memory(run);

        FOREACH_OPEN_STEP(s, run) {
                if (plan_excludes(&run->plan, s))
                        continue;
                run_decide(run, s, writing);
                writing = writing || (s->write && !run->visit->dry);
        }
        run_exclude(run, writing);
}

/* Stores a crash guard note before a write. A harmless setting is written even if the note cannot be stored. A harmless kernel setting
 * needs no note, because a reboot resets the setting. A read of the medium needs no note either. */
static int run_note_write(Run *run, const Step *s) {
        bool dangerous = setting_is_dangerous(s->setting, &s->wish->value);
        const Visit *v = run->visit;

        if (!v->intend ||
            (!dangerous && (run->noted || (s->setting->flags & SETTING_KERNEL) || s->setting->keeps_active)))
                return 0;
        run->noted = run->noted || !dangerous;
        if (v->intend(v->userdata, dangerous ? s : NULL) >= 0 || !dangerous)
                return 0;
        return device_fail(
                        &run->device, END_FORBIDDEN,
                        "the crash guard note of this dangerous setting could not be stored in /var/lib/drivekeep; 'drivekeep release' "
                        "removes an unreadable note");
}

static void run_write(Run *run) {
        const Visit *v = run->visit;
        Device *d = &run->device;
        bool any = false;

        FOREACH_OPEN_STEP(s, run) {
                bool sent = false;
                int r;

                /* A write may have reset this setting, so it is read again. */
                if (!s->write) {
                        run_read_step(run, s);
                        if (step_is_open(s))
                                run_decide(run, s, false);
                }
                if (!s->write)
                        continue;

                /* An earlier write may have changed whether this write is permitted. */
                run_permit(run, s);
                if (!step_is_open(s)) {
                        run_ended(run, s);
                        continue;
                }
                r = run_note_write(run, s);
                if (r >= 0) {
                        any = true;
                        if (v->writing)
                                v->writing(v->userdata, s);
                        s->saving = d->save;
                        r = s->setting->write(d, s->setting, &s->wanted);
                        d->committed = false;
                        sent = r != END_DEFERRED && r != END_VANISHED;
                }

                if (r >= 0) {
                        s->written = true;
                        (void) snprintf(s->note, sizeof s->note, "%s", d->note);
                        continue;
                }

                step_fail(s, d, r);
                if (r == END_REFUSED && d->failure.rejected)
                        step_advise(s);
                s->failed = sent;
                /* The command did not reach the drive, so nothing is read back. */
                if (!sent) {
                        step_judge(s);
                        run_ended(run, s);
                }
        }

        if (any && v->writing)
                v->writing(v->userdata, NULL);
}

/* Reads all written settings back. Also reads settings that the drive rejected, because the drive may have accepted a part of the value. */
static void run_verify(Run *run) {
        Device *d = &run->device;
        bool refreshed = false;

        FOREACH_OPEN_STEP(s, run) {
                int r;

                if (!refreshed)
                        device_refresh(d);
                refreshed = true;
                run_select(run, s);
                if (!(s->setting->flags & SETTING_UNREADABLE)) {
                        r = s->setting->read(d, s->setting, &s->after);
                        if (r < 0 && !s->failed)
                                step_fail(s, d, r);
                }

                step_judge(s);
                d->bridge.repeats_identify |= s->verdict == VERDICT_UNVERIFIABLE && s->after.repeated;
                run_ended(run, s);
        }
}

bool visit_needs_identity(const Visit *v) {
        return v->bridge && !v->bridge->queried && drive_is_behind_bridge(v->drive);
}

/* Identifies a drive behind a USB bridge before any decision, because udev knows only the bridge. IDENTIFY is not sent to a drive in
 * standby. Returns true if the visit continues. */
static bool run_identify(Run *run) {
        const Visit *v = run->visit;
        Device *d = &run->device;
        DriveIdentity identity = {};
        int r;

        if (!visit_needs_identity(v))
                return true;

        r = bridge_check(d);
        if (r >= 0)
                r = power_probe(d, BACKEND_ATA);
        d->bridge.queried = r == END_FORBIDDEN || r == END_UNSUPPORTED;
        if (r >= 0 && d->power != POWER_ACTIVE)
                r = device_fail(d, END_DEFERRED,
                                "the drive is in standby, and can be identified through its bridge only when active");
        if (r >= 0) {
                r = ata_identify(d);
                d->bridge.queried = r != END_DEFERRED && r != END_VANISHED;
        }
        if (r == END_DEFERRED)
                run_end(run, r, d->failure.why);
        if (r < 0)
                return r != END_DEFERRED;

        identify_drive(d->identify, &identity);
        d->bridge.identified = identity.serial[0];
        if (d->bridge.identified && v->bridge_learned)
                v->bridge_learned(v->userdata, &d->bridge, &identity);
        return !d->bridge.identified;
}

/* Compares member by member, because memcmp() would also compare padding bytes, which are undefined. */
static bool bridge_equal(const Bridge *a, const Bridge *b) {
        return a->queried == b->queried && a->identified == b->identified && a->without_sat == b->without_sat &&
               a->uas_blocks == b->uas_blocks && a->without_registers == b->without_registers &&
               a->repeats_identify == b->repeats_identify && a->fragile == b->fragile && a->cdb == b->cdb;
}

/* Reports the probed power mode, unless a write may have spun the drive up or down since then. */
static void run_report_power(const Run *run) {
        const Visit *v = run->visit;
        const Device *d = &run->device;
        bool written = false;

        for (const Step *s = run->plan.steps; s < run->plan.steps + run->plan.n_steps; s++)
                written = written || (s->written && (d->wake || (s->setting->flags & SETTING_AT_ATTACH)));
        if (v->power && !written && d->power != POWER_UNKNOWN && d->power != POWER_UNCLEAR)
                v->power(v->userdata, d->power);
}

int visit_run(const Visit *v, Plan *ret) {
        Run run = { .visit = v };
        Device *d = &run.device;
        Wear wear;
        int r;

        r = plan_new(v->wishes, v->settings, drive_backends(v->drive), &run.plan);
        if (r < 0)
                return r;

        device_init(d, v->drive, v->io ?: &device_io_real);
        d->active = v->active;
        d->power = v->ata_sleep ? POWER_ATA_SLEEP : POWER_UNKNOWN;
        d->plan = &run.plan;
        if (v->bridge)
                d->bridge = *v->bridge;

        if (v->dry || run_identify(&run)) {
                if (v->work & (WORK_POWER | WORK_WEAR))
                        (void) power_probe(d, power_backend(drive_backends(v->drive)));
                if (v->work & WORK_SPIN_UP)
                        (void) power_spin_up(d, power_backend(drive_backends(v->drive)));
                for (; run.turn < _TURN_MAX; run.turn++) {
                        run_read(&run);
                        if (v->dry)
                                continue;
                        run_write(&run);
                        run_verify(&run);
                }
                run_report_power(&run);
                if ((v->work & WORK_WEAR) && v->wear &&
                    wear_read(d, power_backend(drive_backends(v->drive)), &wear) >= 0)
                        v->wear(v->userdata, &wear);
                if (v->bridge && v->bridge_learned && !bridge_equal(v->bridge, &d->bridge))
                        v->bridge_learned(v->userdata, &d->bridge, NULL);
        }
        device_done(d);

        *ret = run.plan;
        return 0;
}
