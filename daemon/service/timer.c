/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <time.h>

#include "timer.h"

int timer_start(sd_event *event, sd_event_source **timer, uint64_t usec, uint64_t accuracy_usec,
                sd_event_time_handler_t handler, void *userdata) {
        int r;

        if (!*timer)
                return sd_event_add_time_relative(event, timer, CLOCK_MONOTONIC, usec, accuracy_usec, handler,
                                                  userdata);

        r = sd_event_source_set_time_relative(*timer, usec);
        return r < 0 ? r : sd_event_source_set_enabled(*timer, SD_EVENT_ONESHOT);
}

bool timer_runs(sd_event_source *timer) {
        return timer && sd_event_source_get_enabled(timer, NULL) > 0;
}
