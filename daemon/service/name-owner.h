/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The connection that owns a well-known name on the message bus, such as PID 1's. Any user can send the service a signal that passes for
 * PID 1's: the bus delivers each signal that is addressed to a connection, and sd-bus does not check the sender against a well-known name
 * in a match rule. So a signal's sender must equal the owner that the bus itself reports. */

#include <systemd/sd-bus.h>

#include "macro.h"

/* Another connection owns the name now, or none does. */
typedef void (*NameOwnerFn)(void *userdata);

typedef struct NameOwner {
        char *unique; /* ":1.7"; NULL: nobody owns the name, or the bus has not answered yet */
        NameOwnerFn changed;
        void *userdata;
} NameOwner;

/* Asks the bus for the owner of `name`, such as "org.freedesktop.systemd1", and follows its changes while `bus` is open. The bus answers
 * before it passes on later messages, so that the owner is known before it answers a later question. `o` must outlive the connection. */
int name_owner_follow(NameOwner *o, sd_bus *bus, const char *name, NameOwnerFn changed, void *userdata);

/* The connection is closed: the owner is not known any more. */
void name_owner_forget(NameOwner *o);

bool name_owner_sent(const NameOwner *o, sd_bus_message *m);
