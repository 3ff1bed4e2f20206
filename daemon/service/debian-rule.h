/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Debian's hdparm has a udev rule, 85-hdparm.rules, whose script writes to all disks when one is attached. Where that rule is, all
 * disks that the script writes to are checked soon after. */

#include "manager.h"

typedef struct DebianRule {
        sd_event *event; /* borrowed, as is … */
        Manager *manager;
        sd_event_source *timer; /* NULL: it was never started */
} DebianRule;

/* A disk was attached, and udev has run its rules. */
void debian_rule_attached(DebianRule *d, const char *name);
void debian_rule_done(DebianRule *d);
