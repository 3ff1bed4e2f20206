/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reading drives: while the service runs, with its leave, which is asked for before every command, so that no visit is at the
 * drive and no file system check; without the service, when no check at all is queued or running. */

#include <systemd/sd-bus.h>

#include "device.h"

typedef struct Leave {
        sd_bus *bus;   /* to the service; NULL: it does not run */
        DeviceIO io;   /* points here: not to be moved */
        char why[256]; /* there is none now */
} Leave;

/* For all of these drives, which are kept free of visits until leave_done(). Returns EXIT_WANTED, another ExitStatus when that
 * cannot be (and it was said why), or a negative errno. */
int leave_get(Leave *l, const char *state_dir, Drive *const *drives, const bool *chosen, size_t n);
void leave_done(Leave *l);
