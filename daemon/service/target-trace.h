/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which program made a drive spin up: hands a drive in standby to the tracer (tracer.h), and its reports to the state machine of the
 * drive's power mode (target-power.h). Logs and counts spin-ups. */

#include "target.h"

extern const TargetPart trace_part;

/* What tracer_new() takes; their userdata is the TargetEnv. */
extern const TracerEvents target_tracer_events;
