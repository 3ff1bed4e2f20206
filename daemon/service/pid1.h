/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Questions to systemd's manager: which file system checks are queued or running, and on which devices. Asynchronous, one at a time. */

#include <systemd/sd-bus.h>

#include "broker.h"
#include "inventory.h"

typedef struct Pid1 Pid1;

typedef struct FsckUnit {
        Pid1 *pid1;    /* for pid1.c alone */
        char *name;    /* systemd-fsck@….service */
        char *sysname; /* kernel name of the checked device; NULL: it does not exist yet */
        char **disks;  /* the disks below it, which may be new since the question */
        bool root;     /* checks the root file system; both are NULL */
} FsckUnit;

typedef struct FsckStatus {
        GROWING_ARRAY(FsckUnit, units); /* queued or running */
        char **inactive;                /* the queried device units that are not active; NULL-terminated */
} FsckStatus;

/* `error` < 0: PID 1 cannot be asked at present, and *status is empty. */
typedef void (*FsckStatusFn)(void *userdata, int error, const FsckStatus *status);

/* The answer may have changed: a job for a check was queued or ended, a job for a device ended (so that its checks may start), or the
 * connection broke. Called from the first question on, so that no change between two questions is missed. */
typedef void (*Pid1NewsFn)(void *userdata);

/* How PID 1 is reached: by the system bus, else by the proxy. */
typedef struct Pid1Ways {
        int (*open_bus)(sd_bus **ret);
        int (*open_proxy)(Broker *broker, sd_bus **ret);
} Pid1Ways;
extern const Pid1Ways pid1_ways;

int pid1_new(sd_event *event, Broker *broker, const Pid1Ways *ways, FsckStatusFn answered, Pid1NewsFn news,
             void *userdata, Pid1 **ret);
Pid1 *pid1_free(Pid1 *p);
DEFINE_CLEANUP(Pid1 *, pid1_free);

/* Asks also for the states of `device_units` (NULL-terminated, or NULL). `answered` is called once, later, and not after an error; it must
 * not ask again itself. No other question may be open. */
int pid1_query_fsck_status(Pid1 *p, char *const *device_units);

/* Closes the connection; the next question opens another. */
void pid1_disconnect(Pid1 *p);

/* "/dev/sda1" → "dev-sda1.device"; systemd.unit(5), "String escaping for inclusion in unit names". */
int device_unit_name(const char *node, char **ret);

/* ---- devices ---- */

/* A disk and the devices above it, for one question to PID 1, with what udev knew of each at that time. */

typedef struct FsckDevice {
        char *name;
        char *unit; /* its device unit; NULL: it has none */
        Readiness ready;
        bool has_holders; /* a container whose content is among these devices */
        bool gone;        /* the device does not exist any more */
} FsckDevice;

typedef struct FsckDevices {
        GROWING_ARRAY(FsckDevice, items); /* the disk itself is the first */
} FsckDevices;

/* `known`: the disk's own state, enough for fsck_devices_settled(); NULL: reads it from udev. */
int fsck_devices_read(FsckDevices *d, const char *disk, const Readiness *known);
void fsck_devices_done(FsckDevices *d);

/* Do udev and PID 1 know all devices? Only then PID 1 queues jobs for checks. */
bool fsck_devices_settled(const FsckDevices *d, const FsckStatus *s);

/* Is this check on one of the devices, or may it be? */
bool fsck_devices_covered(const FsckDevices *d, const FsckStatus *s, const FsckUnit *u);
