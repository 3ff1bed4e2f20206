/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The permission to read drives. While the service runs, it is asked before every command, so that neither a visit nor a file
 * system check uses the drive at that time. Without the service, no file system check may be queued or running on any drive. */

#include <systemd/sd-bus.h>

#include "device.h"

typedef struct Leave {
        sd_bus *bus;        /* to the service; NULL: it does not run */
        DeviceIO io;        /* points here: not to be moved */
        sd_bus_error error; /* why the service has refused */
} Leave;

/* For all of these drives, which are kept free of visits until leave_done(). Returns EXIT_WANTED, another ExitStatus when that
 * cannot be (and it was said why), or a negative errno. */
int leave_get(Leave *l, const char *state_dir, Drive *const *drives, size_t n);
void leave_done(Leave *l);
