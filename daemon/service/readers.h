/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Permission for other programs (`drivekeep plan`, `drivekeep show`) to read a drive. Like a worker, a reader requests
 * the permission before every command. The reader gets the permission when the drive has no worker, and PID 1 reports
 * no file system check. From then on no visit to the drive begins until the reader disconnects or sends no request for
 * a minute. The permission also ends when the drive is unplugged or gets another medium. */

#include <systemd/sd-bus.h>

#include "target.h"

/* Handles GetReadPermission() on a private connection: replies to `m` when the caller may send a read command to the drive. The return
 * value is that of an sd-bus method handler. */
int readers_request(Target *t, sd_bus_message *m);

extern const TargetPart readers_part;

/* Returns true if a reader has the permission or waits for it. While such a reader exists, no visit of the drive gets a worker. */
bool readers_any(const Target *t);

/* Called when a visit ended: readers that wait may get the permission. */
void readers_resume(Target *t);

/* Removes the reader on the connection `bus`. If `bus` is NULL, removes all readers, for example after the drive was unplugged. Readers
 * that wait get an error. */
void readers_remove(Target *t, const sd_bus *bus);
