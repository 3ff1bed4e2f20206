/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The wait for file system checks. Asks PID 1 which systemd-fsck units are queued or running, and which drives lie below
 * them; by the system bus, or through the proxy (proxy.h) while there is no bus. From then on PID 1 tells of new checks, and
 * whoever has leave to send commands to the drive loses it. Nothing goes by the clock. */

#include <systemd/sd-event.h>

#include "broker.h"
#include "drive.h"
#include "visit-reason.h"

typedef struct FsckWait FsckWait;
typedef struct FsckTicket FsckTicket;

/* WAIT_NOTHING: there is leave to send commands to the drive, until the ticket is freed or this is called once more. Otherwise what
 * the drive waits for now; called again when that changes. Never called from within fsck_wait_ask(). May free this ticket, and no other. */
typedef void (*FsckWaitFn)(void *userdata, Wait w);

int fsck_wait_new(sd_event *event, Broker *broker, FsckWait **ret);
FsckWait *fsck_wait_free(FsckWait *g);
DEFINE_CLEANUP(FsckWait *, fsck_wait_free);

/* May commands go to this drive? Not before udev and PID 1 know all its partitions and what lies on them. The caller frees the ticket when no more commands are sent, or to withdraw the question. */
int fsck_wait_ask(FsckWait *g, const Drive *drive, FsckWaitFn fn, void *userdata, FsckTicket **ret);
FsckTicket *fsck_ticket_free(FsckTicket *t);

/* What was told last. */
Wait fsck_ticket_waits(const FsckTicket *t);

/* Something about block devices changed: those that wait may get another answer. */
void fsck_wait_poke(FsckWait *g);
