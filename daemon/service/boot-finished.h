/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Does the machine still boot? PID 1 says so: it notes when its first queue of jobs was empty, FinishTimestampMonotonic in
 * org.freedesktop.systemd1(5). */

#include <systemd/sd-bus.h>

#include "macro.h"

/* All zero: there is no bus, and nobody knows. */
typedef struct Boot {
        sd_bus *bus;
        sd_bus_slot *question;
        bool over;
} Boot;

/* The system bus has come, and PID 1 is asked; or it went, as it does at the end. */
void boot_bus_connected(Boot *b, sd_bus *bus);
void boot_bus_lost(Boot *b);

/* What PID 1 said last; if that was no, it is asked anew, and that is not waited for. A machine of which nobody knows, as there is
 * no bus, boots. */
bool boot_is_over(Boot *b);
