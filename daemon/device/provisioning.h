/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Selects the command by which the kernel discards blocks of a SCSI disk (TRIM), and limits its size. A drive that does not have the
 * command may lose data. No function here sends a command: the kernel has read the drive's abilities when it found the drive. */

#include "device.h"

/* Functions of the setting provisioning_mode. A command is permitted only if the drive reports that it has the command, or if the user
 * permits dangerous values. */
int provisioning_permit(Device *d, const Setting *s, const Value *v);
int provisioning_write(Device *d, const Setting *s, const Value *v);

/* Functions of the setting discard_max_bytes. The setting is supported if the kernel sends discards to the drive, or if the
 * same visit is about to write provisioning_mode. */
int discard_read(Device *d, const Setting *s, Reading *ret);
int discard_permit(Device *d, const Setting *s, const Value *v);
