/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Power saving on the SATA link: a policy of the drive's port. On a port that is meant for plugging, the kernel may not see
 * a drive come any more while the link sleeps. */

#include "device.h"

#define LINK_HOST "device/../../scsi_host/*/"
extern const ValueWord link_power_words[];

int link_power_read(Device *d, const Setting *s, Reading *ret);
int link_power_write(Device *d, const Setting *s, const Value *v);
