/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The settings an NVMe controller holds: features, by Get and Set Features (NVM Express Base; catalogue 4.7). */

#include <linux/nvme_ioctl.h>

#include "device.h"
#include "plan.h"
#include "settings.h"

#define NVME_TIMEOUT_MS 15000U

enum {
        NVME_ADMIN_IDENTIFY = 0x06,
        NVME_ADMIN_SET_FEATURES = 0x09,
        NVME_ADMIN_GET_FEATURES = 0x0A,
        NVME_CNS_CONTROLLER = 1,
        NVME_FEATURE_VOLATILE_WRITE_CACHE = 0x06,
        NVME_ID_CTRL_VWC = 525,
};

static int nvme_admin(Device *d, struct nvme_passthru_cmd *cmd) {
        int fd, r;

        r = device_gate(d);
        if (r < 0)
                return r;
        fd = device_open(d);
        if (fd < 0)
                return fd;

        cmd->timeout_ms = NVME_TIMEOUT_MS;
        r = d->io.nvme_admin(d->io.userdata, fd, cmd);
        if (r == -ENODEV || r == -ENXIO)
                return device_fail(d, STEP_VANISHED, "the drive is gone (admin command %02Xh)", cmd->opcode);
        if (r == -EINTR || r == -EAGAIN) /* the kernel's word for a command that it cancelled in a controller reset */
                return device_fail(d, -EIO, "admin command %02Xh was cancelled by a controller reset", cmd->opcode);
        if (r < 0)
                return device_fail(d, r, "admin command %02Xh could not be sent: %s", cmd->opcode, strerror(-r));
        if (r > 0) /* NVMe status */
                return device_fail(d, STEP_REFUSED,
                                   "the controller refused admin command %02Xh, feature %02Xh (status %03Xh)",
                                   cmd->opcode, cmd->cdw10 & 0xFF, r & 0x7FF);

        return 0;
}

static int nvme_write_cache_read(Device *d, const Setting *s, Reading *ret) {
        uint8_t id[4096] = {};
        struct nvme_passthru_cmd identify = {
                .opcode = NVME_ADMIN_IDENTIFY,
                .addr = (uintptr_t) id,
                .data_len = sizeof id,
                .cdw10 = NVME_CNS_CONTROLLER,
        };
        struct nvme_passthru_cmd get = {
                .opcode = NVME_ADMIN_GET_FEATURES,
                .cdw10 = NVME_FEATURE_VOLATILE_WRITE_CACHE,
        };
        int r;

        r = nvme_admin(d, &identify);
        if (r < 0)
                return r;

        *ret = (Reading){ .supported = id[NVME_ID_CTRL_VWC] & 1, .value.type = s->range.type };
        if (!ret->supported)
                return 0;

        r = nvme_admin(d, &get);
        if (r < 0)
                return r;

        ret->known = true;
        ret->value.number = get.result & 1;
        return 0;
}

static int nvme_write_cache_write(Device *d, const Setting *s _unused_, const Value *v) {
        /* Without the save bit: what the drive keeps over power cycles is not for a daemon to wear out. */
        return nvme_admin(d, &(struct nvme_passthru_cmd){
                                             .opcode = NVME_ADMIN_SET_FEATURES,
                                             .cdw10 = NVME_FEATURE_VOLATILE_WRITE_CACHE,
                                             .cdw11 = v->number,
                             });
}

/* clang-format off */
const Setting nvme_settings[] = {
        {
                .name = "write_cache",
                .backend = BACKEND_NVME,
                .range = { .type = VALUE_BOOL, .max = 1 },
                .order = 100,
                .summary = "volatile write cache",
                .equivalent = "nvme set-feature -f 6",
                .lost_by = "power, controller reset",
                .source = "NVM Express feature 06h; catalogue 4.7",
                .read = nvme_write_cache_read,
                .write = nvme_write_cache_write,
        },
        {},
};
/* clang-format on */
