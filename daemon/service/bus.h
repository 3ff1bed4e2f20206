/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The D-Bus interface org.drivekeep1.Manager of the object /org/drivekeep1. On the system bus, every user may read properties and list
 * drives; all other methods are for root. A private socket offers the same object to root and works without a bus.
 *
 *   Apply(as names) → as visited      visits the named drives (all if empty), and replies after the visits
 *   ApplyPermanent(as names) → as visited
 *                                     like Apply(), and also writes settings that drives store permanently
 *   GetReadPermission(s name)         replies when the caller may send read commands to the drive (readers.h)
 *   Read(as names) → as visited       checks the named drives (all if empty) for drift; writes nothing, and wakes no drive
 *   Release(s name, s setting) → u    ends the quarantine of a setting ("": all), visits the drive, returns the number of released values
 *   Reload()                          reloads the files, and replies after the reload, or with the first error in the files
 *   ReloadAndVisit() → as visited     like Reload(), and replies after the visits that the reload causes and the visits under way
 *   SpinDown(as names) → as visited   puts the named drives (at least one) into standby, and replies after the visits
 *   SetTemporary(s name, s setting, s value, s before)
 *                                     sets a value until the caller disconnects; `before`: the drive's value before the first change
 *   EndTemporary(s name)              ends the temporary values of this caller
 *   Try(s name, as values, b allow_dangerous, b wake)
 *                                     sets values until the next boot; `values`: setting, value, previous value, setting, ...
 *   Undo(s name, s setting) → as visited
 *                                     ends a value of Try ("": all values), and replies after the visits
 *   Settle()                          processes pending udev events at once, instead of collecting them for a moment
 *   ListDrives() → a(sss)             returns kernel name, state and identity of each drive, as far as known
 *   Version s                         the version of the service */

#include <systemd/sd-bus.h>

#include "monitor.h"
#include "sleep.h"

/* The priority of the system bus. Events of workers, udev and the private socket come first, since any user can fill
 * the bus connection's queue with calls. */
#define BUS_PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

#define BUS_ADDRESS "unix:path=/run/dbus/system_bus_socket"
#define BUS_PRIVATE_SOCKET "/run/drivekeep/drives/.private"

typedef struct Bus Bus;

/* Reloads the configuration files. Returns 0 or a negative errno. With -EINVAL, *ret_sentence is the first error in the
 * files, as a sentence for the caller of the D-Bus method; bus.c frees the sentence. */
typedef int (*BusReloadFn)(void *userdata, char **ret_sentence);

/* Listens on the private socket `path`. Most methods process the pending events of `monitor` first, so that they find a
 * drive that was attached a moment ago. */
int bus_new(sd_event *event, const char *path, Manager *manager, Monitor *monitor, BusReloadFn reload, void *userdata,
            Bus **ret);
Bus *bus_free(Bus *b);

/* Connects to the system bus when the bus appears, and again after each disconnect, without blocking. The caller owns
 * `address`. Calls sleep_bus_connected() for each new connection, and sleep_bus_lost() when a connection is lost. */
void bus_connect(Bus *b, const char *address, Sleep *sleep);

/* Adds the object /org/drivekeep1 to this connection, and requests the service's bus name. Exported for tests. */
void bus_offer(Bus *b, sd_bus *bus);

/* Replies to callers whose visits have ended. Must be called after each visit that finished or was deferred. */
void bus_visit_finished(Bus *b);
