/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Tracks which connection owns a well-known name on the message bus, to verify the senders of signals. Any user can send the service a
 * forged signal of PID 1: the bus delivers every signal addressed to a connection, and sd-bus does not compare the sender with a well-known
 * name in a match rule. The sender of a signal must therefore equal the owner that the bus reports. */

#include <systemd/sd-bus.h>

#include "macro.h"

/* Called when another connection owns the name, or when the name has no owner any longer. */
typedef void (*NameOwnerFn)(void *userdata);

typedef struct NameOwner {
        char *unique; /* the owner's unique name, such as ":1.7"; NULL: no owner, or the bus has not replied yet */
        NameOwnerFn changed;
        void *userdata;
} NameOwner;

/* Queries the owner of `name`, such as "org.freedesktop.systemd1", and tracks changes while `bus` is open. The bus replies in order, so the
 * owner is known before the reply to any later call arrives. `o` must outlive the connection. */
int name_owner_follow(NameOwner *o, sd_bus *bus, const char *name, NameOwnerFn changed, void *userdata);

/* Forgets the owner. Must be called when the connection is closed. */
void name_owner_forget(NameOwner *o);

bool name_owner_sent(const NameOwner *o, sd_bus_message *m);
