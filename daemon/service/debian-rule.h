/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Debian's hdparm package installs a udev rule, 85-hdparm.rules. Whenever a disk that the rule matches is attached, the rule's script
 * writes to all matching disks. While the rule is installed, the service therefore checks all these disks for changed settings, soon after
 * one of them was attached. */

#include "manager.h"

typedef struct DebianRule {
        sd_event *event;        /* borrowed */
        Manager *manager;       /* borrowed */
        sd_event_source *timer; /* delays the check of the disks; NULL: never started */
} DebianRule;

/* Called when a disk was attached and udev has run its rules for the disk. If Debian's rule matches the disk, schedules a check of all
 * disks that the rule matches. */
void debian_rule_attached(DebianRule *d, const char *name);
void debian_rule_done(DebianRule *d);
