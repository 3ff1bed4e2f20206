/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* PID 1 and udev as a test plays them for the wait for file system checks, in place of pid1.c and fsck-devices.c. */

#include "fsck-devices.h"
#include "fsck-wait.h"
#include "suite.h"

/* What they say next. */
static struct {
        int error;        /* PID 1 cannot be asked */
        const char *unit; /* queued or running; NULL: none is */
        bool root;        /* … it checks the root file system */
        bool covers;      /* … it lies on the disk */
        bool settled;     /* udev knows the disk's partitions */
} world;

static FsckStatusFn answer_fn, status_fn; /* status_fn: NULL: nothing is asked */
static void *status_userdata;
static Pid1NewsFn news_fn;
static void *news_userdata;
static bool checks;        /* there were some when PID 1 was asked last */
static int ask_error;      /* < 0: there is no asking */
static bool out_of_memory; /* what lies on the disk cannot be found out */
static unsigned n_disconnected;

const Pid1Ways pid1_ways;

int pid1_new(_unused_ sd_event *event, _unused_ Broker *broker, _unused_ const Pid1Ways *ways, FsckStatusFn answered,
             Pid1NewsFn news, void *userdata, Pid1 **ret) {
        checks = false;
        answer_fn = answered;
        status_userdata = userdata;
        news_fn = news;
        news_userdata = userdata;
        *ret = NULL;
        return 0;
}
Pid1 *pid1_free(_unused_ Pid1 *p) {
        return NULL;
}
void pid1_disconnect(_unused_ Pid1 *p) {
        n_disconnected++;
}
int pid1_ask_fsck_status(_unused_ Pid1 *p, _unused_ char *const *device_units) {
        ck_assert_ptr_null(status_fn);
        if (ask_error < 0)
                return ask_error;
        status_fn = answer_fn;
        return 0;
}

int fsck_devices_read(FsckDevices *d, const char *disk, const Readiness *known) {
        ck_assert(starts_with(disk, "sd"));
        ck_assert(!known == checks);
        d->n_items = out_of_memory ? 0 : 1;
        d->items = out_of_memory ? NULL : calloc(1, sizeof *d->items);
        return out_of_memory ? -ENOMEM : 0;
}
void fsck_devices_done(FsckDevices *d) {
        free(d->items);
        *d = (FsckDevices){};
}
bool fsck_devices_settled(_unused_ const FsckDevices *d, _unused_ const FsckStatus *s) {
        return world.settled;
}
bool fsck_devices_covered(_unused_ const FsckDevices *d, _unused_ const FsckStatus *s, _unused_ const FsckUnit *u) {
        ck_assert_uint_gt(d->n_items, 0);
        return world.covers;
}

/* Is PID 1 asked, now that everything has been heard? */
static inline bool is_asked(sd_event *event) {
        while (!status_fn && sd_event_run(event, 5ULL * 1000) > 0)
                ;
        return status_fn;
}

/* PID 1 answers, when it is asked. */
static inline void pid1_answers(sd_event *event) {
        bool come_up = !checks && world.unit && world.error >= 0;
        FsckUnit unit = { .name = (char *) world.unit,
                          .sysname = world.root ? NULL : (char *) "sda1",
                          .root = world.root };
        const FsckStatus s = { .units = &unit, .n_units = world.unit ? 1 : 0 }, none = {};
        FsckStatusFn fn;

        while (!status_fn)
                ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
        fn = TAKE_PTR(status_fn);
        checks = world.unit && world.error >= 0;
        fn(status_userdata, world.error, world.error < 0 ? &none : &s);
        /* Now that there are checks, all is looked at, and it is asked once more. */
        if (come_up && is_asked(event))
                pid1_answers(event);
}
