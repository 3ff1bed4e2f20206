/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "attribute.h"
#include "health.h"

int health_parse(const char *state) {
        /* drivers/scsi/scsi_sysfs.c, sdev_states; drivers/nvme/host/sysfs.c, state_name. */
        static const char *const sound[] = { "running", "live", "quiesce" };
        static const char *const lost[] = { "offline",  "transport-offline", "cancel", "deleted",
                                            "deleting", "deleting (no IO)",  "dead" };

        for (size_t i = 0; i < ELEMENTSOF(sound); i++)
                if (streq(state, sound[i]))
                        return 1;
        for (size_t i = 0; i < ELEMENTSOF(lost); i++)
                if (streq(state, lost[i]))
                        return -ENODEV;
        return 0;
}

int health_read(const char *syspath) {
        char state[32];
        int r;

        r = attribute_read(state, sizeof state, "%s/device/state", syspath);
        if (r == -ENOENT)
                /* Others than SCSI and NVMe have no such file. */
                return attribute_exists("%s", syspath) ? 1 : -ENODEV;
        return r < 0 ? r : health_parse(state);
}
