/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A visit of the command's: it reads the drive and writes nothing. */

#include "drive-record.h"
#include "visit.h"

/* By what the service knows of the drive (NULL: nothing), and by whether the drive is in use now. All of it has to outlive the visit. */
Visit dry_visit(const Drive *d, const DriveRecord *record, const Wishes *wishes, const DeviceIO *io);
