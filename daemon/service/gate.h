/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The wait for file system checks. Asks PID 1 which systemd-fsck units are queued or running, and which drives lie below
 * them; by the system bus, or through the asker (asker.h) while there is no bus. From then on PID 1 tells of new checks, and
 * whoever has leave to send commands to the drive loses it. Nothing goes by the clock. */

#include <systemd/sd-event.h>

#include "wait.h"

typedef struct Gate Gate;
typedef struct GateTicket GateTicket;

/* WAIT_NOTHING: there is leave to send commands to the drive, until the ticket is freed or this is called once more. Otherwise what
 * the drive waits for now; called again when that changes. Never called from within gate_ask(). */
typedef void (*GateFn)(void *userdata, Wait w);

int gate_new(sd_event *event, Gate **ret);
Gate *gate_free(Gate *g);
DEFINE_CLEANUP(Gate *, gate_free);

/* May commands go to this disk (kernel name)? `settled`: first wait also until udev and PID 1 know all its partitions and what lies
 * on them. The caller frees the ticket when no more commands are sent, or to withdraw the question. */
int gate_ask(Gate *g, const char *disk, bool settled, GateFn fn, void *userdata, GateTicket **ret);
GateTicket *gate_ticket_free(GateTicket *t);

/* Something about block devices changed: those that wait may get another answer. */
void gate_poke(Gate *g);
