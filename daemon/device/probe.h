/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a drive supports and has at present, row by row. Changes nothing and wakes nothing. */

#include "device.h"

typedef struct Probed {
        const Setting *setting;
        Reading reading;
        const char *reason; /* why more is not known, as a sentence's end; NULL: all is said */
} Probed;

typedef void (*ProbeFn)(void *userdata, const Probed *s);

/* Why something is not known that root could ask for. */
#define PROBE_NEEDS_ROOT "needs root"

/* Calls `each` for every row of these backends (a mask of 1 << Backend, such as drive_backends()), in the order of the table;
 * aliases, rows that are never written, and deeds are left out. What the device holds afterwards, such as its power mode and
 * IDENTIFY data, is of use, too. */
void probe(Device *d, unsigned backends, const SettingTable *t, ProbeFn each, void *userdata);

/* Did this error come of not being root, or would it? */
bool probe_needs_root(int error);
