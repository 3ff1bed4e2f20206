/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One setting of a visit: its errors, and whether its commands may be sent to the drive. */

#include "device.h"
#include "plan.h"

void step_error(Step *s, int error, const char *why);

/* The same, with the sentence in Device.error. */
void step_fail(Step *s, const Device *d, int error);

/* What the user can do about a command or value that the drive, its controller or the kernel has rejected. */
void step_advise(Step *s);

/* Is the drive asked whether it sleeps before this setting is read? A drive has one of these backends at most. */
bool step_asks_power(const Step *s);

/* Would the kernel, which holds this setting, resume the suspended drive for it? */
bool step_resumes(const Step *s, const Device *d);

/* Would this setting wake the drive? */
bool step_would_wake(const Step *s, const Device *d);

/* Writing a drive's setting can make the kernel revalidate the drive, which resets some kernel settings that were as wanted (Linux
 * drivers/scsi/sd.c, sd_revalidate_disk()). Such settings are read again at their turn to be written. */
bool step_may_be_reset(const Step *s, bool after_writing);
