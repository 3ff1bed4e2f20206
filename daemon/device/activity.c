/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "activity.h"
#include "attribute.h"

int activity_parse(const char *text, uint64_t *ret) {
        uint64_t reads, writes;

        /* Requests, merges, sectors and milliseconds of reading, then the same of writing (Documentation/block/stat.rst).
         * Flushes and discards, further on, do not tell that the medium was needed. Counters of the kernel's fit. */
        /* NOLINTNEXTLINE(cert-err34-c) */
        if (sscanf(text, "%" SCNu64 " %*u %*u %*u %" SCNu64, &reads, &writes) != 2)
                return -EBADMSG;

        *ret = reads + writes;
        return 0;
}

int activity_read(const char *syspath, uint64_t *ret) {
        char text[512];
        int r;

        r = attribute_read(text, sizeof text, "%s/stat", syspath);
        return r < 0 ? r : activity_parse(text, ret);
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
