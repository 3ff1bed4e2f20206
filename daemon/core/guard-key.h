/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* By what the crash guard knows a drive over boots, as a file name. All return -ENOMEM, or 0. */

#include "drive.h"

int guard_key(const Drive *d, char **ret);

/* What tells it from other drives with this key: where it is plugged in, as udev says (ID_PATH). Of a kind that can have more than
 * one port it is all that it says of itself, which two paths to one drive have in common, and two drives have not. More than one
 * have SAS, Fibre Channel, iSCSI and NVMe; never SATA, also behind SAS, nor USB. */
int guard_place(const Drive *d, char **ret);
