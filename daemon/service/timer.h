/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One-shot timers of the event loop. */

#include <systemd/sd-event.h>

#include "macro.h"

/* Starts or restarts *timer. If *timer is NULL, creates a timer. Calls `handler` after `usec`, or up to `accuracy_usec`
 * later (0: the default of sd_event_add_time(3)). The caller frees *timer with sd_event_source_disable_unref(). */
int timer_start(sd_event *event, sd_event_source **timer, uint64_t usec, uint64_t accuracy_usec,
                sd_event_time_handler_t handler, void *userdata);

/* Returns true if the timer was started and has not expired. Returns false if `timer` is NULL. */
bool timer_runs(sd_event_source *timer);
