/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "power-mode.h"
#include "probe.h"

bool probe_needs_root(int error) {
        return (error == -EACCES || error == -EPERM) && geteuid() != 0;
}

void probe(Device *d, unsigned backends, const SettingTable *t, ProbeFn each, void *userdata) {
        unsigned probed = backends & (1U << BACKEND_ATA | 1U << BACKEND_SCSI_MODE);
        Failure power = {};
        int r;

        /* d->active is false here, so a rotating drive counts as active only if the drive itself reports that it is
         * active. */
        if (probed)
                failure_keep(&power, d, power_probe(d, power_backend(probed)));

        SETTING_TABLE_FOREACH(s, t) {
                Probed x = { .setting = s };

                if (s->alias_of || !s->read || (s->flags & SETTING_AT_ATTACH) || !(backends & 1U << s->backend))
                        continue;

                d->failure.why[0] = '\0';
                if (!(s->flags & SETTING_KERNEL) && d->power != POWER_ACTIVE && d->power != POWER_UNKNOWN)
                        x.reason = "not read: the drive is not active, and reading must not spin it up";
                else if (power.error < 0 && (probed & 1U << s->backend))
                        x.reason = probe_needs_root(power.error) ? PROBE_NEEDS_ROOT : power.why;
                else if ((r = s->read(d, s, &x.reading)) < 0) {
                        x.reading.known = x.reading.saved_known = false;
                        x.reason = probe_needs_root(r) ? PROBE_NEEDS_ROOT : d->failure.why;
                } else if (x.reading.supported && !x.reading.known)
                        x.reason = s->flags & SETTING_UNREADABLE ? "no command can read it"
                                                                 : "cannot be read on this drive";

                each(userdata, &x);
        }
}
