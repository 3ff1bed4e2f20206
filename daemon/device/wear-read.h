/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads wear counters of a drive. */

#include "device.h"
#include "use.h"

/* Reads the wear counters of an active hard disk. If d->power is not known, probes the power mode first. A drive in standby gets no other
 * command. `by`: BACKEND_ATA or BACKEND_SCSI_MODE, as from power_backend(). Reading SMART data and log pages restarts the standby timer of
 * drives, and makes some drives load their heads. Reading once a day is harmless.
 *
 * 0: *ret holds the drive's counters, possibly none. END_DEFERRED: the drive is in standby, or its power mode is not known.
 * END_UNSUPPORTED: the drive is not a hard disk, or its SMART data is missing or invalid. Other errors: a command failed. */
int wear_read(Device *d, Backend by, Wear *ret);

/* Does the same as wear_read(), and also reads whether a self-test is running. ATA: the self-test execution status in SMART READ DATA
 * (ACS-3). SCSI: log page 10h, Self-Test Results (SPC-4), by one more command. */
int wear_and_test_read(Device *d, Backend by, Wear *ret, bool *ret_testing);
