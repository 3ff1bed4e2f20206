/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* org.drivekeep1 on the system bus, object /org/drivekeep1, interface org.drivekeep1.Manager: anybody may read, only the
 * privileged may make it act. The same object for root on a socket of our own, which works without a bus too.
 *
 *   Apply(as names) → as visited      visits these drives (none: all), and answers when that is over
 *   ApplyPermanent(as names) → as visited
 *                                     the same, and also what drives keep themselves
 *   GetReadPermission(s name)                   answers when a command that reads may be sent to that drive (readers.h)
 *   Read(as names) → as visited       looks whether these drives (none: all) are as they were left, writes nothing, wakes none
 *   Release(s name, s setting) → u    takes a setting ("": all) out of quarantine, and visits; how many values that were
 *   Reload()                          reads the files anew; answers when that is done, or with what is wrong in them
 *   ReloadAndVisit() → as visited     the same; answers after the visits that follow and those under way
 *   SpinDown(as names) → as visited      puts these drives (at least one) into standby, and answers when that is over
 *   Settle()                         looks at once at what udev has told by now, which is gathered for a moment else
 *   ListDrives() → a(sss)             kernel name, state, identity, as far as is known
 *   Version s */

#include <systemd/sd-bus.h>

#include "monitor.h"
#include "sleep.h"

/* Anybody can fill its queue with questions: workers, udev and root at our own socket come first. */
#define BUS_PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

#define BUS_ADDRESS "unix:path=/run/dbus/system_bus_socket"
#define BUS_PRIVATE_SOCKET "/run/drivekeep/drives/.private"

typedef struct Bus Bus;

/* Reads the files anew: 0, or -EINVAL with a sentence for who asked, which is freed here. */
typedef int (*BusReloadFn)(void *userdata, char **ret_sentence);

/* `path`: of the socket. `monitor` is asked what udev told of a moment ago before drives are looked for. */
int bus_new(sd_event *event, const char *path, Manager *manager, Monitor *monitor, BusReloadFn reload, void *userdata,
            Bus **ret);
Bus *bus_free(Bus *b);

/* Connects to the system bus (`address` stays the caller's) when there is one, and again when that breaks; nobody waits for it. `sleep`
 * is told of a new connection, and when that is gone, with all its slots. */
void bus_connect(Bus *b, const char *address, Sleep *sleep);

/* Offers the object there. Exported for tests. */
void bus_offer(Bus *b, sd_bus *bus);

/* A drive's visit is over, or deferred; callers may be waiting for it. */
void bus_visit_finished(Bus *b);
