/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "kernel-view.h"
#include "settings.h"
#include "visit-step.h"

void step_error(Step *s, int error, const char *why) {
        s->end = end_to_verdict(error);
        s->error = s->end == VERDICT_FAILED ? error : 0;
        (void) snprintf(s->reason, sizeof s->reason, "%s", why);
}

void step_advise(Step *s) {
        bool is_bool = s->setting->range.type == VALUE_BOOL;
        char why[STEP_REASON_MAX];

        (void) snprintf(why, sizeof why, "%s", s->reason);
        (void) snprintf(s->reason, sizeof s->reason,
                        is_bool ? "%.170s: it cannot do this; %s = \"keep\" leaves it as it is"
                                : "%.170s: it does not take this value; try another, or %s = \"keep\" for this drive",
                        why, s->setting->name);
}

/* The service stops such a drive by START STOP UNIT (standby.c), which is no ATA command. */
static bool step_is_left_to_service(const Step *s, const Device *d) {
        return s->setting->remedy == &by_service_remedy && d->bridge.without_sat && !d->failure.remediable &&
               s->wish->spindown_by == SPINDOWN_BY_DRIVE && setting_is_active(s->setting, &s->wish->value);
}

void step_fail(Step *s, const Device *d, int error) {
        step_error(s, error, d->failure.why);
        s->remediable = d->failure.remediable;
        if (error == END_UNSUPPORTED && step_is_left_to_service(s, d)) {
                (void) snprintf(s->reason, sizeof s->reason, "%.120s: %s", d->failure.why, by_service_remedy.how);
                s->remediable = true;
        }
}

bool step_asks_power(const Step *s) {
        Backend b = s->setting->backend;

        return !(s->setting->flags & SETTING_READ_SAFE) &&
               (b == BACKEND_ATA || b == BACKEND_SCSI_MODE || b == BACKEND_OPTICAL);
}

bool step_resumes(const Step *s, const Device *d) {
        return s->setting->resumes && s->setting->resumes(&s->wanted) && activity_is_suspended(d->drive->syspath);
}

bool step_would_wake(const Step *s, const Device *d) {
        if (d->wake)
                return false;
        if (s->setting->flags & SETTING_KERNEL)
                return step_resumes(s, d);
        if (d->power == POWER_STANDBY)
                return !(s->setting->flags & SETTING_STANDBY_SAFE);
        return d->power == POWER_SUSPENDED || d->power == POWER_ASLEEP || d->power == POWER_UNCLEAR;
}

bool step_may_be_reset(const Step *s, bool after_writing) {
        return after_writing && s->verdict == VERDICT_UNCHANGED &&
               (s->setting->backend == BACKEND_BLOCK || s->setting->backend == BACKEND_SCSI);
}
