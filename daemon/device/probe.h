/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads the supported settings and current values of a drive, one setting after another. Changes nothing and does not spin the drive up. */

#include "device.h"

typedef struct Probed {
        const Setting *setting;
        Reading reading;
        const char *reason; /* why the reading is incomplete, without a final period; NULL: complete */
} Probed;

typedef void (*ProbeFn)(void *userdata, const Probed *s);

/* Probed.reason of a value that only root can read. */
#define PROBE_NEEDS_ROOT "needs root"

/* Calls `each` for every setting of the given backends (a mask of 1 << Backend, such as drive_backends()), in table order. Skips aliases,
 * settings that are never written, and settings that spin a drive down when it is attached. Afterwards `d` also holds the drive's power
 * mode and IDENTIFY data. */
void probe(Device *d, unsigned backends, const SettingTable *t, ProbeFn each, void *userdata);

/* Returns true if the error is caused by missing root rights. */
bool probe_needs_root(int error);
