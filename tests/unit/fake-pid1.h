/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Plays PID 1 and udev in tests of fsck-wait.c, which waits for file system checks. Replaces pid1.c. */

#include "fsck-wait.h"
#include "pid1.h"
#include "suite.h"

/* The next reply to a query, and the state of udev. */
static struct {
        int error;         /* < 0: the reply is this error, for example because PID 1 is not reachable */
        const char *other; /* unit that checks another disk, listed before `unit`; NULL: none */
        const char *unit;  /* unit of a queued or running check; NULL: none */
        bool root;         /* true if `unit` checks the root file system */
        bool covers;       /* true if `unit` checks the disk, or a device stored on the disk */
        bool settled;      /* true if udev and PID 1 know all devices stored on the disk */
} world;

static FsckStatusFn answer_fn, status_fn; /* status_fn is NULL if no query is open */
static void *status_userdata;
static Pid1NewsFn change_fn;
static void *change_userdata;
static bool checks;               /* true if the last reply listed checks */
static int query_error;           /* < 0: each query fails at once with this error */
static const char *out_of_memory; /* disk whose devices cannot be read (-ENOMEM); NULL: none */
static unsigned n_disconnected;
static bool pid1_is_there;
static char queried_units[256]; /* device units in the last query */

const Pid1Ways pid1_ways;

int pid1_new(_unused_ sd_event *event, _unused_ Broker *broker, _unused_ const Pid1Ways *ways, FsckStatusFn answered,
             Pid1NewsFn news, void *userdata, Pid1 **ret) {
        checks = false;
        answer_fn = answered;
        status_userdata = userdata;
        change_fn = news;
        change_userdata = userdata;
        pid1_is_there = true;
        *ret = (Pid1 *) &world;
        return 0;
}
Pid1 *pid1_free(Pid1 *p) {
        if (p)
                pid1_is_there = false;
        status_userdata = change_userdata = NULL;
        return NULL;
}
void pid1_disconnect(_unused_ Pid1 *p) {
        n_disconnected++;
}
int pid1_query_fsck_status(_unused_ Pid1 *p, char *const *device_units) {
        ck_assert_ptr_null(status_fn);
        queried_units[0] = '\0';
        for (char *const *u = device_units; u && *u; u++)
                (void) strcat(strcat(queried_units, *u), " ");
        if (query_error < 0)
                return query_error;
        status_fn = answer_fn;
        return 0;
}

/* Returns three devices: the disk, a container without a device unit, and a partition. */
int fsck_devices_read(FsckDevices *d, const char *disk, const Readiness *known) {
        static char *const units[] = { (char *) "disk.device", NULL, (char *) "part.device" };

        ck_assert(starts_with(disk, "sd"));
        ck_assert(!known == checks);
        if (out_of_memory && streq(disk, out_of_memory))
                return -ENOMEM;
        d->n_items = ELEMENTSOF(units);
        d->items = calloc(d->n_items, sizeof *d->items);
        ck_assert_ptr_nonnull(d->items);
        for (size_t i = 0; i < d->n_items; i++)
                d->items[i].unit = units[i];
        return 0;
}
void fsck_devices_done(FsckDevices *d) {
        free(d->items);
        *d = (FsckDevices){};
}
bool fsck_devices_settled(const FsckDevices *d, _unused_ const FsckStatus *s) {
        ck_assert_uint_gt(d->n_items, 0);
        return world.settled;
}
bool fsck_devices_covered(const FsckDevices *d, _unused_ const FsckStatus *s, const FsckUnit *u) {
        ck_assert_uint_gt(d->n_items, 0);
        return world.covers && !streq_ptr(u->name, world.other);
}

/* Returns true if a query is open after all pending events are handled. */
static inline bool has_query(sd_event *event) {
        while (!status_fn && sd_event_run(event, 5ULL * 1000) > 0)
                ;
        return status_fn;
}

/* Waits for a query, and replies to it. */
static inline void pid1_reply(sd_event *event) {
        FsckUnit units[] = {
                { .name = (char *) world.other, .sysname = (char *) "sdz1" },
                { .name = (char *) world.unit, .sysname = world.root ? NULL : (char *) "sda1", .root = world.root }
        };
        const FsckStatus s = { .units = units + !world.other, .n_units = !!world.other + !!world.unit }, none = {};
        bool come_up = !checks && s.n_units > 0 && world.error >= 0;
        FsckStatusFn fn;

        while (!status_fn)
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
        fn = TAKE_PTR(status_fn);
        checks = s.n_units > 0 && world.error >= 0;
        fn(status_userdata, world.error, world.error < 0 ? &none : &s);
        /* After the first reply with checks the service reads all devices again and sends a second query, which also gets a reply. */
        if (come_up && has_query(event))
                pid1_reply(event);
}
