/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One timer for all drives, which runs only while one of them waits for a time. */

#include <systemd/sd-event.h>

#include "macro.h"

typedef struct DriveTimer DriveTimer;

/* Returns when the next one is due, on CLOCK_MONOTONIC; UINT64_MAX: none is. */
typedef uint64_t (*DriveTimerFn)(void *userdata);

int drive_timer_new(sd_event *event, DriveTimerFn fn, void *userdata, DriveTimer **ret);
DriveTimer *drive_timer_free(DriveTimer *t);

/* One is due then, or earlier than before. */
void drive_timer_wake(DriveTimer *t, uint64_t due);
