/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The power mode of a drive: asks for it, spins the drive down or up. */

#include "device.h"

/* Whether the drive sleeps, into d->power: once per visit, by ATA's CHECK POWER MODE, or for BACKEND_SCSI_MODE by REQUEST SENSE,
 * which wake no drive. An optical drive, and one that the kernel has suspended, is not asked at all. One that gives no usable
 * answer is taken to be awake only when it has just been in use (d->active), or has nothing to spin up. Returns an END_…
 * or errno, with a sentence, when there is no asking. */
int power_probe(Device *d, Backend by);

/* The one of a drive's backends (mask of 1 << Backend) that it is asked by. */
static inline Backend power_backend(unsigned backends) {
        return backends & 1U << BACKEND_ATA ? BACKEND_ATA : BACKEND_SCSI_MODE;
}

/* What it has found out (power_mode_to_string()). NULL: not known for certain. */
const char *power_state(const Device *d);

/* ---- the functions of the rows `standby`, by the row's backend: spins the drive down at once ---- */

/* Asks the drive whether it sleeps, and nothing else. */
int standby_read(Device *d, const Setting *s, Reading *ret);

/* A drive reports only whether it is in standby, so "resume" is compared as "on". */
int standby_localize(Device *d, const Setting *s, Value *v);

/* END_DEFERRED: the drive is at something that this would end, and the command was not sent. */
int standby_write(Device *d, const Setting *s, const Value *v);

/* Has the drive spin up, and waits until it has, whether or not it sleeps. It is asked before and after that (power_probe()); one that
 * does not say, or that the kernel has suspended, is left as it is. */
int power_spin_up(Device *d, Backend by);
