/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Does the machine still boot? PID 1 says so: it notes when its first queue of jobs was empty, FinishTimestampMonotonic in
 * org.freedesktop.systemd1(5). */

#include <systemd/sd-bus.h>

#include "macro.h"

typedef struct Boot Boot;

int boot_new(Boot **ret);
Boot *boot_free(Boot *b);
DEFINE_CLEANUP(Boot *, boot_free);

/* The system bus has come, and PID 1 is asked; or it went. */
void boot_bus_connected(Boot *b, sd_bus *bus);
void boot_bus_lost(Boot *b);

/* What PID 1 said last; if that was no, it is asked anew, and that is not waited for. A machine of which nobody knows, as there is
 * no bus, boots. */
bool boot_is_over(Boot *b);
