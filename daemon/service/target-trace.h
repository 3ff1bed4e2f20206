/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Traces which program makes a drive spin up: lets the tracer (tracer.h) watch drives in standby, and passes the
 * tracer's reports to the state machine (target-power.h). Logs and counts spin-ups. Passes reports about active drives to
 * target-active.h. */

#include "target.h"

extern const TargetPart trace_part;

/* Lets the tracer watch the drive. Returns 0, or a negative errno of tracer_watch() or watch_drive_read(). */
int target_trace_begin(Target *t, bool active);
void target_trace_end(Target *t);
/* Requests the tracer's counts of an active drive. */
int target_trace_report(Target *t);

/* Callbacks for tracer_new(). Their userdata is the TargetEnv. */
extern const TracerEvents target_tracer_events;
