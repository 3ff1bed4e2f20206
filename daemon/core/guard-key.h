/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* By what the crash guard knows a drive over boots, as a file name. All return -ENOMEM, or 0. */

#include "drive.h"

int guard_key(const Drive *d, char **ret);

/* Where the drive is plugged in. The numbers that the kernel gives out anew at each plug are no part of that. */
int guard_place(const Drive *d, char **ret);

/* What two paths to one drive have in common, and two drives have not: all that they say of themselves. NULL: the drive is of a
 * kind that has one port. More than one have SAS, Fibre Channel, iSCSI and NVMe; never SATA, also behind SAS, nor USB. */
int guard_ports(const Drive *d, char **ret);
