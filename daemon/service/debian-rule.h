/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Debian's hdparm package installs a udev rule, 85-hdparm.rules. The rule's script writes to all disks whenever one disk is attached. While
 * the rule is installed, the service therefore checks all disks soon after one was attached. */

#include "manager.h"

typedef struct DebianRule {
        sd_event *event;        /* borrowed */
        Manager *manager;       /* borrowed */
        sd_event_source *timer; /* delays the check; NULL: never started */
} DebianRule;

/* Called when a disk was attached and udev has run its rules for the disk. Schedules the check. */
void debian_rule_attached(DebianRule *d, const char *name);
void debian_rule_done(DebianRule *d);
