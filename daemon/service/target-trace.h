/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Traces which program makes a drive spin up: lets the tracer (tracer.h) watch drives in standby, and passes the
 * tracer's reports to the state machine (target-power.h). Logs and counts spin-ups. */

#include "target.h"

extern const TargetPart trace_part;

/* Callbacks for tracer_new(). Their userdata is the TargetEnv. */
extern const TracerEvents target_tracer_events;
