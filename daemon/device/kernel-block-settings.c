/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include "cache.h"
#include "plan.h"
#include "settings.h"
#include "sysfs.h"

#define MAX_SECTORS_DEFAULT 0
#define WBT_DEFAULT (-1)

/* Old guides say "deadline" and "noop". The first is the one alias that Linux has (block/mq-deadline.c): it sets mq-deadline
 * and reads mq-deadline, but does not load its module. The second was a scheduler until Linux 5.0, which calls it none. */
static int scheduler_localize(Device *d _unused_, const Setting *s _unused_, Value *v) {
        if (streq(v->name, "deadline"))
                (void) strcpy(v->name, "mq-deadline");
        else if (streq(v->name, "noop"))
                (void) strcpy(v->name, "none");
        return 0;
}

/* The kernel reads ahead in whole pages and cuts off the rest (queue_ra_store()). No page is smaller than this; where they
 * are larger, reading back shows what became of the value. */
#define PAGE 4096

/* md and dm tell the size of a stripe as their optimal I/O size: chunk times data disks. A single disk's optimal I/O size is
 * something else, and that of some is nonsense. */
static int read_ahead_localize(Device *d, const Setting *s _unused_, Value *v) {
        int64_t least, stripe, bytes;

        if (v->type != VALUE_STRIPES)
                return 0;
        if (d->drive->transport != TRANSPORT_VIRTUAL)
                return device_fail(d, STEP_UNSUPPORTED, "it is no array, and has no stripes: give a size instead");

        if (sysfs_number(d, "queue/minimum_io_size", &least) < 0 ||
            sysfs_number(d, "queue/optimal_io_size", &stripe) < 0 || least <= 0 || stripe <= least ||
            stripe % least != 0)
                return device_fail(d, STEP_UNSUPPORTED, "the array has no stripes: give a size instead");
        if (__builtin_mul_overflow(stripe, v->number, &bytes))
                return device_fail(d, STEP_REFUSED, "that many stripes are more than the kernel can read ahead");

        *v = (Value){ .type = VALUE_SIZE, .number = bytes };
        return 0;
}

/* The number that the kernel will choose for "default". */
static void make_default(Value *v, int64_t number) {
        v->number = number;
        (void) strcpy(v->name, "default");
}

/* What blk_validate_limits() makes of it: the hardware's limit, but no more than a cap, or the optimal I/O size where that
 * is greater. The cap was 1280 KiB for long and is 4 MiB in newer kernels: either is taken for the default where it is in
 * force. */
static int max_sectors_localize(Device *d, const Setting *s _unused_, Value *v) {
        static const int64_t caps[] = { 4096, 1280 };
        int64_t hardware, now, optimal = 0, limit = 0;
        int r;

        if (v->number != MAX_SECTORS_DEFAULT)
                return 0;

        r = sysfs_number(d, "queue/max_hw_sectors_kb", &hardware);
        if (r >= 0)
                r = sysfs_number(d, "queue/max_sectors_kb", &now);
        if (r < 0)
                return r;
        (void) sysfs_number(d, "queue/optimal_io_size", &optimal);

        for (size_t i = 0; i < ELEMENTSOF(caps) && limit != now; i++)
                limit = MIN(hardware, MAX(caps[i], optimal / 1024));
        make_default(v, limit * 1024);
        return 0;
}

/* wbt_default_latency_nsec(). */
static int wbt_localize(Device *d, const Setting *s _unused_, Value *v) {
        int64_t rotational;
        int r;

        if (v->number != WBT_DEFAULT)
                return 0;
        r = sysfs_number(d, "queue/rotational", &rotational);
        if (r < 0)
                return r;

        make_default(v, rotational ? 75000 : 2000);
        return 0;
}

/* clang-format off */
/* A file of the queue's that has the setting's name; `from` is the kernel's file that tells of it. */
#define QUEUE_FROM(from, key, ...) \
        .name = key, .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .equivalent = "/sys/block/*/queue/" key, \
        .source = "Linux " from, SYSFS_ROW(.path = "queue/" key, __VA_ARGS__)
#define QUEUE(key, ...) QUEUE_FROM("block/blk-sysfs.c", key, __VA_ARGS__)
#define SWITCH(key, order_, lost, what) \
        { \
                QUEUE(key), .range = RANGE_BOOL, .order = order_, .lost_by = lost, .summary = what \
        }
#define CHOICE(key, order_, what) \
        { \
                QUEUE(key, .requests = true), .range = { .type = VALUE_INT, .max = 2 }, .order = order_, .lost_by = "re-add", \
                .summary = what \
        }

static const ValueWord max_sectors_words[] = { { "default", MAX_SECTORS_DEFAULT }, {} };
static const ValueWord wbt_words[] = { { "default", WBT_DEFAULT }, {} };

const Setting kernel_block_settings[] = {
        {
                QUEUE_FROM("block/elevator.c", "scheduler", .choices = true),
                .range = { .type = VALUE_NAME },
                .order = 10, /* changing it resets nr_requests and wbt_lat_usec (elevator_switch()) */
                .summary = "I/O scheduler of the kernel's request queue; deadline is mq-deadline, noop is none",
                .lost_by = "re-add",
                .localize = scheduler_localize,
        },
        {
                QUEUE_FROM("block/blk-sysfs.c, block/blk-mq.c", "nr_requests", .requests = true),
                .range = { .type = VALUE_INT, .min = 4, .max = 65536 },
                .order = 35, /* after scheduler and queue_depth, which both reset it */
                .summary = "requests that the kernel's queue holds, for each direction",
                .lost_by = "re-add, change of scheduler or queue_depth",
        },
        {
                QUEUE_FROM("block/blk-wbt.c", "wbt_lat_usec", .reset = "-1", .requests = true, .unset = true),
                .range = { .type = VALUE_MICROSECONDS, .min = 1, .max = 60 * 1000 * 1000, .unit = 1, .has_off = true, .off = 0, .words = wbt_words },
                .order = 40, /* after scheduler: bfq turns it off */
                .summary = "how late reads may be before the kernel throttles buffered writes",
                .lost_by = "re-add, change of scheduler",
                .localize = wbt_localize,
        },
        /* These and those after them commit queue limits, which may reset read_ahead_kb. */
        SWITCH("rotational", 800, "re-add, revalidation", "whether the kernel takes it for a disk that turns"),
        SWITCH("add_random", 801, "re-add, revalidation", "whether its timing feeds the kernel's random numbers"),
        SWITCH("iostats", 802, "re-add", "whether the kernel counts its reads and writes"),
        CHOICE("rq_affinity", 803, "which processor ends a request: 0 any, 1 the group of the one that asked, 2 that very one"),
        CHOICE("nomerges", 804, "merging of requests: 0 all, 1 only the simplest, 2 none"),
        {
                QUEUE("io_timeout", .requests = true),
                /* The range is our own: the kernel takes any number but 0. */
                .range = { .type = VALUE_DURATION, .min = 1000, .max = 3600 * 1000, .step = 1 },
                .order = 805,
                .summary = "how long the kernel waits for a request; of SCSI drives the same as timeout",
                .harm = &spin_up_harm,
                .lost_by = "re-add",
        },
        {
                QUEUE("discard_max_bytes", .support = "queue/discard_max_hw_bytes", .limit = "queue/discard_granularity"),
                .range = { .type = VALUE_SIZE, .min = 512, .max = 0xFFFFFFFFLL << 9, .unit = 1, .has_off = true, .off = 0 },
                .order = 806,
                .summary = "how much the kernel discards (TRIM, UNMAP) in one request",
                .lost_by = "re-add, revalidation",
        },
        {
                QUEUE_FROM("block/blk-sysfs.c, block/blk-settings.c", "max_sectors_kb", .scale = 1024, .limit = "queue/max_hw_sectors_kb", .reset = "0"),
                .range = { .type = VALUE_SIZE, .min = 4096, .max = 1LL << 41, .unit = 1024, .step = 1024, .words = max_sectors_words },
                .order = 810,
                .summary = "how much the kernel puts into one request",
                .lost_by = "re-add, revalidation",
                .localize = max_sectors_localize,
        },
        {
                .name = "queue_write_cache",
                .backend = BACKEND_BLOCK,
                .range = { .type = VALUE_NAME, .words = cache_words },
                .order = 820, /* after write_cache and cache_type, which tell the kernel anew */
                .summary = "what the kernel believes of the write cache: whether it sends flushes",
                .equivalent = "/sys/block/*/queue/write_cache",
                .lost_by = "re-add, revalidation",
                .danger = "this is the kernel's belief and not the drive's cache, and without flushes a power cut loses data",
                .source = "Linux block/blk-sysfs.c",
                SYSFS_ROW_BY(cache_belief_read, cache_belief_write, .path = "queue/write_cache",
                             .hint = "write_cache sets the drive's own"),
        },
        {
                .name = "read_ahead_kb",
                .backend = BACKEND_BLOCK,
                .range = { .type = VALUE_SIZE, .min = 0, .max = 1LL << 40, .unit = 1024, .step = PAGE, .stripes = true },
                .flags = SETTING_KERNEL,
                .order = 900, /* every later commit of queue limits may reset it: last */
                .summary = "how far the kernel reads ahead of a sequential reader",
                .equivalent = "hdparm -a, blockdev --setra",
                .lost_by = "re-add, revalidation",
                .source = "Linux block/blk-sysfs.c",
                .localize = read_ahead_localize,
                SYSFS_ROW(.path = "queue/read_ahead_kb", .scale = 1024),
        },
        {
                .name = "read_ahead_sect",
                .alias_of = "read_ahead_kb",
                .backend = BACKEND_BLOCK,
                .range = { .type = VALUE_SIZE, .min = 0, .max = 1LL << 40, .unit = 512, .step = PAGE },
                .flags = SETTING_KERNEL,
                .order = 900,
                .summary = "read_ahead_kb in sectors of 512 bytes, as hdparm.conf has it",
                .equivalent = "hdparm -a",
                .lost_by = "re-add, revalidation",
                .source = "hdparm.conf(5)",
        },
        {},
};
/* clang-format on */
