/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the machine runs on. */

#define POWER_SUPPLY_CLASSDIR "/sys/class/power_supply"

/* 1: on battery, that is, one of the machine's own discharges and nothing else feeds it. 0: not, or it has none, or
 * they do not say: the answer of systemd's ConditionACPower=. Batteries of mice and the like do not count. `classdir` is
 * a parameter for tests; none at all means no batteries. */
int power_on_battery(const char *classdir);
