/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Questions to systemd's manager: which file system checks are queued or running, and on what. Asynchronous, one question
 * at a time. */

#include <systemd/sd-bus.h>

#include "broker.h"
#include "inventory.h"

typedef struct Pid1 Pid1;

typedef struct FsckUnit {
        Pid1 *pid1;    /* that was asked; for pid1.c alone */
        char *name;    /* systemd-fsck@….service */
        char *sysname; /* kernel name of what it checks; NULL: its device is not there yet */
        char **disks;  /* the disks below that, which may be more than was known of when PID 1 was asked */
        bool root;     /* checks the root file system; both are NULL */
} FsckUnit;

typedef struct FsckStatus {
        GROWING_ARRAY(FsckUnit, units); /* queued or running */
        char **inactive;                /* of the device units asked for, those that are not active; NULL-terminated */
} FsckStatus;

/* `error` < 0: PID 1 cannot be asked at present, and *status is empty. */
typedef void (*FsckStatusFn)(void *userdata, int error, const FsckStatus *status);

/* The answer may be another one now: a job for a check was queued or ended; or one for a device ended, and checks that wait for it may
 * start; or the connection broke. That is told from the first question on: nothing goes unheard between a question and the next. */
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

/* `device_units` (NULL-terminated, may be NULL) are looked at too. `answered` is called later, once, and asks nothing anew itself; never
 * from in here, nor after an error. No other question may be open. */
int pid1_ask_fsck_status(Pid1 *p, char *const *device_units);

/* Closes the connection; the next question opens another. */
void pid1_disconnect(Pid1 *p);

/* "/dev/sda1" → "dev-sda1.device"; systemd.unit(5), "String escaping for inclusion in unit names". */
int device_unit_name(const char *node, char **ret);

/* ---- devices ---- */

/* What is known of a disk and of all that lies on it, for a question to PID 1: what udev said of each device when PID 1 was asked,
 * and what PID 1 answered. */

typedef struct FsckDevice {
        char *name;
        char *unit; /* its device unit; NULL: PID 1 makes none of it */
        Readiness ready;
        bool held; /* a container: something lies on it, and is one of these devices */
        bool gone; /* there is no such device any more */
} FsckDevice;

typedef struct FsckDevices {
        GROWING_ARRAY(FsckDevice, items); /* the disk itself is the first */
} FsckDevices;

/* `known`: of the disk itself, which udev need not be asked for then; enough to see whether it is settled. NULL: udev is asked. */
int fsck_devices_read(FsckDevices *d, const char *disk, const Readiness *known);
void fsck_devices_done(FsckDevices *d);

/* Are all of them known to udev and PID 1? Jobs for checks come only then. */
bool fsck_devices_settled(const FsckDevices *d, const FsckStatus *s);

/* Does this check lie on one of them, or may it, for all that is known? */
bool fsck_devices_covered(const FsckDevices *d, const FsckStatus *s, const FsckUnit *u);
