/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What holds for the whole machine: what it runs on, and whether its drives may be written to in this boot. */

#include "macro.h"

#define POWER_SUPPLY_CLASSDIR "/sys/class/power_supply"

/* 1: on battery, that is, one of the machine's own discharges and nothing else feeds it. 0: not, or it has none, or
 * they do not say: the answer of systemd's ConditionACPower=. Batteries of mice and the like do not count. `classdir` is
 * a parameter for tests; none at all means no batteries. */
int power_on_battery(const char *classdir);

/* The kernel's command line: the way out for a machine that does not survive its own configuration. */
#define KERNEL_LINE "/proc/cmdline"

/* The word that says that nothing is to be written to drives in this boot: "drivekeep=0", or "nohdparm", which Debian's
 * scripts for hdparm obey. NULL: there is none, or the line cannot be read. */
const char *kernel_line_forbids(const char *path);
