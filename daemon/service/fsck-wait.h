/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Delays commands to drives while file system checks are queued or running. Queries PID 1 for systemd-fsck units and for the drives below
 * the checked file systems. The queries use the system bus or, without a bus, the proxy (proxy.h). PID 1 signals each new check, and the
 * signal withdraws the permission to send commands to the checked drives. */

#include <systemd/sd-event.h>

#include "broker.h"
#include "drive.h"
#include "visit-reason.h"

typedef struct FsckWait FsckWait;
typedef struct FsckTicket FsckTicket;

/* Reports whether commands to the drive are permitted. WAIT_NOTHING: commands are permitted until the next call, or until the ticket is
 * freed. Any other value: commands are forbidden, and the value says what the drive waits for. Called at each change, but never from
 * within fsck_wait_request(). The function may free this ticket, but no other ticket. */
typedef void (*FsckWaitFn)(void *userdata, Wait w);

int fsck_wait_new(sd_event *event, Broker *broker, FsckWait **ret);
FsckWait *fsck_wait_free(FsckWait *g);
DEFINE_CLEANUP(FsckWait *, fsck_wait_free);

/* Requests permission to send commands to the drive. Permission is granted once udev and PID 1 know all partitions and all devices stacked
 * on the drive, and no check is pending. The caller frees the ticket when the permission is no longer needed. */
int fsck_wait_request(FsckWait *g, const Drive *drive, FsckWaitFn fn, void *userdata, FsckTicket **ret);
FsckTicket *fsck_ticket_free(FsckTicket *t);

/* Returns what the last call of FsckWaitFn reported. */
Wait fsck_ticket_waits(const FsckTicket *t);

/* Queries PID 1 again for the tickets that wait. Must be called after a block device changed. */
void fsck_wait_poke(FsckWait *g);
