/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whether a drive sleeps: the first question to a drive, which does not wake it. */

#include "device.h"

/* Into d->power, once per visit: by ATA's CHECK POWER MODE, or for BACKEND_SCSI_MODE by REQUEST SENSE. An optical drive, and
 * one that the kernel has suspended, is not asked at all. One that gives no usable answer is taken to be awake only when it
 * has just been in use (d->active), or has nothing to spin up. Returns a STEP_… error or errno, with a sentence, when there is no asking. */
int power_look(Device *d, Backend by);
