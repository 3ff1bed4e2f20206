/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "device.h"
#include "drive-record.h"

/* Initializes a device. If `record` is not NULL, copies from the record what the service knows about the drive. The record must
 * outlive the device. The caller frees the device with device_done(). */
void device_init_known(Device *d, const Drive *drive, const DriveRecord *record, const DeviceIO *io);
