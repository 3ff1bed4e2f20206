/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cache.h"
#include "plan.h"
#include "settings.h"
#include "sysfs.h"

#define DEFAULT (-1) /* the kernel's own choice, by a word */

/* Old guides say "deadline" and "noop". The first is the one alias that Linux has (block/mq-deadline.c): it sets mq-deadline
 * and reads mq-deadline, but does not load its module. The second was a scheduler until Linux 5.0, which calls it none. */
static int scheduler_localize(Device *d _unused_, const Setting *s _unused_, Value *v) {
        if (streq(v->name, "deadline"))
                (void) strcpy(v->name, "mq-deadline");
        else if (streq(v->name, "noop"))
                (void) strcpy(v->name, "none");
        return 0;
}

static int read_ahead_localize(Device *d, const Setting *s _unused_, Value *v) {
        int64_t stripe, bytes;

        if (v->type != VALUE_STRIPES)
                return 0;
        stripe = sysfs_stripe(d->drive);
        if (stripe == 0)
                return device_fail(d, END_UNSUPPORTED,
                                   "it is no array, or one that has no stripes: give a size instead");
        if (__builtin_mul_overflow(stripe, v->number, &bytes))
                return device_fail(d, END_REFUSED, "that many stripes are more than the kernel can read ahead");

        *v = (Value){ .type = VALUE_SIZE, .number = bytes };
        return 0;
}

/* "default" is the number that blk_validate_limits() makes of it: the hardware's limit, but no more than a cap, or the optimal
 * I/O size where that is greater. The cap was 1280 KiB for long and is 4 MiB in newer kernels: either is taken for the default
 * where it is in force. */
static int max_sectors_localize(Device *d, const Setting *s _unused_, Value *v) {
        static const int64_t caps[] = { 4096, 1280 };
        int64_t hardware, now, optimal = 0, limit = 0;
        int r;

        if (v->number != DEFAULT)
                return 0;

        r = sysfs_number(d, "queue/max_hw_sectors_kb", &hardware);
        if (r >= 0)
                r = sysfs_number(d, "queue/max_sectors_kb", &now);
        if (r < 0)
                return r;
        (void) sysfs_number(d, "queue/optimal_io_size", &optimal);

        for (size_t i = 0; i < ELEMENTSOF(caps) && limit != now; i++)
                limit = MIN(hardware, MAX(caps[i], optimal / 1024));
        *v = (Value){ .type = v->type, .number = limit * 1024, .name = "default" };
        return 0;
}

/* wbt_default_latency_nsec(). */
static int wbt_localize(Device *d, const Setting *s _unused_, Value *v) {
        int64_t rotational;
        int r;

        if (v->number != DEFAULT)
                return 0;
        r = sysfs_number(d, "queue/rotational", &rotational);
        if (r < 0)
                return r;

        *v = (Value){ .type = v->type, .number = rotational ? 75000 : 2000, .name = "default" };
        return 0;
}

/* clang-format off */
/* A file of the queue's that has the setting's name; `from` is the kernel's file that tells of it, and members of the
 * SysfsAttribute follow the summary. */
#define QUEUE(key, order_, lost, from, what, ...) \
        .name = key, .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .order = order_, .lost_by = lost, .summary = what, \
        .equivalent = "/sys/block/*/queue/" key, .source = "Linux block/" from, SYSFS_ROW(.path = "queue/" key, __VA_ARGS__)
#define READ_AHEAD(key, unit_, what, how, from, ...) \
        .name = key, .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .order = 900, .lost_by = "re-add, revalidation", \
        .range = { .type = VALUE_SIZE, .max = 1LL << 40, .unit = unit_, .step = SYSFS_PAGE, __VA_ARGS__ }, \
        .summary = what, .equivalent = how, .source = from

#define RANGE_CHOICE { .type = VALUE_INT, .max = 2 }
static const ValueWord default_words[] = { { "default", DEFAULT }, {} };
static const char *const schedulers[] = { "none", "mq-deadline", "kyber", "bfq", "noop", "deadline", NULL };

const Setting kernel_block_settings[] = {
        /* Changing it resets nr_requests and wbt_lat_usec (elevator_switch()). */
        { .brief = "I/O scheduler of the kernel", .also = "elevator iosched io_scheduler",
          QUEUE("scheduler", 10, "re-add", "elevator.c",
                "I/O scheduler of the kernel's request queue; deadline is mq-deadline, noop is none"),
          .range = { .type = VALUE_NAME },
          .known = schedulers,
          .localize = scheduler_localize },
        /* After scheduler and queue_depth, which both reset it. */
        { .brief = "length of the kernel's queue",
          QUEUE("nr_requests", 35, "re-add, change of scheduler or queue_depth", "blk-sysfs.c, block/blk-mq.c",
                "requests that the kernel's queue holds, for each direction", .requests = true),
          .range = { .type = VALUE_INT, .min = 4, .max = 65536 } },
        /* After scheduler: bfq turns it off. */
        { .brief = "throttle writes for late reads", .also = "wbt wbt_latency",
          QUEUE("wbt_lat_usec", 40, "re-add, change of scheduler", "blk-wbt.c",
                "how late reads may be before the kernel throttles buffered writes",
                .reset = "-1", .requests = true, .unset = true),
          .range = { .type = VALUE_MICROSECONDS, .min = 1, .max = 60 * 1000 * 1000, .unit = 1, .has_off = true,
                     .words = default_words },
          .localize = wbt_localize },
        /* These and those after them commit queue limits, which may reset read_ahead_kb. */
        { .brief = "treat it as a disk that turns",
          QUEUE("rotational", 800, "re-add, revalidation", "blk-sysfs.c",
                "whether the kernel takes it for a disk that turns"),
          .range = RANGE_BOOL },
        { .brief = "its timing feeds random numbers",
          QUEUE("add_random", 801, "re-add, revalidation", "blk-sysfs.c",
                "whether its timing feeds the kernel's random numbers"),
          .range = RANGE_BOOL },
        { .brief = "count reads and writes",
          QUEUE("iostats", 802, "re-add", "blk-sysfs.c", "whether the kernel counts its reads and writes; without that the service does not spin it down"),
          .range = RANGE_BOOL },
        { .brief = "which processor ends a request",
          QUEUE("rq_affinity", 803, "re-add", "blk-sysfs.c",
                "which processor ends a request: 0 any, 1 the group of the one that asked, 2 that very one",
                .requests = true),
          .range = RANGE_CHOICE },
        { .brief = "merge requests: 0 all, 2 none",
          QUEUE("nomerges", 804, "re-add", "blk-sysfs.c", "merging of requests: 0 all, 1 only the simplest, 2 none",
                .requests = true),
          .range = RANGE_CHOICE },
        /* The range is our own: the kernel takes any number but 0. */
        { .brief = "how long a request may take",
          QUEUE("io_timeout", 805, "re-add", "blk-sysfs.c",
                "how long the kernel waits for a request; of SCSI drives the same as timeout", .requests = true),
          .range = { .type = VALUE_DURATION, .min = 1000, .max = 3600 * 1000, .step = 1 },
          .excludes = "error_recovery_fallback_timeout", /* which is a timeout, too */
          .harm = &spin_up_harm },
        { .brief = "largest discard (TRIM, UNMAP)",
          QUEUE("discard_max_bytes", 806, "re-add, revalidation", "blk-sysfs.c",
                "how much the kernel discards (TRIM, UNMAP) in one request", .support = "queue/discard_max_hw_bytes"),
          .range = { .type = VALUE_SIZE, .min = 512, .max = 0xFFFFFFFFLL << 9, .unit = 1, .has_off = true } },
        { .brief = "largest request of the kernel",
          QUEUE("max_sectors_kb", 810, "re-add, revalidation", "blk-sysfs.c, block/blk-settings.c",
                "how much the kernel puts into one request", .scale = 1024, .reset = "0"),
          .range = { .type = VALUE_SIZE, .min = 4096, .max = 1LL << 41, .unit = 1024, .step = 1024,
                     .words = default_words },
          .localize = max_sectors_localize },
        /* After write_cache and cache_type, which tell the kernel anew. */
        { .brief = "the queue's view of the cache",
          .name = "queue_write_cache", .backend = BACKEND_BLOCK, .order = 820, .lost_by = "re-add, revalidation",
          .summary = "what the kernel believes of the write cache: whether it sends flushes",
          .equivalent = "/sys/block/*/queue/write_cache", .source = "Linux block/blk-sysfs.c",
          .range = { .type = VALUE_NAME, .words = cache_words },
          .danger = "this is the kernel's belief and not the drive's cache, and without flushes a power cut loses data",
          .remedy = &drive_cache_remedy,
          SYSFS_ROW_BY(cache_belief_read, sysfs_setting_permit, cache_belief_write, .path = "queue/write_cache") },
        { .brief = "hold writes to their share", .also = "strictlimit bdi_strict_limit",
          .name = "strict_limit", .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .order = 830, .lost_by = "re-add",
          .summary = "whether its unwritten pages in memory are limited to its share even while there is room for more (Linux 6.2)",
          .equivalent = "/sys/block/*/bdi/strict_limit", .source = "Linux mm/backing-dev.c",
          .range = RANGE_BOOL,
          SYSFS_ROW(.path = "bdi/strict_limit") },
        /* raid5_set_cache_size() */
        { .brief = "stripes of RAID 5 in memory",
          .name = "stripe_cache_size", .backend = BACKEND_BLOCK, .flags = SETTING_KERNEL, .order = 840,
          .lost_by = "start of the array, change of its level",
          .summary = "stripes that an array of RAID 4, 5 or 6 holds in memory, each with a page for each of its disks",
          .equivalent = "/sys/block/md*/md/stripe_cache_size", .source = "Linux drivers/md/raid5.c",
          .range = { .type = VALUE_INT, .min = 17, .max = 32768 },
          SYSFS_ROW(.path = "md/stripe_cache_size") },
        /* Every later commit of queue limits may reset it: last. */
        { .brief = "how far the kernel reads ahead", .also = "readahead setra ra bdev_read_ahead",
          READ_AHEAD("read_ahead_kb", 1024, "how far the kernel reads ahead of a sequential reader",
                     "hdparm -a, blockdev --setra", "Linux block/blk-sysfs.c", .stripes = true),
          .localize = read_ahead_localize,
          SYSFS_ROW(.path = "queue/read_ahead_kb", .scale = 1024) },
        { .brief = "read_ahead_kb, in sectors",
          READ_AHEAD("read_ahead_sect", 512, "read_ahead_kb in sectors of 512 bytes, as hdparm.conf has it",
                     "hdparm -a", "hdparm.conf(5)"),
          .alias_of = "read_ahead_kb" },
        {},
};
/* clang-format on */
