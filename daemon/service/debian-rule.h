/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Debian's hdparm package installs a udev rule, 85-hdparm.rules. Its script writes to all disks whenever one is attached. If the rule is
 * installed, all these disks are checked soon after a disk was attached. */

#include "manager.h"

typedef struct DebianRule {
        sd_event *event;        /* borrowed */
        Manager *manager;       /* borrowed */
        sd_event_source *timer; /* NULL: never started */
} DebianRule;

/* A disk was attached, and udev has run its rules for it. */
void debian_rule_attached(DebianRule *d, const char *name);
void debian_rule_done(DebianRule *d);
