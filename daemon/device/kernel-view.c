/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "attribute.h"
#include "kernel-view.h"
#include "stack.h"

int health_parse(const char *state) {
        /* The kernel's source files list the states: drivers/scsi/scsi_sysfs.c (sdev_states), drivers/nvme/host/sysfs.c (state_name). */
        if (STR_IN_SET(state, "running", "live", "quiesce"))
                return 1;
        if (STR_IN_SET(state, "offline", "transport-offline", "cancel", "deleted", "deleting", "deleting (no IO)",
                       "dead"))
                return -ENODEV;
        return 0;
}

int health_read(const char *syspath) {
        char state[32];
        int r;

        r = attribute_read(state, sizeof state, "%s/device/state", syspath);
        if (r == -ENOENT)
                /* Only SCSI and NVMe drives have this file. */
                return attribute_exists("%s", syspath) ? 1 : -ENODEV;
        return r < 0 ? r : health_parse(state);
}

/* Fails if the kernel does not count I/O: a request that starts while iostats is 0 is never counted (blk_do_io_stat() in
 * block/blk-mq.h). */
static int check_counted(const char *syspath) {
        char text[8];
        int r;

        r = attribute_read(text, sizeof text, "%s/queue/iostats", syspath);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        return streq(text, "0") ? -ENODATA : 0;
}

int activity_read(const char *syspath, uint64_t *ret) {
        uint64_t reads, writes;
        char text[512];
        int r;

        r = check_counted(syspath);
        if (r >= 0)
                r = attribute_read(text, sizeof text, "%s/stat", syspath);
        if (r < 0)
                return r;

        /* Fields: requests, merges, sectors and milliseconds of reads, then of writes (Documentation/block/stat.rst). Flushes and discards
         * are ignored, because they do not prove access to the medium. The kernel's counters always fit into uint64_t. */
        /* NOLINTNEXTLINE(cert-err34-c) */
        if (sscanf(text, "%" SCNu64 " %*u %*u %*u %" SCNu64, &reads, &writes) != 2)
                return -EBADMSG;

        *ret = reads + writes;
        return 0;
}

int activity_commands(const char *syspath, uint64_t *ret) {
        char text[32];
        int r;

        r = attribute_read(text, sizeof text, "%s/device/iorequest_cnt", syspath);
        if (r >= 0)
                *ret = strtoull(text, NULL, 16);
        return r;
}

bool activity_in_flight(const char *syspath) {
        char text[64];

        return attribute_read(text, sizeof text, "%s/inflight", syspath) >= 0 && strpbrk(text, "123456789");
}

uint64_t activity_last_event(void) {
        char text[32];

        return attribute_read(text, sizeof text, "/sys/kernel/uevent_seqnum") < 0 ? 0 : strtoull(text, NULL, 10);
}

bool activity_is_suspended(const char *syspath) {
        char status[32];

        return attribute_read(status, sizeof status, "%s/device/power/runtime_status", syspath) >= 0 &&
               strncmp(status, "suspend", 7) == 0;
}

bool activity_is_suspending(const char *syspath) {
        char status[32];

        return attribute_read(status, sizeof status, "%s/device/power/runtime_status", syspath) >= 0 &&
               streq(status, "suspending");
}

uint64_t activity_active_time(const char *syspath) {
        char text[32];

        if (attribute_read(text, sizeof text, "%s/device/power/runtime_active_time", syspath) < 0)
                return 0;
        return strtoull(text, NULL, 10);
}

/* Returns a negative number if the kernel never suspends the drive. */
static int64_t read_delay(const char *syspath) {
        char text[32];

        /* -EIO: the driver has no autosuspend. */
        if (attribute_read(text, sizeof text, "%s/device/power/autosuspend_delay_ms", syspath) < 0)
                return -1;
        return strtoll(text, NULL, 10);
}

uint64_t activity_autosuspend_usec(const char *syspath) {
        return (uint64_t) MAX(read_delay(syspath), 0) * 1000;
}

bool activity_is_stopped_by_suspend(const char *syspath) {
        static const char *const switches[] = { "manage_runtime_start_stop", "manage_start_stop" };

        for (size_t i = 0; i < ELEMENTSOF(switches); i++) {
                _cleanup_(globfree) glob_t found = {};
                char text[8];

                if (attribute_glob(&found, "%s/device/scsi_disk/*/%s", syspath, switches[i]) >= 0 && found.gl_pathc > 0)
                        return attribute_read(text, sizeof text, "%s", found.gl_pathv[0]) >= 0 && streq(text, "1");
        }
        return false;
}

bool activity_may_be_suspended(const char *syspath) {
        char text[8];

        return attribute_read(text, sizeof text, "%s/device/power/control", syspath) >= 0 && streq(text, "auto") &&
               read_delay(syspath) >= 0;
}

uint64_t activity_spin_down_usec(const char *syspath) {
        return activity_may_be_suspended(syspath) && activity_is_stopped_by_suspend(syspath)
                               ? activity_autosuspend_usec(syspath)
                               : UINT64_MAX;
}

static LinkEvent news_of(const char *line) {
        if (strstr(line, "BusError"))
                return LINK_LOST;
        return strstr(line, "Timeout") || strstr(line, "HostStateMachineError") ? LINK_RESET : LINK_UNCHANGED;
}

/* Reads the "ering" file of a libata drive. The drive's path …/ata3/host2/target2:0:1/… holds the number of the port and the drive's
 * address at the port. */
static int read_errors(const char *syspath, char *buf, size_t size) {
        for (const char *p = syspath; (p = strstr(p, "/ata")); p++) {
                int dir = (int) (p + 1 + strcspn(p + 1, "/") - syspath);
                unsigned port, channel, id;

                /* The kernel's numbers fit the types. */
                /* NOLINTNEXTLINE(cert-err34-c) */
                if (sscanf(p, "/ata%u/host%*u/target%*u:%u:%u/", &port, &channel, &id) != 3)
                        continue;

                /* Behind a port multiplier, each drive has a separate link (ata_tlink_add()). */
                if (attribute_read_all(buf, size, "%.*s/link%u.%u/dev%u.%u.0/ata_device/dev%u.%u.0/ering", dir, syspath,
                                       port, channel, port, channel, port, channel) >= 0)
                        return 0;
                return attribute_read_all(buf, size, "%.*s/link%u/dev%u.%u/ata_device/dev%u.%u/ering", dir, syspath,
                                          port, port, id, port, id);
        }

        return -ENOENT;
}

LinkEvent link_last_event(const char *syspath, uint64_t *since) {
        char text[4096 + 1], *rest = text, *line; /* a sysfs attribute has at most one page */
        uint64_t newest = *since;
        LinkEvent news = LINK_UNCHANGED;

        if (read_errors(syspath, text, sizeof text) < 0)
                return LINK_UNCHANGED;

        while ((line = strsep(&rest, "\n"))) {
                uint64_t s, ns, when;

                /* The kernel's numbers fit the types. */
                /* NOLINTNEXTLINE(cert-err34-c) */
                if (sscanf(line, "[%" SCNu64 ".%" SCNu64 "]", &s, &ns) != 2)
                        continue;
                when = s * 1000000 + ns / 1000;
                if (when > *since)
                        news = MAX(news, news_of(line));
                newest = MAX(newest, when);
        }

        *since = newest;
        return news;
}

bool link_is_recovering(const char *syspath) {
        char state[32];

        return stack_scsi_host_read(syspath, "state", state, sizeof state) >= 0 && strstr(state, "recovery");
}
