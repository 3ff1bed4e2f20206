/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "active-watch.h"

#define LONGEST_USEC (3600ULL * 1000 * 1000)
#define LONGEST_PAUSE_USEC (24ULL * 3600 * 1000 * 1000)

static ActiveStep watch_drop(ActiveWatch *w) {
        bool traced = w->until > 0;

        *w = (ActiveWatch){};
        return traced ? ACTIVE_DROP : ACTIVE_NOTHING;
}

ActiveStep active_watch_power(ActiveWatch *w, unsigned events, PowerMode mode, uint64_t patience, uint64_t now) {
        if (active_watch_is_over(events, mode))
                return watch_drop(w);

        /* The probe will show whether the drive is in standby. */
        if (events & POWER_NEWS_PROBE)
                w->since = 0;
        if (events & POWER_NEWS_STILL_ACTIVE)
                w->still_active = true;
        if (events & (POWER_NEWS_IO | POWER_NEWS_COUNTED))
                w->since = w->since ?: now;

        if (w->until > 0 || now < w->again_at)
                return ACTIVE_NOTHING;
        if ((events & POWER_NEWS_STILL_ACTIVE) ||
            ((events & POWER_NEWS_IO) && w->since > 0 && now - w->since >= 4 * patience))
                return ACTIVE_BEGIN;
        return ACTIVE_NOTHING;
}

uint64_t active_watch_due(const ActiveWatch *w) {
        if (w->until > 0)
                return w->until;
        return w->still_active && w->again_at > 0 ? w->again_at : UINT64_MAX;
}

ActiveStep active_watch_tick(ActiveWatch *w, uint64_t now) {
        if (now < active_watch_due(w))
                return ACTIVE_NOTHING;
        if (w->until == 0)
                return ACTIVE_BEGIN;
        /* The report of the tracer, or the loss of the tracer, ends the watch. */
        w->until = UINT64_MAX;
        return ACTIVE_REPORT;
}

void active_watch_begun(ActiveWatch *w, uint64_t patience, uint64_t now) {
        w->until = now + MIN(2 * patience, LONGEST_USEC);
}

void active_watch_ended(ActiveWatch *w, bool found, uint64_t patience, uint64_t now) {
        w->until = 0;
        w->still_active = w->still_active && found;
        w->pause = MIN(w->pause > 0 ? 2 * w->pause : 8 * patience, LONGEST_PAUSE_USEC);
        w->again_at = now + w->pause;
}
