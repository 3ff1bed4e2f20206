/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a visit makes of one setting: how it failed, and whether the drive may be sent what it takes. */

#include "device.h"
#include "plan.h"

void step_error(Step *s, int error, const char *why);

/* The same, with the sentence that the row left. */
void step_fail(Step *s, const Device *d, int error);

/* What the user can do about a command or value that the drive, its controller or the kernel has rejected. */
void step_advise(Step *s);

/* Is the drive asked whether it sleeps before this setting is read? A drive has one of these backends at most. */
bool step_asks_power(const Step *s);

/* Would the kernel, which holds this setting, resume the suspended drive for it? */
bool step_resumes(const Step *s, const Device *d);

/* Would this setting wake the drive? */
bool step_would_wake(const Step *s, const Device *d);

/* What the kernel holds is found as wanted, and then a drive's setting before it makes the kernel look at the drive anew: that
 * resets some (Linux drivers/scsi/sd.c, sd_revalidate_disk()). They are looked at once more when it is their turn to be
 * written. */
bool step_may_be_reset(const Step *s, bool after_writing);
