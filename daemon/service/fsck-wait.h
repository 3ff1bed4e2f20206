/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The wait for file system checks. Asks PID 1 which systemd-fsck units are queued or running, and which drives are below them, by the system
 * bus or by the proxy (proxy.h) while there is no bus. From then on PID 1 signals new checks, which withdraw the permission to send commands to
 * their drives. */

#include <systemd/sd-event.h>

#include "broker.h"
#include "drive.h"
#include "visit-reason.h"

typedef struct FsckWait FsckWait;
typedef struct FsckTicket FsckTicket;

/* WAIT_NOTHING: commands to the drive are permitted until the ticket is freed or the next call. Otherwise what the drive waits for. Called at
 * each change, never from within fsck_wait_request(). May free this ticket, and no other. */
typedef void (*FsckWaitFn)(void *userdata, Wait w);

int fsck_wait_new(sd_event *event, Broker *broker, FsckWait **ret);
FsckWait *fsck_wait_free(FsckWait *g);
DEFINE_CLEANUP(FsckWait *, fsck_wait_free);

/* Asks for permission to send commands to the drive, which comes once udev and PID 1 know all its partitions and the devices above them. The
 * caller frees the ticket after its last command, or when it no longer needs the permission. */
int fsck_wait_request(FsckWait *g, const Drive *drive, FsckWaitFn fn, void *userdata, FsckTicket **ret);
FsckTicket *fsck_ticket_free(FsckTicket *t);

/* What the last call of FsckWaitFn reported. */
Wait fsck_ticket_waits(const FsckTicket *t);

/* A block device changed: asks again for the tickets that wait. */
void fsck_wait_poke(FsckWait *g);
