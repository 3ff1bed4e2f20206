/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Commands that set something of a drive (hdparm, smartctl, sdparm, nvme, blockdev; echo into /sys/block), wherever they
 * stand: in scripts, crontabs, units, udev rules, or alone. */

#include "import.h"

/* Adds a rule for each such command in the shell text. `line` is where the text begins. */
int commands_read(const char *text, size_t size, unsigned line, Import *import);

/* The same for commands that are run for the drives of `match`, whatever they call them. The rule's match is taken
 * from it; `offered`: it is not all that there is to be met. */
int commands_read_for(const char *text, size_t size, unsigned line, const Match *match, bool offered, Import *import);

/* The key and the value for an attribute below /sys/block/NAME ("queue/scheduler", "sdX/…" left out); NULL: none. The
 * caller frees *ret_value. */
int sysfs_setting(const char *attribute, const char *value, const char **ret_key, char **ret_value);
