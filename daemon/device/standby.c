/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ata.h"
#include "plan.h"
#include "standby.h"

int standby_read(Device *d, const Setting *s, Reading *ret) {
        int r;

        r = power_look(d, s->backend);
        if (r < 0)
                return r;

        *ret = (Reading){
                .supported = true,
                .known = d->power == POWER_STANDBY || (d->power == POWER_AWAKE && d->power_told),
                .value = { .type = s->range.type, .number = d->power == POWER_STANDBY },
        };
        return 0;
}

int standby_write(Device *d, const Setting *s, const Value *v) {
        if (!v->number)
                return device_fail(d, STEP_UNSUPPORTED, "no setting wakes drives; off does nothing");

        power_forget(d);
        return ata_feature_write(d, s, v);
}
