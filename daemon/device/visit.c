/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "ata.h"
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

static void visit_ended(const Visit *v, const Step *s) {
        if (v->ended && !step_is_open(s))
                v->ended(v->userdata, s);
}

/* Before the first command that only an awake drive should get. */
static int visit_prepare(const Plan *p, Device *d) {
        int r = 0;

        for (size_t i = 0; i < p->n_steps && r == 0; i++)
                if (step_is_open(p->steps + i) && p->steps[i].setting->backend == BACKEND_ATA) {
                        r = ata_power_mode(d);
                        break;
                }

        /* A bridge that refuses the question has a drive behind it all the same; one that is silent has none. */
        return r == STEP_REFUSED || r == -EBADMSG ? 0 : r;
}

/* Would this setting wake the drive? */
static bool step_would_wake(const Step *s, const Device *d) {
        if (s->setting->flags & SETTING_KERNEL)
                return false;
        if (s->setting->flags & SETTING_STANDBY_SAFE)
                return d->power == POWER_SUSPENDED;
        return d->power == POWER_SUSPENDED || d->power == POWER_STANDBY;
}

static void visit_read(const Visit *v, Plan *p, Device *d) {
        char why[sizeof d->error];
        int prepared;

        for (size_t i = 0; i < p->n_steps; i++)
                if (step_settle(p->steps + i, visit_memory(v, p->steps + i)))
                        visit_ended(v, p->steps + i);

        prepared = visit_prepare(p, d);
        (void) snprintf(why, sizeof why, "%s", d->error);

        for (size_t i = 0; i < p->n_steps; i++) {
                Step *s = p->steps + i;
                bool asleep;
                int r = 0;

                if (!step_is_open(s))
                        continue;

                asleep = step_would_wake(s, d);
                if (s->setting->backend == BACKEND_ATA && prepared < 0)
                        r = device_fail(d, prepared, "%s", why);
                else if (asleep)
                        s->before = (Reading){ .supported = true };
                else
                        r = s->setting->read(d, s->setting, &s->before);
                if (r < 0)
                        step_error(s, d, r);

                step_decide(s, visit_memory(v, s), asleep);
                visit_ended(v, s);
        }
}

static void visit_write(const Visit *v, Plan *p, Device *d) {
        for (size_t i = 0; i < p->n_steps; i++) {
                Step *s = p->steps + i;
                int r;

                if (!step_is_open(s))
                        continue;

                d->note[0] = '\0';
                r = s->setting->write(d, s->setting, &s->wish->value);
                if (r >= 0) {
                        s->written = true;
                        if (!s->before.known)
                                (void) snprintf(s->reason, sizeof s->reason, "%s", d->note);
                        continue;
                }

                step_error(s, d, r);
                s->failed = r != STEP_DEFERRED && r != STEP_VANISHED;
                if (!s->failed) {
                        step_judge(s);
                        visit_ended(v, s);
                }
        }
}

/* What is in the drive now: of settings that were refused too, because a part of one may have been accepted. */
static void visit_verify(const Visit *v, Plan *p, Device *d) {
        device_refresh(d);

        for (size_t i = 0; i < p->n_steps; i++) {
                Step *s = p->steps + i;
                int r;

                if (!step_is_open(s))
                        continue;

                if (!(s->setting->flags & SETTING_UNREADABLE)) {
                        r = s->setting->read(d, s->setting, &s->after);
                        if (r < 0 && !s->failed)
                                step_error(s, d, r);
                }

                step_judge(s);
                visit_ended(v, s);
        }
}

int visit_run(const Visit *v, Plan *ret) {
        Device d;
        Plan p;
        int r;

        r = plan_new(v->wishes, v->settings, drive_backends(v->drive), &p);
        if (r < 0)
                return r;

        device_init(&d, v->drive, v->io);
        visit_read(v, &p, &d);
        visit_write(v, &p, &d);
        visit_verify(v, &p, &d);
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
        visit_read(v, &p, &d);
        device_done(&d);

        *ret = p;
        return 0;
}
