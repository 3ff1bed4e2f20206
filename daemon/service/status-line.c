/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>
#include <systemd/sd-daemon.h>

#include "status-line.h"

void status_line_tell(const Target *drives) {
        unsigned n_verdicts[_VERDICT_MAX] = {}, n_drives = 0, n_kept = 0, n_visits = 0;
        char rest[256] = "";
        size_t n = 0;

        for (const Target *t = drives; t; t = t->next) {
                n_drives++;
                n_visits += !!t->visit.job;
                for (size_t i = 0; i < t->record->n_settings; i++)
                        if (t->record->settings[i].verdict >= 0)
                                n_verdicts[t->record->settings[i].verdict]++;
        }

        for (Verdict v = 0; v < _VERDICT_MAX; v++)
                if (verdict_is_wanted(v))
                        n_kept += n_verdicts[v];
                else if (n_verdicts[v] > 0)
                        n += snprintf(rest + n, sizeof rest - n, ", %u %s", n_verdicts[v], verdict_to_string(v));
        if (n_visits > 0)
                (void) snprintf(rest + n, sizeof rest - n, "; %u being visited", n_visits);

        (void) sd_notifyf(false, "STATUS=%u drive%s, %u setting%s kept%s", n_drives, n_drives == 1 ? "" : "s", n_kept,
                          n_kept == 1 ? "" : "s", rest);
}
