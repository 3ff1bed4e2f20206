/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "device.h"
#include "drive-record.h"

/* Begins with what the service knows of the drive (NULL: nothing), which has to outlive it. The caller ends it with device_done(). */
void device_init_known(Device *d, const Drive *drive, const DriveRecord *record, const DeviceIO *io);
