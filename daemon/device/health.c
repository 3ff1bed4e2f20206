/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <stdio.h>

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
        _cleanup_free_ char *path = NULL;
        _cleanup_close_ int fd = -EBADF;
        char state[32];
        ssize_t n;

        if (asprintf(&path, "%s/device/state", syspath) < 0) {
                path = NULL;
                return -ENOMEM;
        }

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                /* Others than SCSI and NVMe have no such file. */
                return access(syspath, F_OK) < 0 ? -ENODEV : 1;

        n = read(fd, state, sizeof state - 1);
        if (n < 0)
                return -errno;
        state[n] = '\0';
        state[strcspn(state, "\n")] = '\0';
        return health_parse(state);
}
