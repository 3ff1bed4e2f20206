/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* By what the crash guard knows a drive over boots, as a file name. All return -ENOMEM, or 0. */

#include "drive.h"

int guard_key(const Drive *d, char **ret);

/* The same of one of several drives that say that they are the same, `key`: with the place where it is plugged in. The numbers that
 * the kernel gives out anew at each plug are no part of that. */
int guard_key_at_place(const char *key, const Drive *d, char **ret);

/* Can these two be two paths to one drive? All that they say of themselves is the same, and it is a kind that has more than one
 * port: SAS, Fibre Channel, iSCSI, NVMe; never SATA, also behind SAS, nor USB. */
bool guard_same_drive(const Drive *a, const Drive *b);
