/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The outside world of a visit: nodes of drives and their ioctls. */

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>

#include "device.h"
#include "sg-io.h"

/* Never for writing: closing such a descriptor makes udev send a `change` event (udev(7), OPTIONS "watch"). */
static int node_open(const char *node) {
        int fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

        return fd < 0 ? -errno : fd;
}

static int real_open_node(void *userdata _unused_, const Drive *drive) {
        _cleanup_close_ int fd = node_open(drive->node);
        uint64_t diskseq;

        if (fd < 0)
                return fd;

        /* The name may belong to another drive by now; this number never does. Kernels before 5.15 have none. */
        if (drive->diskseq != 0 && ioctl(fd, BLKGETDISKSEQ, &diskseq) >= 0 && diskseq != drive->diskseq)
                return -ENODEV;

        return TAKE_FD(fd);
}

static int real_nvme_admin(void *userdata _unused_, int fd, struct nvme_passthru_cmd *cmd) {
        int r = ioctl(fd, NVME_IOCTL_ADMIN_CMD, cmd);

        return r < 0 ? -errno : r;
}

static int real_set_read_only(void *userdata _unused_, const char *name, bool on) {
        _cleanup_close_ int fd = -EBADF;
        _cleanup_free_ char *node = NULL;
        int flag = on, r;

        r = device_node(name, &node);
        if (r < 0)
                return r;

        fd = node_open(node);
        if (fd < 0)
                return fd;
        return ioctl(fd, BLKROSET, &flag) < 0 ? -errno : 0;
}

const DeviceIO device_io_real = {
        .open_node = real_open_node,
        .sg = sg_io_real,
        .nvme_admin = real_nvme_admin,
        .set_read_only = real_set_read_only,
};
