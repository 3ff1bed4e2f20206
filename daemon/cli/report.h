/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Writes a report about a drive: its facts, its settings, and the drive's answers to the commands that read the settings. */

#include <systemd/sd-bus.h>

#include "recorder.h"

#define REPORT_FORMAT "drivekeep-report 1"

/* Reads the settings and the wear of the drive, and writes the report. `device` is new, and holds what the service knows about the drive.
 * If `bus` is not NULL, the service then writes harmless values of the drive again, and the report has the verdicts. Returns an ExitStatus.
 * Writes nothing if the drive is in standby, or if the machine has no machine ID. */
int report_write(FILE *f, Device *device, sd_bus *bus);
