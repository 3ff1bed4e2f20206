/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Queries the power mode of a drive, and spins the drive down or up. */

#include "device.h"

/* Reads the power mode into d->power, once per visit: by CHECK POWER MODE (ATA), or by REQUEST SENSE for BACKEND_SCSI_MODE. Neither
 * command spins a drive up. Optical and runtime-suspended drives get no command. A drive without a usable answer counts as active only
 * after recent I/O (d->active) or if it does not rotate. Returns END_… or an errno, with a reason, if the query failed. */
int power_probe(Device *d, Backend by);

/* Returns the backend that queries the drive's power mode. `backends`: the drive's backends, a mask of 1 << Backend. */
static inline Backend power_backend(unsigned backends) {
        return backends & 1U << BACKEND_ATA ? BACKEND_ATA : BACKEND_SCSI_MODE;
}

/* Returns the name of the power mode (power_mode_to_string()), or NULL if the drive is only assumed to be active. */
const char *power_state(const Device *d);

/* ---- functions of the rows for the setting `keep_active` ---- */

/* Reports the planned value as the current value if keep_active_write() succeeded in this visit, or if the planned value is "off". */
int keep_active_read(Device *d, const Setting *s, Reading *ret);

/* Verifies one sector, at an address that differs from call to call. */
int keep_active_write(Device *d, const Setting *s, const Value *v);

/* ---- immediate spin-down: functions of the rows for the setting `standby` ---- */

/* Reads whether the drive is in standby, by querying only its power mode. */
int standby_read(Device *d, const Setting *s, Reading *ret);

/* Replaces a wanted "resume" by "on", because the drive reports only whether it is in standby. */
int standby_localize(Device *d, const Setting *s, Value *v);

/* Spins the drive down. END_DEFERRED: no spin-down command was sent, because the drive is busy with an operation that a spin-down would
 * abort. */
int standby_write(Device *d, const Setting *s, const Value *v);

/* Spins the drive up, and waits for the end of the spin-up. Calls power_probe() before and after. Sends no spin-up command to
 * runtime-suspended drives and to drives that do not report their power mode. */
int power_spin_up(Device *d, Backend by);
