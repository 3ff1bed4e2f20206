/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Settings of the kernel's I/O schedulers, in files below queue/iosched. Only the scheduler in force has files there, and a change of the
 * scheduler resets all values (elevator_switch()). No two schedulers have a setting of the same name. */

#include "plan.h"
#include "settings.h"
#include "sysfs.h"

/* Setting.detail of a scheduler's setting. */
typedef struct Tunable {
        SysfsAttribute file; /* the first member, because the common functions use Setting.detail as a SysfsAttribute */
        const char *scheduler;
} Tunable;

static const Setting scheduler_in_force = { .range.type = VALUE_NAME, SYSFS_ROW(.path = "queue/scheduler") };

static int tunable_read(Device *d, const Setting *s, Reading *ret) {
        const Step *change = device_planned(d, "scheduler");
        const Tunable *t = s->detail;
        Reading now = {};
        int r;

        r = sysfs_setting_read(d, &scheduler_in_force, &now);
        if (r < 0)
                return r;
        if (streq(now.value.name, t->scheduler))
                return sysfs_setting_read(d, s, ret);

        /* A dry run does not write the scheduler, so the value cannot be read. */
        if (change && !change->written && !step_has_error(change) && streq(change->wanted.name, t->scheduler)) {
                *ret = (Reading){ .supported = true, .value.type = s->range.type };
                return 0;
        }

        return device_fail(d, END_UNSUPPORTED, "the setting belongs to the I/O scheduler %s, and %s is in force",
                           t->scheduler, now.value.name);
}

/* The kernel stores these times in ticks of at most 10 ms (CONFIG_HZ), rounded up. If the current time is the wanted time in ticks, the
 * function takes the current time as the wanted time. */
static int ticks_localize(Device *d, const Setting *s, Value *v) {
        const Tunable *t = s->detail;
        char text[32];
        int64_t now;

        if (sysfs_read(d, t->file.path, text, sizeof text) < 0)
                return 0;
        now = strtoll(text, NULL, 10);
        if (now > v->number && now - v->number < 10)
                v->number = now;
        return 0;
}

/* clang-format off */
/* TUNABLE: a setting in the file queue/iosched/`file_` of the scheduler `of`. The arguments after `what` are members of
 * SysfsAttribute. DEADLINE, BFQ and KYBER: settings whose file has the name of the setting. */
#define TUNABLE(of, key, file_, order_, brief_, what, from, ...) \
        .name = key, .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL | SETTING_SCHEDULER, .order = order_, .brief = brief_, \
        .lost_by = "re-add, change of scheduler", .summary = of ": " what, .equivalent = "/sys/block/*/queue/iosched/" file_, \
        .source = "Linux block/" from, .read = tunable_read, .permit = sysfs_setting_permit, .write = sysfs_setting_write, \
        .detail = &(const Tunable) { .file = { .path = "queue/iosched/" file_, __VA_ARGS__ }, .scheduler = of }
#define DEADLINE(key, order_, brief_, what) TUNABLE("mq-deadline", key, key, order_, brief_, what, "mq-deadline.c")
#define BFQ(key, order_, brief_, what, ...) TUNABLE("bfq", key, key, order_, brief_, what, "bfq-iosched.c", __VA_ARGS__)
#define KYBER(key, order_, brief_, what) TUNABLE("kyber", key, key, order_, brief_, what, "kyber-iosched.c")

#define RANGE_MS { .type = VALUE_DURATION, .min = 1, .max = INT32_MAX, .step = 1 }
#define RANGE_NUMBER(min_) { .type = VALUE_INT, .min = min_, .max = INT32_MAX }

/* The kernel accepts any number. This range is drivekeep's own. */
#define RANGE_NS { .type = VALUE_INT, .min = 1, .max = 60LL * 1000 * 1000 * 1000 }

static const ValueWord budget_words[] = { { "auto", 0 }, {} };

const Setting iosched_settings[] = {
        { DEADLINE("read_expire", 50, "time limit of waiting reads", "how long a read may wait before the scheduler prefers it"), .range = RANGE_MS, .localize = ticks_localize },
        { DEADLINE("write_expire", 51, "time limit of waiting writes", "how long a write may wait before the scheduler prefers it"), .range = RANGE_MS, .localize = ticks_localize },
        { DEADLINE("prio_aging_expire", 52, "time limit of low priority I/O", "how long a request of low priority may wait (Linux 5.19)"), .range = RANGE_MS, .localize = ticks_localize },
        { DEADLINE("fifo_batch", 53, "requests per batch", "requests in the order of their sectors before the scheduler checks time limits"), .range = RANGE_NUMBER(0) },
        { DEADLINE("writes_starved", 54, "batches of reads before writes", "batches of reads that may precede waiting writes"), .range = RANGE_NUMBER(0) },
        { DEADLINE("front_merges", 55, "merge to the front of requests", "whether a request may be merged to the front of another request"), .range = RANGE_BOOL },
        { BFQ("low_latency", 60, "prefer interactive programs", "whether the scheduler prefers interactive and soft real-time programs"), .range = RANGE_BOOL },
        /* Written before slice_idle: the value true raises slice_idle to 8 ms (bfq_strict_guarantees_store()). */
        { BFQ("strict_guarantees", 61, "exact shares, less throughput", "whether programs get their exact shares, at the cost of throughput"), .range = RANGE_BOOL },
        /* The files slice_idle and slice_idle_us hold the same value, in ms and in µs. */
        { TUNABLE("bfq", "slice_idle", "slice_idle_us", 62, "wait for the next read", "how long the drive is kept idle for the next read of the same program", "bfq-iosched.c"),
          .range = { .type = VALUE_MICROSECONDS, .min = 1, .max = INT32_MAX, .has_off = true } },
        { BFQ("timeout_sync", 63, "time slice of a program", "how long a program may use the drive before another program gets it"), .range = RANGE_MS, .localize = ticks_localize },
        { BFQ("max_budget", 64, "data per time slice", "how much a program may transfer before another program gets the drive", .scale = 512),
          .range = { .type = VALUE_SIZE, .min = 512, .max = INT32_MAX * 512LL, .unit = 512, .step = 512, .words = budget_words } },
        { BFQ("fifo_expire_sync", 65, "time limit of waiting reads", "how long a read or a synchronous write may wait before the scheduler prefers it"), .range = RANGE_MS },
        { BFQ("fifo_expire_async", 66, "time limit of waiting writes", "how long a buffered write may wait before the scheduler prefers it"), .range = RANGE_MS },
        { BFQ("back_seek_max", 67, "longest backward seek", "how far backward the scheduler seeks to the next request", .scale = 1024),
          .range = { .type = VALUE_SIZE, .max = INT32_MAX * 1024LL, .unit = 1024, .step = 1024 } },
        { BFQ("back_seek_penalty", 68, "cost of backward seeks", "how many times longer a backward seek counts than a forward seek"), .range = RANGE_NUMBER(1) },
        { KYBER("read_lat_nsec", 70, "target latency of reads, in ns", "latency that the scheduler aims at for reads, in ns"),
          .range = RANGE_NS },
        { KYBER("write_lat_nsec", 71, "target latency of writes, in ns", "latency that the scheduler aims at for writes, in ns"),
          .range = RANGE_NS },
        {},
};
/* clang-format on */
