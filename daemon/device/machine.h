/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* State of the whole machine: power source, and whether the kernel command line forbids writes to drives. */

#include "macro.h"

#define POWER_SUPPLY_CLASSDIR "/sys/class/power_supply"

/* Returns 1 on battery: a battery of the machine is discharging and no other supply is online. Returns 0 otherwise. As in systemd's
 * ConditionACPower=, a machine without batteries or without information is not on battery. Batteries of peripherals do not count.
 * `classdir` is a parameter for tests; a missing directory means no batteries. */
int power_on_battery(const char *classdir);

/* The kernel command line. A user adds a word to this line to disable the service, for example if a setting makes the boot fail. */
#define KERNEL_LINE "/proc/cmdline"

/* Returns the word that forbids writes to drives in this boot: "drivekeep=0", or "nohdparm", which Debian's hdparm scripts obey. NULL:
 * no such word, or the kernel command line cannot be read. */
const char *kernel_command_line_forbids(const char *path);
