/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whoever reads a drive beside the service (`drivekeep plan`, `drivekeep show`) does so with its leave. As a worker does, a reader
 * asks before every command. The answer comes when no worker is at the drive and PID 1 says that no check is, and from then on no
 * visit to that drive begins: until the connection is closed over which it was asked, or nothing was asked for a minute. */

#include <systemd/sd-bus.h>

#include "manager.h"

typedef struct Reader Reader;

typedef struct Readers {
        sd_event *event; /* borrowed */
        Manager *manager;
        Reader *items;
} Readers;

/* MayRead(s name), for a vtable: `userdata` is a Readers. */
int readers_method(sd_bus_message *m, void *userdata, sd_bus_error *error);

/* This connection is closed (NULL: all are). */
void readers_forget(Readers *r, const sd_bus *bus);

/* A visit is over, or the drive is gone. */
void readers_drive_rested(Readers *r, const Target *t);

/* Is somebody else reading it? */
bool readers_read(const Readers *r, const Target *t);
