/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whoever reads a drive beside the service (`drivekeep plan`, `drivekeep show`) does so with its leave. As a worker does, a reader
 * asks before every command. The answer comes when no worker is at the drive and PID 1 says that no check is, and from then on no
 * visit to that drive begins: until the connection is closed over which it was asked, nothing was asked for a minute, or another
 * medium is in the drive. */

#include <systemd/sd-bus.h>

#include "target.h"

/* GetReadPermission(), of a connection that is the caller's own: answers `m` when a command that reads may be sent to the drive. Returns as a
 * method's handler does. */
int readers_request(Target *t, sd_bus_message *m);

extern const TargetPart readers_part;

/* Has one of them permission, or waits for it? Then no visit gets a worker. */
bool readers_any(const Target *t);

/* A visit is over. */
void readers_go_on(Target *t);

/* This connection is closed; NULL: the drive is gone, which those who wait are told. */
void readers_forget(Target *t, const sd_bus *bus);
