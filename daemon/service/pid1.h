/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Queries systemd's manager for the file system checks that are queued or running, and for the devices that are checked. Queries are
 * asynchronous; at most one query is under way. */

#include <systemd/sd-bus.h>

#include "broker.h"
#include "inventory.h"

typedef struct Pid1 Pid1;

typedef struct FsckUnit {
        Pid1 *pid1;    /* used only by pid1.c */
        char *name;    /* the unit's name, "systemd-fsck@….service" */
        char *sysname; /* kernel name of the checked device; NULL: the device does not exist yet */
        char **disks;  /* the disks below the device, read when PID 1 replied */
        bool root;     /* the check of the root file system; `sysname` and `disks` are NULL */
} FsckUnit;

typedef struct FsckStatus {
        GROWING_ARRAY(FsckUnit, units); /* the checks that are queued or running */
        char **inactive;                /* the queried device units that are not active; NULL-terminated */
} FsckStatus;

/* Receives the reply to a query. `error` < 0: PID 1 is currently not reachable, and *status is empty. */
typedef void (*FsckStatusFn)(void *userdata, int error, const FsckStatus *status);

/* Reports that the FsckStatus may have changed: a job for a file system check was queued or ended, a job for a device ended (the checks of
 * this device may start now), or the connection broke. Called from the first query on, so that no change between two queries is missed. */
typedef void (*Pid1NewsFn)(void *userdata);

/* Functions that open the connection to PID 1 over the system bus, or, without a bus, through the proxy. */
typedef struct Pid1Ways {
        int (*open_bus)(sd_bus **ret);
        int (*open_proxy)(Broker *broker, sd_bus **ret);
} Pid1Ways;
extern const Pid1Ways pid1_ways;

int pid1_new(sd_event *event, Broker *broker, const Pid1Ways *ways, FsckStatusFn answered, Pid1NewsFn news,
             void *userdata, Pid1 **ret);
Pid1 *pid1_free(Pid1 *p);
DEFINE_CLEANUP(Pid1 *, pid1_free);

/* Queries the checks and the states of `device_units` (NULL-terminated; NULL if there are none). At most one query may be under way. After
 * success, the event loop calls `answered` once with the reply; `answered` must not start another query. */
int pid1_query_fsck_status(Pid1 *p, char *const *device_units);

/* Closes the connection. The next query opens another connection. */
void pid1_disconnect(Pid1 *p);

/* Formats the name of a node's device unit: "/dev/sda1" → "dev-sda1.device" (systemd.unit(5), "String escaping for inclusion in unit
 * names"). */
int device_unit_name(const char *node, char **ret);

/* ---- devices ---- */

/* A device in a query of PID 1, with its state at the time of the query: the disk itself, or a device stacked on the disk. */
typedef struct FsckDevice {
        char *name;
        char *unit; /* the device unit; NULL if the device has no unit */
        Readiness ready;
        bool has_holders; /* the device is a container (LUKS, LVM, RAID), and its content is also in FsckDevices.items */
        bool gone;        /* the device no longer exists */
} FsckDevice;

typedef struct FsckDevices {
        GROWING_ARRAY(FsckDevice, items); /* the disk, followed by the devices stacked on the disk */
} FsckDevices;

/* Reads the disk and the devices stacked on the disk. `known`: the disk's own state; if NULL, the state is read from udev. */
int fsck_devices_read(FsckDevices *d, const char *disk, const Readiness *known);
void fsck_devices_done(FsckDevices *d);

/* Returns true if udev and PID 1 know all devices. Until then, PID 1 may still queue jobs for checks. */
bool fsck_devices_settled(const FsckDevices *d, const FsckStatus *s);

/* Returns true if this check is, or may be, on one of the devices. */
bool fsck_devices_covered(const FsckDevices *d, const FsckStatus *s, const FsckUnit *u);
