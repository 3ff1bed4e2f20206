/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "settings.h"
#include "sysfs.h"

/* "mq-deadline [none]": the one in brackets is in force. */
static int scheduler_read(Device *d, const Setting *s, Reading *ret) {
        const SysfsAttribute *a = s->detail;
        char buf[256], *open, *name;
        int r;

        r = sysfs_read(d, a->path, buf, sizeof buf);
        if (r == -ENOENT)
                return sysfs_missing(d, a->path);
        if (r < 0)
                return device_fail(d, r, "%s cannot be read: %s", a->path, strerror(-r));

        /* Queues without schedulers say just "none". */
        open = strchr(buf, '[');
        name = open ? open + 1 : buf;
        name[strcspn(name, open ? "]" : " ")] = '\0';
        if (strlen(name) >= VALUE_NAME_MAX)
                return device_fail(d, -EBADMSG, "%s reads '%s'", a->path, name);

        *ret = (Reading){ .supported = true, .known = true, .value = { .type = VALUE_NAME } };
        (void) strcpy(ret->value.name, name);
        return 0;
}

/* clang-format off */
const Setting block_settings[] = {
        {
                .name = "scheduler",
                .backend = BACKEND_BLOCK,
                .range = { .type = VALUE_NAME },
                .flags = SETTING_KERNEL,
                .order = 10, /* changing it resets nr_requests and wbt_lat_usec (catalogue 1.4) */
                .summary = "I/O scheduler of the kernel's request queue",
                .equivalent = "/sys/block/*/queue/scheduler",
                .lost_by = "re-add",
                .source = "Linux block/elevator.c; catalogue 4.5",
                .read = scheduler_read,
                .write = sysfs_setting_write,
                .detail = &(const SysfsAttribute) { .path = "queue/scheduler", .scale = 1 },
        },
        {
                .name = "read_ahead_kb",
                .backend = BACKEND_BLOCK,
                .range = { .type = VALUE_SIZE, .min = 0, .max = 1LL << 40, .unit = 1024, .step = 1024 },
                .flags = SETTING_KERNEL,
                .order = 900, /* every later commit of queue limits may reset it: last */
                .summary = "how far the kernel reads ahead of a sequential reader",
                .equivalent = "hdparm -a, blockdev --setra",
                .lost_by = "re-add, revalidation",
                .source = "Linux block/blk-sysfs.c; catalogue 1.4, 3.2",
                .read = sysfs_setting_read,
                .write = sysfs_setting_write,
                .detail = &(const SysfsAttribute) { .path = "queue/read_ahead_kb", .scale = 1024 },
        },
        {
                .name = "read_ahead_sect",
                .alias_of = "read_ahead_kb",
                .backend = BACKEND_BLOCK,
                .range = { .type = VALUE_SIZE, .min = 0, .max = 1LL << 40, .unit = 512, .step = 1024 },
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
