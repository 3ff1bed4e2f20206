/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One function for each kind of rival; rivals.c is the table of them. */

#include "claim.h"

int rival_udisks(const Rivals *r);
int rival_hdparm(const Rivals *r);
int rival_tlp(const Rivals *r);
int rival_tuned(const Rivals *r);
int rival_laptop_mode(const Rivals *r);
int rival_smartd(const Rivals *r);
int rival_hd_idle(const Rivals *r);
int rival_sysfs(const Rivals *r);
int rival_udev_rules(const Rivals *r);
int rival_units(const Rivals *r);
int rival_hooks(const Rivals *r);
int rival_cron(const Rivals *r);
