/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A visit that the command itself makes. The visit reads the drive and writes nothing. */

#include "drive-record.h"
#include "visit.h"

/* Prepares the visit from the service's record (NULL if there is none) and the kernel's I/O counters. The visit borrows all arguments. */
Visit dry_visit(const Drive *d, const DriveRecord *record, const Wishes *wishes, const DeviceIO *io);
