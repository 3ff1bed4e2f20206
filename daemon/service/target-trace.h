/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Traces which program makes a drive spin up: passes drives in standby to the tracer (tracer.h), and the tracer's reports to
 * target-power.h. Logs and counts spin-ups. */

#include "target.h"

extern const TargetPart trace_part;

/* Callbacks for tracer_new(). Their userdata is the TargetEnv. */
extern const TracerEvents target_tracer_events;
