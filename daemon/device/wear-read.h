/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reading what a drive counts of its own wear. */

#include "device.h"
#include "use.h"

/* Of a hard disk that is awake: it is asked whether it sleeps, unless d->power says so already, and no more is sent to one
 * that does. `by`: BACKEND_ATA or BACKEND_SCSI_MODE, as of power_backend(). SMART's data and log pages are no quiet commands: drives
 * start their standby timers anew for them, and some load their heads. Once a day does no harm.
 *
 * 0: whatever the drive has is in *ret, which may be nothing. END_DEFERRED: it sleeps, or nothing tells that it does not.
 * END_UNSUPPORTED: it is no hard disk, or its SMART data cannot be had, or may not be believed. Others as of commands. */
int wear_read(Device *d, Backend by, Wear *ret);

/* The same, and whether the drive tests itself just now. ATA: the self-test execution status in the data of SMART READ DATA (ACS-3);
 * SCSI: the log page 10h, Self-Test Results (SPC-4), for which one more command is sent. */
int wear_and_test_read(Device *d, Backend by, Wear *ret, bool *ret_testing);
